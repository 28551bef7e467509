//! Tests of conversations with a simulated user: when they end, what fails, and that nothing is asked twice.

use std::path::Path;
use std::sync::Arc;

use evals::{CaseReport, Experiment, Report};
use evals_models::ChatReply;
use evals_targets::{RecordedTarget, ReplyFile, Resumption, Target};
use serde_json::{Value, json};

use super::conversation_tests::{Sent, failures, plan, question, system, target};
use super::{ConversationPlan, Conversations, History, qa_task};
use crate::qa::{self, Qa};
use crate::tests::fakes::{Scripted, said};
use crate::{Prompt, Question, SimulatedUser, UserPart};

/// A user with a goal, and perhaps with a first message.
fn talk(first: Option<&str>) -> Question {
    Question {
        id: "t".to_owned(),
        text: "find out how old the north tower is".to_owned(),
        user: Some(UserPart {
            facts: vec!["it has two bells".to_owned()],
            first: first.map(str::to_owned),
        }),
        turn: None,
        ..question("t", 1)
    }
}

fn is_done() -> ChatReply {
    said("`Done`.")
}

fn users(model: &Arc<Scripted>, question: &Question) -> Arc<SimulatedUser> {
    let (model, questions) = (Arc::clone(model) as _, std::slice::from_ref(question));
    Arc::new(SimulatedUser::new(model, Prompt::user(), questions))
}

async fn run(
    plan: ConversationPlan,
    question: Question,
    users: &Arc<SimulatedUser>,
    target: Arc<dyn Target>,
) -> Report<Qa> {
    let questions = std::slice::from_ref(&question);
    let conversations = Conversations::new(plan, questions, Arc::default());
    let system = system(target, conversations.played_by(Some(Arc::clone(users))));
    let dataset = qa::dataset("demo", [question]).unwrap();
    Experiment::new(dataset, qa_task(system)).run().await
}

/// The case and what was sent, with at most `turns` turns.
async fn ran(
    turns: usize,
    first: Option<&str>,
    model: &Arc<Scripted>,
) -> (CaseReport<Qa>, Vec<Sent>) {
    let plan = ConversationPlan {
        turns,
        ..plan(History::Simulated)
    };
    let (target, sent) = target();
    let users = users(model, &talk(first));
    let report = run(plan, talk(first), &users, target).await;
    let sent = sent.lock().unwrap().clone();
    (report.cases.into_iter().next().unwrap(), sent)
}

fn failure(case: &CaseReport<Qa>) -> &str {
    &case.result.failure().unwrap().message
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

#[tokio::test]
async fn a_user_talks_until_it_is_done_and_the_last_answer_is_the_output() {
    let model = Scripted::new([
        said("Which towers are there?"),
        said(" How old?\n"),
        is_done(),
    ]);
    let (case, sent) = ran(9, None, &model).await;
    let first = "live Which towers are there?";
    let history = ["Which towers are there?", first].map(str::to_owned);
    assert_eq!(
        sent,
        [
            ("t".to_owned(), "t".to_owned(), Some(Vec::new())),
            ("t#2".to_owned(), "t".to_owned(), Some(history.to_vec())),
        ]
    );
    assert_eq!(case.result.output().unwrap().text, "live How old?");
    let expected = [
        message("user", "Which towers are there?"),
        message("assistant", first),
        message("user", "How old?"),
    ];
    assert_eq!(case.attributes[Conversations::HISTORY], json!(expected));
    assert_eq!(case.attributes[Conversations::TURNS], 2);
    assert_eq!(case.attributes[Conversations::ENDED], "done");
    assert_eq!(case.metrics.get("user input tokens"), Some(&300.0));
    let prompt = &model.requests()[1].messages[0].content;
    let nonce = &prompt.split_once("<goal-").unwrap().1[..16];
    for shown in [
        format!("<goal-{nonce}>\nfind out how old the north tower is\n</goal-{nonce}>"),
        format!("<fact-{nonce}>\nit has two bells\n</fact-{nonce}>"),
        format!("<assistant-{nonce}>\n{first}\n</assistant-{nonce}>"),
        format!("with this word and nothing else: done-{nonce}"),
    ] {
        assert!(prompt.contains(&shown), "{shown}: {prompt}");
    }
}

#[tokio::test]
async fn a_user_that_never_ends_is_cut_at_the_limit() {
    let model = Scripted::new([said("And now?"), said("And then?")]);
    let (case, sent) = ran(3, Some("Hello?"), &model).await;
    let ids: Vec<&str> = sent.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["t", "t#2", "t#3"]);
    assert_eq!(case.result.output().unwrap().text, "live And then?");
    assert_eq!(case.attributes[Conversations::ENDED], "limit");
    assert_eq!(case.attributes[Conversations::TURNS], 3);
    let requests = model.requests();
    assert_eq!(requests.len(), 2, "the first message is given");
    assert!(requests[0].messages[0].content.contains("live Hello?"));
}

#[tokio::test]
async fn a_failed_turn_fails_the_conversation_and_says_which_one() {
    let model = Scripted::new([said("please fail")]);
    let (case, sent) = ran(9, Some("Hello?"), &model).await;
    assert_eq!(
        failure(&case),
        "turn 2 of the conversation failed: out of paper"
    );
    assert_eq!(sent.len(), 2);
    let history = case.attributes[Conversations::HISTORY].as_array().unwrap();
    assert_eq!(history[2], message("user", "please fail"));
    assert!(!case.attributes.contains_key(Conversations::ENDED));
    let (case, _) = ran(9, Some("dumb?"), &Scripted::new([])).await;
    assert_eq!(
        failure(&case),
        "turn 1 of the conversation failed: the reply has no answer that the simulated user could read"
    );
}

#[tokio::test]
async fn a_user_without_a_readable_message_fails_the_conversation() {
    let (case, sent) = ran(9, None, &Scripted::new([said(" \n")])).await;
    let expected = "turn 1 of the conversation failed: the simulated user wrote no message: `test:scripted` replied without text";
    assert_eq!(failure(&case), expected);
    assert_eq!(case.metrics.get("user input tokens"), Some(&100.0));
    assert!(sent.is_empty());
    let (case, sent) = ran(9, None, &Scripted::new([is_done()])).await;
    assert!(
        failure(&case).ends_with("is done before its first message"),
        "{}",
        failure(&case)
    );
    assert!(sent.is_empty());
}

/// The nonce of the first prompt, which depends on what it shows alone.
async fn nonce() -> String {
    let model = Scripted::new([is_done()]);
    ran(1, None, &model).await;
    let prompt = &model.requests()[0].messages[0].content;
    let (_, nonce) = prompt.rsplit_once("done-").unwrap();
    nonce.trim_end().to_owned()
}

#[tokio::test]
async fn only_the_word_of_the_prompt_or_a_bare_one_ends_a_conversation() {
    let nonce = nonce().await;
    let ends = [
        format!("done-{nonce}"),
        format!("**Done-{nonce}.**"),
        format!("<user-{nonce}>\ndone-{nonce}\n</user-{nonce}>"),
        "Done.".to_owned(),
        " DONE ".to_owned(),
    ];
    for end in ends {
        let (case, sent) = ran(1, None, &Scripted::new([said(&end)])).await;
        let why = failure(&case);
        assert!(
            why.ends_with("done before its first message"),
            "{end}: {why}"
        );
        assert!(sent.is_empty());
    }
    for message in [
        "Done-it-yourself kits: which do you sell?",
        "done-0123456789abcdef",
        "Done with the first one. And the second?",
        "All done?",
    ] {
        let (case, sent) = ran(1, None, &Scripted::new([said(message)])).await;
        let answer = &case.result.output().unwrap().text;
        assert_eq!(*answer, format!("live {message}"));
        assert_eq!(sent.len(), 1);
    }
    let empty = format!("<user-{nonce}>\n</user-{nonce}>");
    let (case, sent) = ran(1, None, &Scripted::new([said(&empty)])).await;
    let why = failure(&case);
    assert!(
        why.ends_with("wrote no message, and only delimiters"),
        "{why}"
    );
    assert!(sent.is_empty());
}

#[tokio::test]
async fn a_session_is_sent_its_id_and_the_new_message_alone() {
    let plan = ConversationPlan {
        session: Some("run1".to_owned()),
        ..plan(History::Simulated)
    };
    let (target, sent) = target();
    let users = users(
        &Scripted::new([said("More?"), is_done()]),
        &talk(Some("Hi?")),
    );
    let report = run(plan, talk(Some("Hi?")), &users, target).await;
    assert!(failures(&report).is_empty());
    let of = |id: &str| (id.to_owned(), "t@run1".to_owned(), None);
    assert_eq!(*sent.lock().unwrap(), [of("t"), of("t#2")]);
}

fn recorded(folder: &Path, target: Arc<dyn Target>) -> RecordedTarget {
    let identity = json!({"run": "demo"});
    let file = ReplyFile::open(folder, "2026", &identity, Resumption::Resume).unwrap();
    RecordedTarget::new(target, file)
}

#[tokio::test]
async fn both_benchmarks_and_a_resumed_run_ask_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = Scripted::new([said("please fail")]);
    let (parrot, sent) = target();
    let first = recorded(folder.path(), parrot);
    let plan = || plan(History::Simulated);
    let shared = users(&model, &talk(Some("Hi?")));
    for _ in 0..2 {
        let reader = Arc::new(first.reader());
        let report = run(plan(), talk(Some("Hi?")), &shared, reader).await;
        assert_eq!(failures(&report).len(), 1);
    }
    assert_eq!(model.requests().len(), 1);
    assert_eq!(sent.lock().unwrap().len(), 2);
    drop(first);

    let (parrot, sent) = target();
    let resumed = recorded(folder.path(), parrot);
    // What a store of replies makes of the same request, or a different message without one.
    let again = users(
        &Scripted::new([said("More?"), is_done()]),
        &talk(Some("Hi?")),
    );
    let report = run(plan(), talk(Some("Hi?")), &again, Arc::new(resumed)).await;
    assert!(failures(&report).is_empty());
    assert_eq!(report.cases[0].attributes[Conversations::TURNS], 2);
    let sent = sent.lock().unwrap();
    let ids: Vec<&str> = sent.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["t#2"]);
}

#[tokio::test]
async fn a_recorded_reply_after_other_turns_is_asked_again_except_in_a_session() {
    for session in [None, Some("run1".to_owned())] {
        let folder = tempfile::tempdir().unwrap();
        for opening in ["Hi?", "Hello?"] {
            let (parrot, sent) = target();
            let target = Arc::new(recorded(folder.path(), parrot));
            let model = Scripted::new([said("More?"), is_done()]);
            let (question, plan) = (talk(Some(opening)), plan(History::Simulated));
            let users = users(&model, &question);
            let plan = ConversationPlan {
                session: session.clone(),
                ..plan
            };
            let failed = failures(&run(plan, question, &users, target).await);
            let sent = sent.lock().unwrap();
            let ids: Vec<&str> = sent.iter().map(|(id, ..)| id.as_str()).collect();
            if session.is_some() && opening == "Hello?" {
                assert!(ids.is_empty(), "{ids:?}");
                let expected = "turn 1 of the conversation failed: the session `t@run1` was sent another message here before";
                assert!(failed[0].1.starts_with(expected), "{failed:?}");
            } else {
                assert_eq!((ids, failed), (vec!["t", "t#2"], Vec::new()));
            }
        }
    }
}

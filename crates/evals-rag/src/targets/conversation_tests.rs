//! Tests of the history in requests, and of where a live conversation ends.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use evals::{CaseReport, Experiment, FailureClass, Report};
use evals_metrics::Judgements;
use evals_models::{Message, Usage};
use evals_targets::{FnTarget, Inputs, Reply, Request, Target, TargetError, Turn};
use serde_json::{Map, json};

use super::matching::{Corpus, CorpusError, Matcher, Matching};
use super::{ConversationPlan, Conversations, History, TargetSystem, qa_task};
use crate::answering::Refusals;
use crate::call::Purpose;
use crate::qa::{self, Qa};
use crate::{Document, Question};

#[derive(Debug)]
struct Nothing;

impl Corpus for Nothing {
    fn read(
        &self,
        _each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
    ) -> Result<(), CorpusError> {
        Ok(())
    }
}

/// Turn `number` of a conversation: its question is `a2?`, and the reference answer `gold a2`.
pub(super) fn question(conversation: &str, number: u64) -> Question {
    let name = |number: u64| format!("{conversation}{number}");
    let turn = |number: u64| {
        let question = Message::user(name(number) + "?");
        [
            question,
            Message::assistant(format!("gold {}", name(number))),
        ]
    };
    Question {
        id: name(number),
        text: name(number) + "?",
        answer: Some(format!("gold {}", name(number))),
        accepted: Vec::new(),
        answerable: true,
        relevant: Judgements::new(),
        evidence: Vec::new(),
        nuggets: Vec::new(),
        user: None,
        turn: Some(Turn {
            conversation: conversation.to_owned(),
            number,
            history: (1..number).flat_map(turn).collect(),
        }),
        cluster: Some(conversation.to_owned()),
        metadata: Map::new(),
    }
}

fn questions(conversations: &[&str], turns: u64) -> Vec<Question> {
    let each = conversations.iter();
    each.flat_map(|name| (1..=turns).map(move |number| question(name, number)))
        .collect()
}

pub(super) fn plan(history: History) -> ConversationPlan {
    ConversationPlan {
        history,
        turns: 50,
        session: None,
    }
}

/// What was sent: the id, the conversation, and the contents of the messages.
pub(super) type Sent = (String, String, Option<Vec<String>>);

/// A target that answers `live QUESTION`, and what it was sent. It fails a question that contains `fail`, and has no answer to one that
/// contains `dumb`.
pub(super) fn target() -> (Arc<dyn Target>, Arc<Mutex<Vec<Sent>>>) {
    let sent: Arc<Mutex<Vec<Sent>>> = Arc::default();
    let log = Arc::clone(&sent);
    let target = FnTarget::new("parrot", move |request: Request| {
        let conversation = request.conversation.clone().unwrap();
        let contents = conversation.history.into_iter().map(|it| it.content);
        let contents = (!conversation.is_session).then(|| contents.collect());
        log.lock()
            .unwrap()
            .push((request.id.clone(), conversation.id, contents));
        async move {
            tokio::task::yield_now().await;
            let Inputs::Question(question) = request.inputs else {
                panic!("a question");
            };
            if question.contains("fail") {
                return Err(TargetError::new(FailureClass::Content, "out of paper"));
            }
            let answer = (!question.contains("dumb")).then(|| json!(format!("live {question}")));
            Ok(Reply {
                answer,
                refused: Some(false),
                documents: Some(Vec::new()),
                usage: Some(Usage {
                    input_tokens: 10,
                    output_tokens: 1,
                    estimated: false,
                }),
                ..Reply::default()
            })
        }
    });
    (Arc::new(target), sent)
}

/// A system without documents.
pub(super) fn system(target: Arc<dyn Target>, conversations: Conversations) -> Arc<TargetSystem> {
    let corpus = Arc::new(Nothing);
    let matcher = Matcher::new(Matching::default(), HashSet::new(), corpus);
    Arc::new(TargetSystem {
        target,
        matcher: Arc::new(matcher),
        refusals: Refusals::default(),
        k: NonZeroUsize::new(3).unwrap(),
        conversations,
    })
}

struct Ran {
    report: Report<Qa>,
    sent: Vec<Sent>,
}

async fn run(
    plan: ConversationPlan,
    asked: &[Question],
    all: &[Question],
    resumed: Vec<CaseReport<Qa>>,
) -> Ran {
    let (target, sent) = target();
    let conversations = Conversations::new(plan, asked, Arc::new(Conversations::script(all)));
    conversations.resume(&resumed);
    let system = system(target, conversations);
    let dataset = qa::dataset("demo", asked.iter().cloned())
        .unwrap()
        .in_sequences(|case| system.conversations.sequence(case.as_str()));
    let report = Experiment::new(dataset, qa_task(system))
        .concurrency(NonZeroUsize::new(8).unwrap())
        .resume(resumed)
        .run()
        .await;
    let sent = sent.lock().unwrap().clone();
    Ran { report, sent }
}

pub(super) fn failures(report: &Report<Qa>) -> Vec<(String, String)> {
    let failed = report.cases.iter();
    let failed =
        failed.filter_map(|it| Some((it.id.to_string(), it.result.failure()?.message.clone())));
    failed.collect()
}

#[tokio::test]
async fn gold_history_is_the_references_and_a_long_one_is_cut_from_the_oldest() {
    let all = questions(&["a"], 4);
    let plan = ConversationPlan {
        turns: 2,
        ..plan(History::Gold)
    };
    let Ran { report, sent } = run(plan, &all[3..], &all, Vec::new()).await;
    let history = ["a2?", "gold a2", "a3?", "gold a3"].map(str::to_owned);
    assert_eq!(
        sent,
        [("a4".to_owned(), "a".to_owned(), Some(history.to_vec()))]
    );
    let attributes = &report.cases[0].attributes;
    assert_eq!(attributes[Conversations::CUT], json!(3));
    assert_eq!(
        attributes[Conversations::HISTORY][0],
        json!({"role": "user", "content": "a2?"})
    );
}

#[tokio::test]
async fn live_history_is_the_targets_own_answers_in_order_and_conversations_never_meet() {
    let names: Vec<String> = (0..40).map(|number| format!("c{number}-")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = questions(&names, 5);
    let Ran { report, sent } = run(plan(History::Live), &all, &all, Vec::new()).await;
    assert_eq!(sent.len(), 200, "each turn once");
    assert!(failures(&report).is_empty());
    for (id, conversation, history) in &sent {
        let number: u64 = id[conversation.len()..].parse().unwrap();
        let own = (1..number).flat_map(|turn| {
            [
                format!("{conversation}{turn}?"),
                format!("live {conversation}{turn}?"),
            ]
        });
        assert_eq!(history.as_deref().unwrap(), own.collect::<Vec<_>>(), "{id}");
    }
    let ids: Vec<&str> = report.cases.iter().map(|it| it.id.as_str()).collect();
    let expected: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, expected, "the order of the dataset");
}

#[tokio::test]
async fn a_failed_turn_ends_its_conversation_and_no_other_one() {
    let mut all = questions(&["a", "b", "d"], 3);
    all[1].text = "fail?".to_owned();
    all[6].text = "dumb?".to_owned();
    let Ran { report, sent } = run(plan(History::Live), &all, &all, Vec::new()).await;
    assert_eq!(
        failures(&report)
            .iter()
            .map(|(id, message)| (id.as_str(), message.as_str()))
            .collect::<Vec<_>>(),
        [
            ("a2", "out of paper"),
            ("a3", "not asked, because turn 2 of conversation `a` failed"),
            (
                "d2",
                "not asked, because turn 1 of conversation `d` has no answer that could be part of the history"
            ),
            (
                "d3",
                "not asked, because turn 1 of conversation `d` has no answer that could be part of the history"
            ),
        ]
    );
    assert_eq!(sent.len(), 6);
}

#[tokio::test]
async fn a_resumed_conversation_goes_on_where_it_stopped_and_a_failed_one_does_not() {
    let mut all = questions(&["a", "b"], 3);
    all[4].text = "fail?".to_owned();
    let whole = run(plan(History::Live), &all, &all, Vec::new())
        .await
        .report;
    let finished: Vec<_> = whole
        .cases
        .iter()
        .filter(|it| ["a1", "b1", "b2"].contains(&it.id.as_str()))
        .cloned()
        .collect();
    let Ran { report, sent } = run(plan(History::Live), &all, &all, finished).await;
    // This target records nothing, so turn 1 is asked again for the history.
    let ids: Vec<&str> = sent.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["a1", "a2", "a3"]);
    assert_eq!(failures(&report), failures(&whole));
    assert_eq!(report.cases.len(), 6);
}

#[tokio::test]
async fn tokens_of_earlier_turns_that_are_no_case_count_in_the_next_case_once() {
    let all = questions(&["a"], 4);
    let tokens = |report: &Report<Qa>| -> Vec<f64> {
        let cases = report.cases.iter();
        let metrics = cases.map(|case| case.metrics[Purpose::Answerer.input_tokens()]);
        metrics.collect()
    };
    let whole = run(plan(History::Live), &all[2..], &all, Vec::new()).await;
    assert_eq!(whole.sent.len(), 4);
    assert_eq!(tokens(&whole.report), [30.0, 10.0]);
    let finished = vec![whole.report.cases[0].clone()];
    let resumed = run(plan(History::Live), &all[2..], &all, finished).await;
    assert_eq!(tokens(&resumed.report), [30.0, 10.0]);
}

#[test]
fn the_turns_before_those_of_a_run_are_counted() {
    let all = questions(&["a", "b"], 4);
    let chosen = [0, 2, 6].map(|place| all[place].clone());
    assert_eq!(Conversations::asked_before(&chosen), 1 + 2);
    assert_eq!(Conversations::asked_before(&all), 0);
}

#[tokio::test]
async fn a_target_that_remembers_is_sent_the_id_of_its_session_alone() {
    let all = questions(&["a"], 2);
    let plan = ConversationPlan {
        session: Some("run1".to_owned()),
        ..plan(History::Live)
    };
    let Ran { sent, .. } = run(plan, &all, &all, Vec::new()).await;
    let of = |id: &str| (id.to_owned(), "a@run1".to_owned(), None);
    assert_eq!(sent, [of("a1"), of("a2")]);
}

#[test]
fn a_turn_that_nobody_knows_is_a_gap() {
    let all = questions(&["a"], 3);
    let script = Conversations::script(&all);
    assert_eq!(Conversations::gap(&all[2..], &script), None);
    let script = Conversations::script(&all[1..]);
    assert_eq!(Conversations::gap(&all[2..], &script), Some(("a", 1)));
}

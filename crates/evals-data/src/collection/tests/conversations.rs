//! Tests of rows that are turns of conversations.

use evals::ClusterKey;
use evals_models::Message;

use super::*;

const DOCUMENTS: (&str, &str) = ("corpus.csv", "_id,text\nd1,one\nd2,two\n");

fn manifest(questions: &str) -> String {
    format!(
        "documents: {{source: {{path: corpus.csv}}, uri: _id, text: text}}\nquestions: {questions}\n"
    )
}

const TURNS: &str = "{source: {path: q.csv}, text: text, answer: answer, relevant: doc, conversation: chat, turn: n}";
const LOG: &str =
    "{source: {path: q.csv}, text: text, relevant: doc, conversation: chat, role: who, turn: n}";

/// The ids with their number and the contents of their history.
fn histories(questions: &[Question]) -> Vec<(String, u64, Vec<String>)> {
    let of = |question: &Question| {
        let turn = question.turn.clone().unwrap();
        let contents = turn.history.into_iter().map(|it| it.content);
        (question.id.clone(), turn.number, contents.collect())
    };
    questions.iter().map(of).collect()
}

fn history(id: &str, number: u64, contents: &[&str]) -> (String, u64, Vec<String>) {
    let contents = contents.iter().map(|&it| it.to_owned());
    (id.to_owned(), number, contents.collect())
}

fn error(questions: &str, rows: &str) -> String {
    tables(&[DOCUMENTS, ("q.csv", rows)]).questions_error(&manifest(questions))
}

#[test]
fn earlier_turns_are_the_history_and_conversations_are_clusters() {
    let rows = "chat,n,text,answer,doc\na,2,And the second?,two,d2\nb,1,Hello?,,d1\na,1,What is first?,one,d1\n";
    let tables = tables(&[DOCUMENTS, ("q.csv", rows)]);
    let collection = tables.collection(&manifest(TURNS));
    let questions = collection.questions().unwrap().questions;
    assert_eq!(
        histories(&questions),
        [
            history("a-1", 1, &[]),
            history("a-2", 2, &["What is first?", "one"]),
            history("b-1", 1, &[]),
        ]
    );
    let clusters: Vec<_> = questions.iter().map(|it| it.cluster.as_deref()).collect();
    assert_eq!(clusters, [Some("a"), Some("a"), Some("b")]);
    assert_eq!(
        collection.manifest().cluster,
        Some(ClusterKey::Metadata("conversation".to_owned()))
    );
    assert_eq!(
        Value::from(questions[1].metadata.clone()),
        json!({"conversation": "a", "turn": 2})
    );
}

#[test]
fn a_turn_that_judgements_drop_stays_in_the_history() {
    let tables = tables(&[
        DOCUMENTS,
        (
            "q.csv",
            "chat,id,text,answer\na,q1,First?,one\na,q2,Second?,two\n",
        ),
        ("qrels.csv", "query,doc\nq2,d2\n"),
    ]);
    let manifest =
        manifest("{source: {path: q.csv}, id: id, text: text, answer: answer, conversation: chat}")
            + "judgements: {source: {path: qrels.csv}, query: query, document: doc}\n";
    let questions = tables.collection(&manifest).questions().unwrap().questions;
    assert_eq!(
        histories(&questions),
        [history("q2", 2, &["First?", "one"])]
    );
}

#[test]
fn a_log_has_its_answers_in_rows_of_their_own() {
    let rows = "chat,n,who,text,doc\na,0,system,Be brief.,\na,1,user,First?,d1\nb,1,human,Other?,d2\na,1,agent,one,\na,2,user,Second?,d2\n";
    let tables = tables(&[DOCUMENTS, ("q.csv", rows)]);
    let questions = tables
        .collection(&manifest(LOG))
        .questions()
        .unwrap()
        .questions;
    assert_eq!(
        histories(&questions),
        [
            history("a-1", 1, &[]),
            history("a-2", 2, &["First?", "one"]),
            history("b-1", 1, &[]),
        ]
    );
    let answers: Vec<_> = questions.iter().map(|it| it.answer.as_deref()).collect();
    assert_eq!(answers, [Some("one"), None, None]);
}

#[test]
fn the_last_message_of_the_user_is_the_question() {
    let row = json!({"relevant": ["d1"], "messages": [
        {"role": "system", "content": "Be brief."},
        {"speaker": "user", "text": "First?"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "find"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
        {"role": "user", "content": "Second?"},
        {"role": "assistant", "content": "two"},
    ]});
    let rows = format!("{row}\n");
    let tables = tables(&[DOCUMENTS, ("q.jsonl", &rows)]);
    let manifest = manifest("{source: {path: q.jsonl}, relevant: relevant, messages: messages}");
    let questions = tables.collection(&manifest).questions().unwrap().questions;
    assert_eq!(questions[0].text, "Second?");
    assert_eq!(questions[0].answer.as_deref(), Some("two"));
    let turn = questions[0].turn.as_ref().unwrap();
    assert_eq!(turn.conversation, questions[0].id, "alone");
    assert_eq!(
        turn.history,
        [Message::user("First?"), Message::assistant("one")]
    );
    assert_eq!(
        Value::from(questions[0].metadata.clone()),
        json!({"turn": 2})
    );
}

#[test]
fn faults_name_the_row_and_the_conversation() {
    let header = "chat,n,who,text,answer,doc\n";
    let turns = |rows: &str| error(TURNS, &format!("{header}{rows}"));
    let log = |rows: &str| error(LOG, &format!("{header}{rows}"));
    assert_eq!(
        turns("a,1,,First?,,d1\na,1,,Again?,,d1\n"),
        "q.csv:3: conversation `a` has two turns of number 1"
    );
    assert_eq!(
        turns("a,1,,First?,,d1\na,3,,Third?,,d1\n"),
        "q.csv:3: conversation `a` has a turn 3, and no turn 2"
    );
    assert_eq!(
        turns("a,2,,Second?,,d1\n"),
        "q.csv:2: conversation `a` begins with turn 2, not with 1"
    );
    assert_eq!(
        turns("a,x,,First?,,d1\n"),
        "q.csv:2: column `n` is not the number of a turn (0, 1, 2, …): \"x\""
    );
    assert_eq!(
        turns("a,1,, ,,d1\n"),
        "q.csv:2: a turn of conversation `a` has no text"
    );
    assert_eq!(
        log("a,0,assistant,Hello!,,\na,1,user,First?,,d1\n"),
        "q.csv:2: conversation `a` has an answer before its first question; delete the row if it is a greeting"
    );
    assert_eq!(
        log("a,0,user,First?,,d1\na,1,assistant,one,,\na,2,assistant,two,,\n"),
        "q.csv:4: conversation `a` has two answers to one question"
    );
    assert_eq!(
        log("a,0,customer,First?,,d1\n"),
        "q.csv:2: column `who` is not `user` or `assistant`: \"customer\""
    );
}

#[test]
fn messages_without_a_question_are_a_fault() {
    let of = |messages: Value| {
        let row = format!("{}\n", json!({"relevant": "d1", "messages": messages}));
        let tables = tables(&[DOCUMENTS, ("q.jsonl", &row)]);
        let manifest =
            manifest("{source: {path: q.jsonl}, relevant: relevant, messages: messages}");
        tables.questions_error(&manifest)
    };
    assert_eq!(
        of(json!([{"role": "assistant", "content": "Hello!"}])),
        "q.jsonl:1: the question is missing: column `messages` ends neither with a message of the user nor with one answer to it"
    );
    assert!(
        of(json!([{"content": "?"}]))
            .starts_with("q.jsonl:1: column `messages` is not a list of messages")
    );
    assert!(of(json!("[")).starts_with("q.jsonl:1: column `messages` is not a list of messages"));
}

#[test]
fn keys_that_do_not_fit_together_are_refused() {
    let message = |questions: &str| {
        let text = format!("name: my\nsource: {{path: x.csv}}\n{}", manifest(questions));
        Manifest::parse(&text, Origin::Memory)
            .unwrap_err()
            .to_string()
    };
    let source = "source: {path: q.csv}, relevant: doc";
    assert!(message(&format!("{{{source}}}")).contains("missing key `text`"));
    assert!(
        message(&format!("{{{source}, text: t, turn: n}}"))
            .contains("need `questions.conversation`")
    );
    let both = message(&format!(
        "{{{source}, text: t, conversation: c, role: r, answer: a}}"
    ));
    assert!(both.contains("leave `questions.answer` out"), "{both}");
    let kept = message(&format!(
        "{{{source}, text: t, conversation: c, metadata: [turn]}}"
    ));
    assert!(kept.contains("cannot keep a column `turn`"), "{kept}");
    let facts = message(&format!("{{{source}, text: t, facts: f}}"));
    assert!(facts.contains("needs `questions.goal`"), "{facts}");
    for other in ["conversation: c", "messages: m"] {
        let both = message(&format!("{{{source}, goal: g, {other}}}"));
        assert!(both.contains("a row is a whole conversation"), "{both}");
    }
    let kept = message(&format!("{{{source}, goal: g, metadata: [user knows]}}"));
    assert!(kept.contains("cannot keep a column `user knows`"), "{kept}");
}

const GOALS: &str = "{source: {path: q.jsonl}, goal: goal, facts: facts, text: first, relevant: doc, answer: answer}";

/// Users with goals: one says something first, one knows one fact, and one knows several.
fn goals() -> Tables {
    let rows = [
        json!({"goal": "change the seat", "first": "Hello!", "doc": "d1", "answer": "12a"}),
        json!({"goal": "cancel the flight", "facts": "the number is 7", "first": " ", "doc": "d2"}),
        json!({"goal": "get a refund", "facts": ["the number is 8", "it rained"], "doc": "d1"}),
        json!({"goal": null, "facts": "nobody wants it", "first": "Hm.", "doc": "d1"}),
    ];
    let rows = rows.map(|row| format!("{row}\n")).concat();
    tables(&[DOCUMENTS, ("q.jsonl", &rows)])
}

#[test]
fn a_goal_is_the_text_of_a_conversation_with_what_its_user_knows() {
    let tables = goals();
    let read = tables.collection(&manifest(GOALS)).questions().unwrap();
    assert_eq!(read.counts.empty, 1, "a row without a goal");
    let users: Vec<_> = read
        .questions
        .iter()
        .map(|it| {
            let user = it.user.as_ref().unwrap();
            (
                it.text.as_str(),
                user.facts.join("; "),
                user.first.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        users,
        [
            ("change the seat", String::new(), Some("Hello!")),
            ("cancel the flight", "the number is 7".to_owned(), None),
            (
                "get a refund",
                "the number is 8; it rained".to_owned(),
                None
            ),
        ]
    );
    assert!(read.questions.iter().all(|it| it.turn.is_none()));
    assert_eq!(
        Value::from(read.questions[1].metadata.clone()),
        json!({"user knows": ["the number is 7"]})
    );
}

#[test]
fn goals_without_documents_need_no_reference_answers() {
    let text = "name: my\nquestions: {source: {path: q.jsonl}, goal: goal}\n";
    let manifest = Manifest::parse(text, Origin::Memory).unwrap();
    assert!(!manifest.has_documents());
}

#[test]
fn exported_goals_are_read_back() {
    for format in [crate::ExportFormat::JsonLines, crate::ExportFormat::Parquet] {
        let tables = goals();
        let collection = tables.collection(&manifest(GOALS));
        let questions = collection.questions().unwrap().questions;
        assert_eq!(read_back(&collection, format), questions);
    }
}

#[test]
fn an_exported_conversation_is_read_back() {
    let rows = "chat,n,text,answer,doc\na,1,First?,one,d1\na,2,Second?,two,d2\n";
    let tables = tables(&[DOCUMENTS, ("q.csv", rows)]);
    let collection = tables.collection(&manifest(TURNS));
    let questions = collection.questions().unwrap().questions;
    let again = read_back(&collection, crate::ExportFormat::JsonLines);
    assert_eq!(again, questions);
}

/// The questions of an exported dataset.
fn read_back(collection: &Collection, format: crate::ExportFormat) -> Vec<Question> {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("exported");
    let export = crate::Export {
        format,
        with_answers: true,
        questions_only: false,
    };
    collection.export(&folder, export, &|| true).unwrap();
    let manifest = Manifest::read(&folder.join(Manifest::FILE)).unwrap();
    let hub = Hub::new(HubSettings::from_variables(|_| None));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let again = runtime
        .block_on(Collection::resolve(&manifest, &hub, &()))
        .unwrap();
    again.questions().unwrap().questions
}

//! The commands that `docs/targets-reference.md` and `docs/targets.md` show, each asked through the target.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is how a test fails, and a skipped test says so"
)]

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

use evals_targets::process::{WorkerCommand, WorkerOptions};
use evals_targets::{
    ExecTarget, Mapping, Outputs, Reply, Request, ResponseSettings, Target, TargetSettings,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const GUIDE: &str = concat!(
    include_str!("../../../docs/targets-reference.md"),
    include_str!("../../../docs/targets.md")
);

#[tokio::test]
async fn the_worker_in_python_answers() {
    answers("python", "worker.py", "python3 worker.py", &["python3"]).await;
}

#[tokio::test]
async fn the_worker_in_node_answers() {
    answers("javascript", "worker.js", "node worker.js", &["node"]).await;
}

/// A command that finds `evaluations_cli`, as where it is installed.
fn with_our_package(command: &str) -> WorkerCommand {
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python");
    WorkerCommand::new(format!("PYTHONPATH='{package}' {command}"))
}

/// Needs a `python3` with the packages `langchain-community` and `rank-bm25`.
#[tokio::test]
async fn the_worker_around_a_retriever_answers() {
    let mut packages = Command::new("python3");
    packages.args(["-c", "import langchain_community, rank_bm25"]);
    if !packages
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: `python3` has no `langchain-community` or no `rank-bm25`");
        return;
    }
    let folder = TempDir::new().unwrap();
    let worker = blocks("python").into_iter();
    let worker = worker
        .filter(|block| block.contains("langchain"))
        .collect::<String>();
    std::fs::write(folder.path().join("rag.py"), worker).unwrap();
    std::fs::create_dir(folder.path().join("corpus")).unwrap();
    let documents = [
        "france: wine and cheese",
        "peru: high mountains",
        "kenya: wide plains",
    ];
    let documents = documents.map(|text| {
        let (id, _) = text.split_once(':').unwrap();
        json!({"id": id, "text": text}).to_string()
    });
    std::fs::write(
        folder.path().join("corpus/documents.jsonl"),
        documents.join("\n"),
    )
    .unwrap();
    let command = with_our_package("python3 rag.py").in_folder(folder.path());
    let options = WorkerOptions::default();
    let target = ExecTarget::new(command, options, &ResponseSettings::default()).unwrap();
    let reply = target
        .ask(&Request::question("q1", "where are mountains"))
        .await
        .unwrap();
    assert_eq!(ids(&reply)[0], "peru");
    let failed = target
        .ask(&Request::inputs("q2", json!({})))
        .await
        .unwrap_err();
    assert!(
        failed.to_string().starts_with("AttributeError: "),
        "{failed}"
    );
    target.close().await;
}

/// The task that `docs/from-pydantic-evals.md` shows.
#[tokio::test]
async fn a_task_of_pydantic_evals_answers() {
    if !is_there("python3") {
        eprintln!("skipped: `python3` is not installed");
        return;
    }
    let guide = include_str!("../../../docs/from-pydantic-evals.md");
    let (_, rest) = guide.split_once("```python\n").unwrap();
    let (task, _) = rest.split_once("```").unwrap();
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("task.py"), task).unwrap();
    let command = with_our_package("python3 task.py").in_folder(folder.path());
    let response = ResponseSettings::default();
    let target = ExecTarget::new(command, WorkerOptions::default(), &response).unwrap();
    for question in ["why", "how"] {
        let request = Request::inputs(question, json!({"question": question}));
        let reply = target
            .ask(&request)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reply.answer, Some(json!(question.to_uppercase())));
    }
    let failed = target.ask(&Request::inputs("none", json!({}))).await;
    let message = failed.unwrap_err().to_string();
    assert!(message.contains("KeyError: 'question'"), "{message}");
}

#[test]
fn the_settings_can_be_used() {
    let sections = blocks("yaml");
    assert_eq!(sections.len(), 3);
    for section in sections {
        let settings: Value = serde_saphyr::from_str(&section).unwrap();
        let settings = TargetSettings::from_value(settings["target"].clone());
        settings.unwrap().check().unwrap();
    }
}

#[test]
fn the_steps_of_a_reply_are_read() {
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    let reply = mapping
        .read(&Mapping::parse(&block("json")).unwrap())
        .unwrap();
    let steps = reply.spans.unwrap();
    assert_eq!(
        serde_json::to_value(steps.metrics()).unwrap(),
        json!({"requests": 1.0, "input_tokens": 900.0})
    );
    assert_eq!(steps.iter().count(), 3);
}

#[test]
fn the_files_of_replies_are_read() {
    let folder = TempDir::new().unwrap();
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    for (language, name) in [("json", "replies.jsonl"), ("csv", "replies.csv")] {
        let path = folder.path().join(name);
        let replies = blocks(language).into_iter();
        let replies = replies.filter(|block| block.contains("q2"));
        std::fs::write(&path, replies.collect::<String>()).unwrap();
        let outputs = Outputs::read(&path, &mapping).unwrap();
        assert_eq!(outputs.ids().collect::<Vec<_>>(), ["q1", "q2"]);
        assert!(outputs.unknown(&BTreeSet::from(["q1", "q2"])).is_empty());
    }
}

/// Asks a worker of the pages in one process and in three, with requests after another and at the same time.
async fn answers(language: &str, file: &str, line: &str, programs: &[&str]) {
    if let Some(missing) = programs.iter().find(|program| !is_there(program)) {
        eprintln!("skipped: `{missing}` is not installed");
        return;
    }
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join(file), block(language)).unwrap();
    for (processes, pipeline) in [(1, 1), (3, 1), (1, 8)] {
        let options = WorkerOptions {
            processes: NonZeroUsize::new(processes).unwrap(),
            pipeline: NonZeroUsize::new(pipeline).unwrap(),
            ..WorkerOptions::default()
        };
        let command = WorkerCommand::new(line).in_folder(folder.path());
        let target = ExecTarget::new(command, options, &ResponseSettings::default()).unwrap();
        let france = Request::question("q1", "What is the capital of France?");
        let other = Request::question("q \"2\"", "Wo ist’s?");
        let (known, unknown) = tokio::join!(target.ask(&france), target.ask(&other));
        let known = known.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(known.answer, Some(json!("Paris")));
        assert_eq!(ids(&known), ["france"]);
        let unknown = unknown.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(unknown.answer, Some(json!("I do not know.")));
        assert_eq!(ids(&unknown), [""; 0]);
        target.close().await;
    }
}

fn ids(reply: &Reply) -> Vec<&str> {
    let documents = reply.documents.iter().flatten();
    documents
        .filter_map(|document| document.id.as_deref())
        .collect()
}

fn is_there(program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// The first code block of the pages in a language.
fn block(language: &str) -> String {
    blocks(language).swap_remove(0)
}

/// The code blocks of the pages in a language.
fn blocks(language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let parts = GUIDE.split(&fence).skip(1);
    let blocks = parts.filter_map(|part| Some(part.split_once("\n```")?.0.to_owned() + "\n"));
    blocks.collect()
}

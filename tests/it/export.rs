//! Exporting datasets, and running what was exported.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Sandbox, json};

/// The lines of a file of JSON Lines.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The cases of a report: ids, outcomes and the ranked documents.
fn figures(report: &Value) -> Vec<Value> {
    let cases = report["cases"].as_array().unwrap();
    let figure = |case: &Value| {
        serde_json::json!({
            "id": case["id"], "outcomes": case["outcomes"], "ranking": case["result"]["output"]["ranking"],
            "expected": case["expected"],
        })
    };
    cases.iter().map(figure).collect()
}

#[test]
fn an_exported_dataset_runs_with_the_same_figures() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample-support --skip-qa --out original.json");
    let original = figures(&json(&sandbox.work().join("original.json")));
    for format in ["jsonl", "parquet"] {
        let ended = sandbox.run(&format!(
            "export sample-support --to {format} --format {format} --with-answers"
        ));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(
            ended.stderr,
            format!(
                "wrote 96 documents and 64 questions with answers to {format}; `evaluations run {format}/dataset.yaml` runs it\n"
            )
        );
        sandbox.succeed(&format!("{format}/dataset.yaml --skip-qa --out again.json"));
        let again = figures(&json(&sandbox.work().join("again.json")));
        assert_eq!(again, original, "{format}");
    }
}

#[test]
fn answers_are_written_only_on_request() {
    let sandbox = Sandbox::new();
    sandbox.succeed("export sample --to corpus");
    let questions = lines(&sandbox.work().join("corpus/questions.jsonl"));
    assert_eq!(questions.len(), 320);
    for question in &questions {
        let keys: Vec<&String> = question.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "question"]);
    }
    let documents = lines(&sandbox.work().join("corpus/documents.jsonl"));
    assert_eq!(documents.len(), 64);
    assert!(documents[0]["metadata"]["document_topic"].is_string());
    assert!(!sandbox.work().join("corpus/dataset.yaml").exists());

    sandbox.succeed("export sample --to asked --questions-only --with-answers");
    let questions = lines(&sandbox.work().join("asked/questions.jsonl"));
    assert!(questions[0]["answer"].is_string() && questions[0]["relevant"].is_object());
    assert_eq!(
        fs::read_dir(sandbox.work().join("asked")).unwrap().count(),
        1
    );
}

#[test]
fn texts_have_a_file_each() {
    let sandbox = Sandbox::new();
    sandbox.succeed("export sample --to corpus --format text");
    let manifest = lines(&sandbox.work().join("corpus/manifest.jsonl"));
    assert_eq!(manifest.len(), 64);
    for entry in &manifest {
        let file = sandbox
            .work()
            .join("corpus")
            .join(entry["file"].as_str().unwrap());
        assert!(
            !fs::read_to_string(&file).unwrap().is_empty(),
            "{}",
            file.display()
        );
    }
    let files = fs::read_dir(sandbox.work().join("corpus/documents")).unwrap();
    assert_eq!(files.count(), 64);
}

#[test]
fn a_folder_in_use_is_refused_and_keeps_its_files() {
    let sandbox = Sandbox::new();
    sandbox.write("corpus/mine.txt", "mine");
    let message = sandbox.refuse("export sample --to corpus");
    assert_eq!(
        message,
        "error: `corpus` is not empty; name a folder that does not exist, or an empty one\n"
    );
    assert_eq!(
        fs::read_dir(sandbox.work().join("corpus")).unwrap().count(),
        1
    );
    let message = sandbox.refuse("export sampl --to other");
    assert!(message.contains("did you mean `sample`"), "{message}");
    let message = sandbox.refuse("export sample --to no/such");
    assert!(
        message.contains("the folder `no` for `no/such` does not exist"),
        "{message}"
    );
    assert_eq!(fs::read_dir(sandbox.work()).unwrap().count(), 1);
}

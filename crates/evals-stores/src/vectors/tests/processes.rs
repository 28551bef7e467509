//! Several processes with one file, and processes that are killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;

const FILE: &str = "EVALS_VECTORS_TEST_FILE";
const WRITER: &str = "EVALS_VECTORS_TEST_WRITER";
const CALLS: &str = "EVALS_VECTORS_TEST_COUNT";
/// Begins a line that names a call whose vectors are stored.
const STORED: &str = "stored ";
/// Texts of one call.
const BATCH: usize = 20;

/// Runs [`another_process`] as one.
fn spawn(file: &Path, writer: usize, calls: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("vectors::tests::processes::another_process")
        .env(FILE, file)
        .env(WRITER, writer.to_string())
        .env(CALLS, calls.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The texts of a call; the first are the same for every writer.
fn texts(writer: &str, call: &str) -> Vec<String> {
    let own = (2..BATCH).map(|text| format!("{writer} {call} {text}"));
    let shared = [format!("shared {call}"), "shared".to_owned()];
    shared.into_iter().chain(own).collect()
}

#[tokio::test]
#[ignore = "run by the other tests as a process of its own"]
async fn another_process() {
    let variable = |name| std::env::var(name).unwrap();
    let store = EmbeddingStore::open(variable(FILE)).await.unwrap();
    let model = CachedEmbedder::new(Arc::new(Lengths::new()), store);
    let calls: usize = variable(CALLS).parse().unwrap();
    for call in 0..calls {
        let texts = texts(&variable(WRITER), &call.to_string());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        model.embed(&texts, TextKind::Document).await.unwrap();
        println!("\n{STORED}{call}");
    }
}

/// Makes sure that a call's vectors are there and right: the model is not asked for any.
async fn assert_stored(folder: &TempDir, writer: usize, call: &str) {
    let inner = Arc::new(Lengths::new());
    let model = cached(folder, Arc::clone(&inner)).await;
    let texts = texts(&writer.to_string(), call);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let stored = model.embed(&texts, TextKind::Document).await.unwrap();
    assert!(inner.asked().await.is_empty());
    for (row, text) in stored.rows().zip(texts) {
        assert_eq!(row, inner.vector(text, TextKind::Document));
    }
}

#[tokio::test]
async fn several_processes_fill_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..4)
        .map(|writer| spawn(&file(&folder), writer, 30))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let entries = open(&folder).await.statistics().await.unwrap().entries;
    assert_eq!(entries, 4 * 30 * (BATCH as u64 - 2) + 30 + 1);
    for writer in 0..4 {
        for call in 0..30 {
            assert_stored(&folder, writer, &call.to_string()).await;
        }
    }
}

#[tokio::test]
async fn a_killed_process_loses_the_call_in_flight_at_most() {
    let folder = tempfile::tempdir().unwrap();
    for (writer, lines) in [1, 7, 30, 60].into_iter().enumerate() {
        let mut child = spawn(&file(&folder), writer, 100_000);
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut output = output.lines().map_while(Result::ok);
        let stored = |line: String| line.strip_prefix(STORED).map(str::to_owned);
        let mut calls: Vec<String> = output.by_ref().filter_map(stored).take(lines).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        calls.extend(output.filter_map(stored));
        assert!(calls.len() >= lines);
        for call in calls {
            assert_stored(&folder, writer, &call).await;
        }
    }
}

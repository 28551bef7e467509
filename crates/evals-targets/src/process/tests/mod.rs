//! Workers, as shell scripts, that behave and misbehave.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use evals::FailureClass::{self, Content, Terminal, Transient};
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;

mod ending;
mod faults;
mod replies;

/// Sets `$id` to the id of the request in `$line`.
const ID: &str = r#"id=${line#*\"id\":\"}; id=${id%%\"*}"#;
const SECONDS_30: Duration = Duration::from_secs(30);

/// A reply has an answer.
#[derive(Debug)]
struct Answers;

impl Protocol for Answers {
    fn is_reply(&self, line: &Value) -> bool {
        line.get("answer").is_some()
    }

    fn expected(&self) -> &'static str {
        "an answer"
    }
}

fn pool(script: &str, options: WorkerOptions) -> WorkerPool {
    let script = script.replace("ID;", &format!("{ID};"));
    WorkerPool::new(WorkerCommand::new(script), options, Answers)
}

fn processes(processes: usize) -> WorkerOptions {
    WorkerOptions {
        processes: NonZeroUsize::new(processes).unwrap(),
        timeout: SECONDS_30,
        ..WorkerOptions::default()
    }
}

/// One process that may have eight requests at the same time.
fn pipelined(timeout: Duration) -> WorkerOptions {
    WorkerOptions {
        pipeline: NonZeroUsize::new(8).unwrap(),
        timeout,
        ..processes(1)
    }
}

async fn ask(pool: &WorkerPool, id: &str) -> Result<Value, WorkerError> {
    pool.exchange(id, &Map::new()).await
}

/// The error of a worker that does this with a request, of a command that has replied to one before.
async fn failure(script: &str) -> WorkerError {
    let folder = TempDir::new().unwrap();
    let script = format!(
        r#"if mkdir first 2>/dev/null; then read -r line; echo '{{"answer": 1}}'; exit 0; fi; {script}"#
    );
    let command = WorkerCommand::new(script).in_folder(folder.path());
    let pool = WorkerPool::new(command, processes(1), Answers);
    ask(&pool, "first").await.unwrap();
    ask(&pool, "q").await.unwrap_err()
}

/// The numbers of processes in a file, one on each line.
fn pids(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .map(|line| line.trim().parse().unwrap())
        .collect()
}

fn is_alive(pid: u32) -> bool {
    let shown = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits until none of the processes lives.
async fn gone(pids: &[u32]) {
    let began = Instant::now();
    while let Some(pid) = pids.iter().find(|pid| is_alive(**pid)) {
        assert!(began.elapsed() < SECONDS_30, "process {pid} still lives");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const ECHO: &str =
    r#"while read -r line; do ID; echo "{\"id\":\"$id\",\"answer\":\"$id by $$\"}"; done"#;

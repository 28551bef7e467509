//! A program that exits without dropping its targets kills their processes. A binary of its own, because it kills those of every
//! test beside it.
#![cfg(unix)]

use std::process::Command;
use std::time::{Duration, Instant};

use evals_targets::process::{self, Protocol, WorkerCommand, WorkerOptions, WorkerPool};
use serde_json::{Map, Value};

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

#[tokio::test]
async fn all_workers_of_a_program_and_their_children_are_killed_together() {
    let script = r#"sleep 600 & read -r line; echo "{\"answer\": \"$$ $!\"}"; sleep 600"#;
    let pools = [(); 3].map(|()| {
        WorkerPool::new(
            WorkerCommand::new(script),
            WorkerOptions::default(),
            Answers,
        )
    });
    let mut pids = Vec::new();
    for pool in &pools {
        let reply = pool.exchange("q", &Map::new()).await.unwrap();
        let answer = reply["answer"].as_str().unwrap().to_owned();
        pids.extend(answer.split(' ').map(str::to_owned));
    }
    assert_eq!(pids.len(), 6);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    process::kill_all();
    let began = Instant::now();
    while let Some(pid) = pids.iter().find(|pid| is_alive(pid)) {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "process {pid} still lives"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(pools);
}

fn is_alive(pid: &str) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let shown = shown.expect("`ps` is there").stdout;
    let shown = String::from_utf8_lossy(&shown);
    let state = shown.trim();
    !state.is_empty() && !state.starts_with('Z')
}

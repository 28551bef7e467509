//! Services that are killed, down, busy or protected.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::{asked, own_passages, report, service};
use crate::qa_server;
use crate::sandbox::{Sandbox, ended, wait_for};
use crate::scripted_server::{Reaction, ScriptedServer};

#[cfg(unix)]
#[test]
fn a_killed_run_resumes_without_asking_again() {
    let sandbox = Sandbox::new();
    let [replies, ..] = own_passages(&sandbox, 40);
    service(&sandbox, &replies);
    sandbox.write(
        "target.yaml",
        "address: 'exec:sh service.sh 0.05'\nmax_concurrency: 2\n",
    );
    let start = |line: &str| {
        let mut command = sandbox.command(line);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let line = "sample --no-progress --limit 40 --judge embedded:overlap --concurrency 2";
    let mut killed = start(line);
    wait_for("a recorded reply", || asked(&sandbox).len() >= 12);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = asked(&sandbox);
    assert!(before.len() < 40, "it was too quick");

    let resumed = sandbox.run(line);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("resuming: "), "{}", resumed.stderr);
    let mixed = "of an earlier attempt, which did not finish, are used";
    assert_eq!(
        resumed.stderr.matches(mixed).count(),
        1,
        "{}",
        resumed.stderr
    );
    for benchmark in ["retrieval", "qa"] {
        let report = report(&sandbox, benchmark);
        assert_eq!(report["summary"]["finished"], 40);
        assert!(report["metadata"].to_string().contains(mixed), "{report}");
    }
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in asked(&sandbox) {
        *times.entry(id).or_default() += 1;
    }
    assert!(times.keys().eq(replies.keys()));
    let twice = times.values().filter(|times| **times > 1).count();
    assert!(
        twice <= 2,
        "{twice} questions were asked twice, 2 were in flight"
    );

    // The run is finished, so the next one asks again.
    let again = sandbox.run(line);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(!again.stderr.contains(mixed), "{}", again.stderr);
    assert!(asked(&sandbox).len() >= 80);
}

#[test]
fn a_service_that_is_down_ends_the_run_and_nothing_is_recorded() {
    let sandbox = Sandbox::new();
    let settings = "--set target.max_attempts=1 --judge embedded:overlap --no-progress";
    let line = format!("sample --limit 3 --target http://127.0.0.1:9/ask {settings}");
    let down = sandbox.run(&line);
    assert_ne!(down.code, Some(0));
    assert!(down.stdout.contains("127.0.0.1:9"), "{down:?}");
    let again = sandbox.run(&line);
    assert!(!again.stderr.contains("recorded in"), "{}", again.stderr);
}

/// A service that asks for a key, is busy at times, and answers with the number of the question.
fn protected_service() -> ScriptedServer {
    ScriptedServer::start(|request, before| {
        let key = request
            .headers
            .get("x-api-key")
            .cloned()
            .unwrap_or_default();
        if key != qa_server::KEY {
            return Reaction::json(401, &json!({"detail": format!("`{key}` is no key")}));
        }
        if before == 0 {
            return Reaction::busy(Some("0"));
        }
        let answer = format!("You sent {key}.");
        Reaction::json(200, &json!({"result": {"text": answer}, "hits": []}))
    })
}

#[test]
fn a_service_is_asked_with_its_key_which_is_nowhere_written() {
    let sandbox = Sandbox::new();
    let server = protected_service();
    let settings = json!({
        "address": format!("{}/ask", server.ollama_url()),
        "headers": {"X-Api-Key": "${SERVICE_KEY}"},
        "body": {"q": "{{ question }}", "k": "{{ k }}"},
        "response": {"answer": "$.result.text", "documents": "$.hits[*]"},
    });
    sandbox.write("target.yaml", settings.to_string());
    let missing = sandbox.refuse("sample --limit 2");
    assert!(
        missing.contains("the environment variable `SERVICE_KEY` is not set"),
        "{missing}"
    );

    let command = |line: &str, key: &str| {
        let mut command = sandbox.command(line);
        command.env("SERVICE_KEY", key);
        ended(&mut command)
    };
    let refused = command("sample --limit 2", "wrong-key-0123456789");
    assert_ne!(refused.code, Some(0));
    assert!(
        refused
            .stderr
            .contains("answered 401: `[redacted]` is no key; check the credentials"),
        "{}",
        refused.stderr
    );

    let run = command("sample --limit 2", qa_server::KEY);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let notice = "target.yaml sends the environment variable `SERVICE_KEY` to `http://127.0.0.1:";
    assert!(run.stderr.contains(notice), "{}", run.stderr);
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.body["k"].is_u64())
    );
    let mut folders = vec![sandbox.data()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(qa_server::KEY), "{}", path.display());
        }
    }
    let doctor = command("doctor", qa_server::KEY);
    assert!(
        doctor.stdout.contains("replies within") || doctor.stdout.contains("answered 429"),
        "{}",
        doctor.stdout
    );
    let doctor = command("doctor", "wrong-key-0123456789");
    assert!(
        doctor.stdout.contains("bad   target: `http://") && doctor.stdout.contains("answered 401"),
        "{}",
        doctor.stdout
    );
}

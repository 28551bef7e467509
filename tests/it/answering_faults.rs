//! Question answering when servers fail and processes are killed: nothing is lost, and nothing is paid for twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::{Sandbox, ended, json};
use crate::scripted_server::{Reaction, ScriptedServer};
use crate::towers::{self, KEY, asked};

#[test]
fn a_wrong_key_stops_at_once_and_says_which_setting_to_change() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|_, _| {
        Reaction::json(
            401,
            &serde_json::json!({"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}),
        )
    });
    towers::write(&sandbox, 50, &server);
    let run = ended(&mut towers::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("TOWERS_KEY"), "{}", run.stderr);
    let (answers, _) = asked(&server);
    assert!(
        answers <= 8,
        "{answers} requests although the first was refused"
    );
    nothing_holds_the_key(&sandbox, &run.stdout, &run.stderr);
}

#[test]
fn a_missing_key_is_found_before_anything_is_asked() {
    let sandbox = Sandbox::new();
    let server = towers::right(Duration::ZERO);
    towers::write(&sandbox, 5, &server);
    let run = ended(towers::command(&sandbox, "").env_remove("TOWERS_KEY"));
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .contains("set the environment variable `TOWERS_KEY`"),
        "{}",
        run.stderr
    );
    assert_eq!(asked(&server), (0, 0));
}

#[test]
fn a_server_that_is_not_there_is_found_before_anything_is_indexed() {
    let sandbox = Sandbox::new();
    let server = towers::right(Duration::ZERO);
    towers::write(&sandbox, 5, &server);
    drop(server);
    let run = ended(&mut towers::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("cannot be reached"), "{}", run.stderr);
    assert!(!sandbox.data().join("dbs").exists(), "it was indexed first");
}

#[test]
fn an_exhausted_quota_keeps_what_is_done_and_the_same_command_goes_on() {
    let sandbox = Sandbox::new();
    let requests = AtomicU64::new(0);
    let exhausted = serde_json::json!({"error": {
        "message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota",
    }});
    let server = ScriptedServer::start(move |request, _| {
        // Refuses once, and is topped up then.
        if requests.fetch_add(1, Ordering::SeqCst) == 40 {
            Reaction::json(429, &exhausted)
        } else {
            towers::reply(request, Duration::ZERO)
        }
    });
    towers::write(&sandbox, 50, &server);
    let run = ended(&mut towers::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("quota"), "{}", run.stderr);
    let rest = ended(&mut towers::command(&sandbox, "--out report.json"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    assert!(rest.stderr.contains("continuing"), "{}", rest.stderr);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["summary"]["assertions"]["equivalent"]["n"], 50);
    assert_once(&server);
}

#[test]
fn killed_at_any_moment_the_same_command_finishes_with_the_same_report() {
    let undisturbed = {
        let sandbox = Sandbox::new();
        let server = towers::right(Duration::ZERO);
        towers::write(&sandbox, 60, &server);
        let run = ended(&mut towers::command(&sandbox, "--out report.json"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        towers::timeless(json(&sandbox.work().join("report.json")))
    };
    let sandbox = Sandbox::new();
    let server = towers::right(Duration::from_millis(25));
    towers::write(&sandbox, 60, &server);
    let mut kills = 0;
    // From before the index is there to close to the end, in steps that do not divide each other.
    for wait in [
        0, 30, 70, 110, 130, 170, 190, 230, 290, 310, 370, 410, 430, 470, 530,
    ] {
        let mut command = towers::command(&sandbox, "--out report.json");
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(wait));
        if process.try_wait().unwrap().is_some() {
            break;
        }
        process.kill().unwrap();
        process.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 3, "only {kills} kills");
    let run = ended(&mut towers::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = towers::timeless(json(&sandbox.work().join("report.json")));
    assert_eq!(without_session(report), without_session(undisturbed));
    // Calls in flight at a kill are lost, at most as many as run at once.
    let counts = server.successes();
    let asked = server.received_at("/chat/completions");
    let distinct: BTreeMap<u64, usize> = asked
        .iter()
        .filter_map(|request| Some((request.hash(), *counts.get(&request.hash())?)))
        .collect();
    assert_eq!(distinct.len(), 120, "an answer and a verdict for each case");
    let repeated: usize = distinct.values().map(|count| count - 1).sum();
    assert!(
        repeated <= kills * 8,
        "{repeated} calls were repeated after {kills} kills"
    );
}

/// What a report says of the session rather than of the cases.
fn without_session(mut report: Value) -> Value {
    report["metadata"]["costs"] = Value::Null;
    report
}

#[test]
fn a_server_with_random_faults_loses_no_case_and_repeats_no_successful_call() {
    let sandbox = Sandbox::new();
    let state = AtomicU64::new(1);
    let server = ScriptedServer::start(move |request, _| {
        // A linear congruential generator: the same faults in every run of the test.
        let draw = |state: u64| {
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
        };
        let before = state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| {
            Some(draw(state))
        });
        match (before.unwrap() >> 33) % 20 {
            0 => Reaction::busy(Some("0")),
            1 => Reaction::busy(None),
            2 => Reaction::body(500, "<html>Internal Server Error</html>"),
            3 => Reaction::Reset,
            4 => Reaction::Close,
            5 => Reaction::body(200, "{\"choices\": [{\"mess"),
            _ => towers::reply(request, Duration::ZERO),
        }
    });
    towers::write(&sandbox, 400, &server);
    let run = ended(&mut towers::command(
        &sandbox,
        "--out report.json --concurrency 32 --set providers.openai.max_concurrency=32 --set providers.openai.max_attempts=12",
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let equivalent = &report["summary"]["assertions"]["equivalent"];
    assert_eq!(
        (&equivalent["n"], &equivalent["value"]),
        (&400.into(), &1.0.into())
    );
    assert_once(&server);
    nothing_holds_the_key(&sandbox, &run.stdout, &run.stderr);
}

#[test]
fn a_second_process_does_not_write_the_same_run() {
    let sandbox = Sandbox::new();
    let server = towers::right(Duration::from_millis(100));
    towers::write(&sandbox, 60, &server);
    let mut first = towers::command(&sandbox, "")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    crate::sandbox::wait_for("the first verdict", || asked(&server).1 > 0);
    let second = ended(&mut towers::command(&sandbox, ""));
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(
        second.stderr.contains("another process"),
        "{}",
        second.stderr
    );
    assert!(first.wait().unwrap().success());
}

/// Every answer and every verdict was given once.
fn assert_once(server: &ScriptedServer) {
    let counts = server.successes();
    let asked = server.received_at("/chat/completions");
    let more = asked
        .iter()
        .filter(|request| counts.get(&request.hash()) > Some(&1));
    assert_eq!(more.count(), 0, "requests were paid for more than once");
}

/// No file of the sandbox and nothing printed holds the key.
fn nothing_holds_the_key(sandbox: &Sandbox, stdout: &str, stderr: &str) {
    assert!(
        !stdout.contains(KEY) && !stderr.contains(KEY),
        "the key was printed"
    );
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        bytes
            .windows(KEY.len())
            .any(|window| window == KEY.as_bytes())
    };
    let mut folders = vec![sandbox.data(), sandbox.work()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert!(!holds(&path), "the key is in {}", path.display());
            }
        }
    }
}

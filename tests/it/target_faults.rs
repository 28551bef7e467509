//! A service that misbehaves: every fault is a failed case with its reason, and no figure comes out of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::qa_server;
use crate::sandbox::{Ended, Sandbox, ended, json};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

/// One attempt more than the first, and no judge that is a server.
const OPTIONS: &str = "--set target.max_attempts=2 --judge embedded:overlap --no-progress";

fn id(request: &Received) -> &str {
    request.body["id"].as_str().unwrap()
}

/// The reply that answers a question of the towers.
fn right(id: &str) -> Value {
    let number = id.trim_start_matches('q');
    json!({"answer": format!("Tower number {number}"), "documents": [format!("d{number}")]})
}

/// Every question has a fault of its own, but `q0`.
fn faulty(request: &Received, before: usize) -> Reaction {
    let fine = Reaction::json(200, &right(id(request)));
    match id(request) {
        "q1" => Reaction::Status(
            200,
            vec![("content-type", "text/html".to_owned())],
            b"<!DOCTYPE html><title>Sign in</title>".to_vec(),
        ),
        "q2" => Reaction::body(200, "{\"answer\": \"Tower\", documents: []}"),
        "q3" => Reaction::json(200, &json!({"hits": ["d3"], "text": "Tower"})),
        "q4" if before == 0 => Reaction::busy(Some("1")),
        "q5" => Reaction::json(500, &json!({"detail": "the index is gone"})),
        "q6" => Reaction::Close,
        "q7" => Reaction::body(200, vec![b'x'; 33 << 20]),
        "q8" => Reaction::json(200, &json!({"documents": ["elsewhere"], "answer": "Tower"})),
        "q9" => Reaction::json(200, &json!({"documents": [], "answer": null})),
        "q10" => Reaction::json(200, &json!({"documents": "d10", "answer": "Tower"})),
        "q11" => Reaction::json(200, &json!({"error": "no such collection"})),
        _ => fine,
    }
}

fn run(sandbox: &Sandbox, server: &ScriptedServer, options: &str) -> Ended {
    let address = format!("{}/ask", server.ollama_url());
    let line = format!("run towers.yaml --target {address} {OPTIONS} {options}");
    ended(&mut sandbox.command(&line))
}

/// The reports of both benchmarks, by name.
fn reports(sandbox: &Sandbox) -> BTreeMap<String, Value> {
    let runs = sandbox.runs().into_iter().map(|run| {
        let benchmark = json(&run.join("manifest.json"))["benchmark"].clone();
        let report = json(&run.join("report.json"));
        (benchmark.as_str().unwrap().to_owned(), report)
    });
    runs.collect()
}

fn case<'r>(report: &'r Value, id: &str) -> &'r Value {
    let cases = report["cases"].as_array().unwrap();
    cases.iter().find(|case| case["id"] == id).unwrap()
}

/// Score or reason of an outcome.
fn outcome<'r>(report: &'r Value, id: &str, name: &str) -> &'r Value {
    let outcomes = case(report, id)["outcomes"].as_array().unwrap();
    let outcome = outcomes.iter().find(|it| it["name"] == name).unwrap();
    match &outcome["value"] {
        Value::String(value) if value == "undefined" => &outcome["reason"],
        value => &value["score"],
    }
}

#[test]
fn each_fault_of_a_service_fails_its_case_with_the_reason() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(faulty);
    qa_server::write(&sandbox, 12, &server);
    let done = run(&sandbox, &server, "");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let reports = reports(&sandbox);
    for (benchmark, report) in &reports {
        assert_eq!(report["summary"]["finished"], 12, "{benchmark}");
        assert_eq!(report["summary"]["failed"], 8, "{benchmark}");
        for (id, expected) in [
            ("q1", "Sign in"),
            ("q2", "is not JSON"),
            ("q3", "neither `answer` nor `documents`"),
            ("q5", "the index is gone"),
            ("q6", "connection"),
            ("q7", "more than 32 MiB, the limit for a reply"),
            ("q10", "documents"),
            ("q11", "no such collection"),
        ] {
            let failure = &case(report, id)["result"]["failure"];
            let message = failure["message"].as_str().unwrap();
            assert!(message.contains(expected), "{id}: {message}");
        }
    }
    let retrieval = &reports["retrieval"];
    for (id, expected) in [("q0", 1.0), ("q4", 1.0), ("q8", 0.0), ("q9", 0.0)] {
        assert_eq!(*outcome(retrieval, id, "RR@10"), expected, "{id}");
    }
    println!(
        "{}\n{}",
        retrieval["summary"]["scores"]["RR@10"], done.stdout
    );
    println!("{}", done.stderr);
    let qa = &reports["qa"];
    assert_eq!(
        *outcome(qa, "q9", "equivalent"),
        "the target returned no answer"
    );
    // A fault that another attempt may mend is tried again, each once, and the others are not. Both benchmarks share the failure.
    let mut attempts: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.received_at("/ask") {
        *attempts.entry(id(&request).to_owned()).or_default() += 1;
    }
    let mut twice: Vec<&str> = attempts
        .iter()
        .filter(|(_, count)| **count == 2)
        .map(|(id, _)| id.as_str())
        .collect();
    twice.sort_unstable();
    assert_eq!(twice, ["q1", "q4", "q5", "q6"]);
    assert_eq!(attempts.values().sum::<usize>(), 12 + 4);

    // The second run asks again only for the cases that failed for a temporary reason.
    let again = run(&sandbox, &server, "");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let later = server.received_at("/ask").split_off(16);
    assert!(
        later
            .iter()
            .all(|request| !["q0", "q4", "q8", "q9"].contains(&id(request)))
    );
    assert!(later.iter().any(|request| id(request) == "q5"));
}

#[test]
fn a_question_that_takes_too_long_has_failed_in_both_benchmarks_and_is_asked_once() {
    const LATE: &str = "the target did not finish within 1 s; `evaluations.case_timeout` sets how long a case may take";
    const ELSEWHERE: &str = "another benchmark of this run asked the target, and stopped waiting for the reply; its report says why";
    let server = ScriptedServer::start(|_, _| Reaction::Hang);
    for target in [
        format!("{}/ask", server.ollama_url()),
        "exec:cat>all".into(),
    ] {
        let sandbox = Sandbox::new();
        qa_server::write(&sandbox, 2, &server);
        let options = "--set evaluations.case_timeout=1 --judge embedded:overlap --no-progress";
        let line = format!("run towers.yaml --target {target} {options}");
        let done = ended(&mut sandbox.command(&line));
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        for (benchmark, report) in reports(&sandbox) {
            let failure = &case(&report, "q0")["result"]["failure"];
            let message = failure["message"].as_str().unwrap();
            let expected = if benchmark.starts_with("qa") {
                ELSEWHERE
            } else {
                LATE
            };
            // Retries of a service stop at the same moment, and may be the first to say so.
            let gave_up = target.starts_with("http")
                && message.starts_with("gave up")
                && message.contains("`evaluations.case_timeout`");
            assert!(
                message == expected || gave_up,
                "{benchmark} of {target}: {message}"
            );
            assert_eq!(failure["class"], "transient", "{benchmark} of {target}");
        }
        assert_eq!(reports(&sandbox).len(), 2, "both benchmarks ran");
    }
    assert_eq!(server.received_at("/ask").len(), 2);
}

#[test]
fn a_service_that_always_fails_ends_with_that_message() {
    let sandbox = Sandbox::new();
    let server =
        ScriptedServer::start(|_, _| Reaction::json(500, &json!({"detail": "out of order"})));
    qa_server::write(&sandbox, 3, &server);
    let failed = run(&sandbox, &server, "");
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(
        failed.stderr.contains("every case failed"),
        "{}",
        failed.stderr
    );
    assert!(failed.stdout.contains("out of order"), "{}", failed.stdout);
    for report in reports(&sandbox).values() {
        assert_eq!(report["summary"]["failed"], 3);
        let scores = report["summary"]["scores"].as_object().unwrap();
        assert!(
            scores
                .values()
                .all(|score| score["value"].as_f64().is_none())
        );
    }
}

#[test]
fn a_run_stops_after_too_many_failures_and_resumes() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, before| match id(request) {
        "q0" => Reaction::json(200, &right("q0")),
        _ if before < 2 => Reaction::json(200, &json!({"error": "overloaded"})),
        id => Reaction::json(200, &right(id)),
    });
    qa_server::write(&sandbox, 5, &server);
    let stopped = run(&sandbox, &server, "--max-failures 2 --concurrency 1");
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let says = "stopped early, 2 cases not run: 2 cases failed, which is the limit (`--max-failures`); run the same command again to resume";
    assert!(stopped.stderr.contains(says), "{}", stopped.stderr);
    assert_eq!(server.received_at("/ask").len(), 3);
    assert!(!reports(&sandbox).contains_key("qa"));

    run(&sandbox, &server, "--max-failures 2 --concurrency 1");
    let asked = server.received_at("/ask").split_off(3);
    let asked: Vec<&str> = asked.iter().map(id).collect();
    assert_eq!(asked, ["q1", "q2"], "not the one that was answered");
    let all = run(&sandbox, &server, "--max-failures 4 --concurrency 1");
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    let reports = reports(&sandbox);
    assert_eq!(reports["retrieval"]["summary"]["failed"], 2);
}

#[test]
fn a_limit_that_the_last_search_reaches_ends_the_command_before_the_answers() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| match id(request) {
        "q4" => Reaction::json(200, &json!({"error": "overloaded"})),
        id => Reaction::json(200, &right(id)),
    });
    qa_server::write(&sandbox, 5, &server);
    let stopped = run(&sandbox, &server, "--max-failures 1 --concurrency 1");
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let says =
        "stopped early, 0 cases not run: 1 case failed, which is the limit (`--max-failures`)";
    assert!(stopped.stderr.contains(says), "{}", stopped.stderr);
    let reports = reports(&sandbox);
    assert_eq!(reports["retrieval"]["summary"]["finished"], 5);
    assert!(!reports.contains_key("qa"));
}

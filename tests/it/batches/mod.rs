//! Answers and verdicts from the batch endpoint of a scripted server.

mod resumed_directly;

use std::fs::File;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

use crate::eval::judging::with_judge;
use crate::qa_server::{self, KEY, timeless};
use crate::sandbox::{Ended, Sandbox, ended, json, wait_for};
use crate::scripted_server::batches::{BatchServer, Line, Script};
use crate::scripted_server::{Reaction, Received};

/// Short intervals, so that the tests are fast.
const QUICK: &str = "--batch --set batch.poll_interval=0.02 --set batch.quiet=0.15";

/// Answers with the first passage and passes every answer.
fn right() -> Script {
    Script {
        answer: Box::new(|_, body| Line::Say(said(body))),
        ..Script::sound()
    }
}

fn said(body: &Value) -> String {
    if body["model"] == "judge" {
        r#"{"reason": "the same tower", "pass": true}"#.to_owned()
    } else {
        "The first passage says so. [1]".to_owned()
    }
}

/// A sandbox with so many towers, and the settings of the server.
fn towers(server: &BatchServer, count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, count, &server.server);
    sandbox
}

fn run(sandbox: &Sandbox, rest: &str) -> Ended {
    ended(&mut qa_server::command(sandbox, rest))
}

/// Whether every request was in one batch at most.
fn is_paid_once(server: &BatchServer) -> bool {
    server.submissions().values().all(|times| *times == 1)
}

/// The number of files with records and replies of batches in the data folder.
fn records(sandbox: &Sandbox) -> usize {
    let folder = std::fs::read_dir(sandbox.data().join("batches"));
    let files = folder.into_iter().flatten().flatten();
    files
        .filter(|file| file.file_name() != "batches.lock")
        .count()
}

#[test]
fn answers_and_verdicts_go_in_a_batch_each_and_give_the_report_of_direct_calls() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    let batched = run(&sandbox, &format!("{QUICK} --out report.json"));
    assert_eq!(batched.code, Some(0), "{}", batched.stderr);
    assert_eq!((server.sizes(), server.direct()), (vec![5, 5], 2));
    for part in [
        "in batches: answerer `openai:answerer`, judge `openai:judge`",
        "submitting a batch of 5 requests to `openai:answerer`",
        "batch `batch-0` of `openai:answerer`: in_progress, 0 of 5 done; next look in 20 ms",
        "batch `batch-1` of `openai:judge`: completed, 5 replies",
    ] {
        assert!(batched.stderr.contains(part), "{part}: {}", batched.stderr);
    }
    assert_eq!(records(&sandbox), 0, "every reply is in the cache");
    let one = json(&sandbox.work().join("report.json"));
    // 12 calls of 25 and 7 tokens at USD 1 and 2 per million, 50 % off.
    let cost = one["metadata"]["costs"]["total"].as_f64().unwrap();
    assert!((cost - 12.0 * 39e-6 / 2.0).abs() < 1e-12, "{cost}");
    assert!(
        batched.stdout.contains("priced at 50 % off"),
        "{}",
        batched.stdout
    );

    let direct = towers(&server, 6);
    let other = run(&direct, "--out report.json");
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    assert_eq!(server.direct(), 2 + 12);
    let other = json(&direct.work().join("report.json"));
    let cases = |report: &Value| {
        let mut report = timeless(report.clone());
        let cases = report["cases"].as_array_mut().unwrap();
        for case in &mut *cases {
            case.as_object_mut().unwrap().remove("attributes");
        }
        Value::Array(cases.clone())
    };
    assert_eq!(cases(&one), cases(&other));
    let untimed = |case: &Value| case["attributes"]["untimed"] == "answered in a batch";
    let untimed = one["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| untimed(case));
    assert_eq!(untimed.count(), 5, "all but the direct one");
    for _ in 0..3 {
        let again = towers(&server, 6);
        let ended = run(&again, &format!("{QUICK} --out report.json"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let again = timeless(json(&again.work().join("report.json")));
        assert_eq!(again["cases"], timeless(one.clone())["cases"]);
    }
    let generate = &one["summary"]["timings"]["generate"]["n"];
    assert!(
        generate.is_null() || *generate == 1,
        "{}",
        one["summary"]["timings"]
    );
}

#[test]
fn a_run_may_change_between_batches_and_direct_calls() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 4);
    let batched = run(&sandbox, QUICK);
    assert_eq!(batched.code, Some(0), "{}", batched.stderr);
    let asked = (server.sizes(), server.direct());
    // The replies of the batch serve a direct run, and the other way round.
    let direct = run(&sandbox, "--fresh");
    assert_eq!(direct.code, Some(0), "{}", direct.stderr);
    let again = run(&sandbox, &format!("{QUICK} --fresh"));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!((server.sizes(), server.direct()), asked);
}

/// A request of a batch's life: method, and how the path begins and ends.
type Moment = (&'static str, &'static str, &'static str);

/// Those requests in their order.
const MOMENTS: [Moment; 5] = [
    ("POST", "/v1/chat", "/completions"),
    ("POST", "/v1/files", "/files"),
    ("POST", "/v1/batches", "/batches"),
    ("GET", "/v1/batches/", ""),
    ("GET", "/v1/files/", "/content"),
];

/// Holds a request of one kind until its sender was killed, and then lets the server go on with it.
#[derive(Default)]
struct Gate {
    /// The request to hold, and whether it came.
    held: Mutex<Option<(Moment, bool)>>,
    opened: Condvar,
}

impl Gate {
    /// Holds requests from now on.
    fn close(&self, moment: Moment) {
        *self.held.lock().unwrap() = Some((moment, false));
    }

    fn has_come(&self) -> bool {
        self.held.lock().unwrap().is_some_and(|(_, came)| came)
    }

    fn open(&self) {
        *self.held.lock().unwrap() = None;
        self.opened.notify_all();
    }

    /// Returns when the gate is open for this request.
    fn pass(&self, request: &Received) {
        let mut held = self.held.lock().unwrap();
        while let Some(((method, first, last), came)) = held.as_mut() {
            let path = request.path.as_str();
            if request.method != *method || !path.starts_with(*first) || !path.ends_with(*last) {
                return;
            }
            *came = true;
            held = self.opened.wait(held).unwrap();
        }
    }
}

#[test]
fn a_killed_run_pays_for_nothing_twice_at_any_moment() {
    let gate = Arc::new(Gate::default());
    let passed = Arc::clone(&gate);
    let server = BatchServer::start(Script {
        fault: Box::new(move |request, _| {
            passed.pass(request);
            None
        }),
        ..right()
    });
    let sandbox = towers(&server, 12);
    // Once through the life of the batch of answers, and once through that of the verdicts.
    for (round, moment) in [(1, MOMENTS), (2, MOMENTS)]
        .into_iter()
        .flat_map(|(round, moments)| moments.map(|moment| (round, moment)))
    {
        gate.close(moment);
        let mut child = start(&mut qa_server::command(&sandbox, QUICK));
        wait_for(&format!("{moment:?} {round}"), || gate.has_come());
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        gate.open();
        if moment == MOMENTS[2] {
            // The server creates the batch although its sender is gone.
            wait_for("the batch", || server.sizes().len() == round);
        }
    }
    let finished = run(&sandbox, &format!("{QUICK} --out report.json"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(is_paid_once(&server), "{:?}", server.submissions());
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["summary"]["assertions"]["equivalent"]["n"], 12);
    assert_eq!(records(&sandbox), 0);
}

#[test]
fn a_run_that_waits_while_another_stores_the_replies_pays_for_none_of_them() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    // No process can submit a batch meanwhile.
    let folder = sandbox.data().join("batches");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("batches.lock")).unwrap();
    lock.lock().unwrap();
    let waiting = start(&mut qa_server::command(&sandbox, QUICK));
    // All of its requests are gathered, because the cache has no reply, and the first one was sent directly.
    wait_for("the first request", || server.direct() > 0);
    let other = run(&sandbox, "--fresh");
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    lock.unlock().unwrap();
    let output = waiting.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(server.sizes(), [0; 0], "{stderr}");
}

#[test]
fn a_run_killed_while_a_batch_is_at_the_server_collects_it() {
    let server = BatchServer::start(right());
    server.hold(true);
    let sandbox = towers(&server, 6);
    let mut child = start(&mut qa_server::command(&sandbox, QUICK));
    wait_for("a batch", || !server.sizes().is_empty());
    wait_for("its name in the record", || looks(&server) > 1);
    child.kill().unwrap();
    child.wait().unwrap();
    server.hold(false);
    let finished = run(&sandbox, QUICK);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(is_paid_once(&server));
    assert_eq!(server.sizes()[0], 5);
    assert_eq!(records(&sandbox), 0);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_the_batch_at_the_server_and_says_so() {
    let server = BatchServer::start(right());
    server.hold(true);
    let sandbox = towers(&server, 6);
    let child = start(&mut qa_server::command(&sandbox, QUICK));
    wait_for("a batch", || looks(&server) > 1);
    let sent = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let expected = "the batch `batch-0` goes on at the server: run the same command again to collect the replies, or cancel it there";
    assert!(stderr.contains(expected), "{stderr}");
    // On a terminal the report lies in between.
    let last = stderr
        .split("interrupted; run the same command again")
        .last();
    assert!(last.unwrap().contains(expected), "{stderr}");
    server.hold(false);
    let finished = run(&sandbox, QUICK);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(is_paid_once(&server));
}

#[test]
fn an_expired_batch_and_half_of_the_lines_lose_nothing() {
    let server = BatchServer::start(Script {
        end: |batch| if batch == 0 { "expired" } else { "completed" },
        answer: Box::new(|batch, body| {
            let text = body.to_string();
            // Half of the towers have an even number.
            let is_even = text.contains("district 1000") || text.contains("district 1014");
            match batch {
                0 if is_even && body["model"] == "answerer" => Line::Failed("batch_expired"),
                1 if is_even => Line::Missing,
                _ => Line::Say(said(body)),
            }
        }),
        ..right()
    });
    let sandbox = towers(&server, 6);
    let finished = run(&sandbox, &format!("{QUICK} --out report.json"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("asked again in the next batch"),
        "{}",
        finished.stderr
    );
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["summary"]["assertions"]["equivalent"]["n"], 6);
    assert_eq!(records(&sandbox), 0);
}

#[test]
fn a_server_without_batches_stops_the_run_with_the_way_out() {
    let server = BatchServer::start(Script {
        fault: Box::new(|request, _| {
            let fault = Reaction::json(404, &json!({"detail": "Not Found"}));
            request.path.starts_with("/v1/files").then_some(fault)
        }),
        ..right()
    });
    let sandbox = towers(&server, 4);
    let stopped = run(&sandbox, QUICK);
    assert_eq!(stopped.code, Some(2), "{}", stopped.stderr);
    let expected = "does not take batches; run without `--batch`";
    assert!(stopped.stderr.contains(expected), "{}", stopped.stderr);
    let finished = run(&sandbox, "");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("resuming "), "{}", finished.stderr);
}

#[test]
fn a_batch_that_could_exceed_the_budget_is_not_submitted() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    let limits = "--set qa.model.max_tokens=1000 --set evaluations.judge.max_tokens=1000";
    let stopped = run(&sandbox, &format!("{QUICK} {limits} --budget 0.002"));
    // As with any other budget that ends a run.
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let expected = "5 requests with up to";
    assert!(stopped.stderr.contains(expected), "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains("of the budget is left"),
        "{}",
        stopped.stderr
    );
    assert_eq!(server.sizes(), [0; 0]);
    let finished = run(&sandbox, &format!("{QUICK} {limits} --budget 1"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn a_first_direct_request_that_could_exceed_the_budget_is_not_sent() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    let limits = "--set qa.model.max_tokens=1000 --set evaluations.judge.max_tokens=1000";
    let stopped = run(&sandbox, &format!("{QUICK} {limits} --budget 0.0005"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    for part in [
        "the first request was not sent: 1 request with up to",
        "set a larger `--budget` or a smaller `max_tokens` of `openai:answerer`",
    ] {
        assert!(stopped.stderr.contains(part), "{part}: {}", stopped.stderr);
    }
    assert_eq!((server.sizes(), server.direct()), (Vec::new(), 0));
}

#[test]
fn a_budget_without_a_limit_on_replies_is_refused_before_anything_is_sent() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    let refused = run(&sandbox, &format!("{QUICK} --budget 1"));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let expected = "needs a limit on the replies of answerer `openai:answerer`";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    let answers = "--set qa.model.max_tokens=1000";
    let refused = run(&sandbox, &format!("{QUICK} {answers} --budget 1"));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let expected = "set `evaluations.judge.max_tokens`";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert_eq!(server.server.received().len(), 0);
    let without = run(&sandbox, &format!("{QUICK} {answers}"));
    assert_eq!(without.code, Some(0), "{}", without.stderr);
}

#[test]
fn what_cannot_use_batches_is_refused_before_anything_is_sent() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 2);
    let refused = |rest: &str| {
        let refused = run(&sandbox, rest);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
        refused.stderr
    };
    let embedded = "--set qa.model=embedded:extractive --set evaluations.judge=embedded:overlap";
    let message = refused(&format!("--batch {embedded}"));
    let expected = "no model of this command can use batches: answerer `embedded:extractive` (runs in this process), judge";
    assert!(message.contains(expected), "{message}");
    let message = refused("--batch --no-cache");
    assert!(message.contains("--no-cache"), "{message}");
    let message = refused("--set batch.enabled=true --no-cache");
    assert!(
        message.contains("`--batch` needs the cache of replies"),
        "{message}"
    );
    let message = refused("--batch --set batch.poll_interval=0");
    assert!(
        message.contains("`batch.poll_interval`: must be more than 0 seconds"),
        "{message}"
    );
    let message = refused("--batch --set batch.discount=1.5");
    assert!(
        message.contains("`batch.discount`: must be between 0 and 1"),
        "{message}"
    );
    assert_eq!(server.server.received().len(), 0);
    // The calls of a model without batches are direct, even beside a model with batches.
    let agent = run(&sandbox, &format!("{QUICK} --estimate --set qa.mode=agent"));
    let expected = "in batches: judge `openai:judge`; directly: answerer `openai:answerer` (an agent asks step by step)";
    assert!(agent.stderr.contains(expected), "{}", agent.stderr);
    assert!(
        agent
            .stdout
            .contains("Calls in batches are priced at 50 % off"),
        "{}",
        agent.stdout
    );
}

#[test]
fn stored_answers_are_judged_again_in_batches() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 5);
    let answered = run(&sandbox, "--judge embedded:overlap");
    assert_eq!(answered.code, Some(0), "{}", answered.stderr);
    let direct = server.direct();
    let line = format!("rejudge latest --judge openai:judge {QUICK}");
    let judged = ended(&mut qa_server::with_settings(&sandbox, &line));
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    assert_eq!((server.sizes(), server.direct()), (vec![4], direct + 1));
}

#[test]
fn a_dataset_file_is_judged_in_batches() {
    let server = BatchServer::start(Script {
        answer: Box::new(|_, body| {
            let asked = body["messages"].to_string();
            let nonce = asked.split("\\\"id\\\": \\\"").nth(1).unwrap_or_default();
            let nonce = nonce.split('\\').next().unwrap_or_default();
            let verdict = json!({"reason": "polite", "id": nonce, "pass": true, "score": 1.0});
            Line::Say(verdict.to_string())
        }),
        ..right()
    });
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server.server);
    let line = format!("eval judged.yaml --target outputs:outputs.jsonl {QUICK}");
    let mut command = sandbox.command(&format!("{line} --config settings.yaml"));
    let judged = ended(command.env("TOWERS_KEY", KEY));
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    assert_eq!((server.sizes(), server.direct()), (vec![1], 1));
    assert!(
        judged.stdout.contains("priced at 50 % off"),
        "{}",
        judged.stdout
    );
}

/// How often the program asked for the state of a batch.
fn looks(server: &BatchServer) -> usize {
    let received = server.server.received();
    let looks = received
        .iter()
        .filter(|request| request.path.contains("/batches/"));
    looks.count()
}

fn start(command: &mut Command) -> std::process::Child {
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

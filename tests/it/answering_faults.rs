//! Question answering with failing servers and killed processes: no result is lost, and no call is paid for twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::qa_server::{self, KEY, asked};
use crate::sandbox::{Sandbox, ended, json};
use crate::scripted_server::{Reaction, ScriptedServer};

#[test]
fn a_wrong_key_stops_the_run_and_names_the_setting() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|_, _| {
        Reaction::json(
            401,
            &serde_json::json!({"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}),
        )
    });
    qa_server::write(&sandbox, 50, &server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
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
fn a_missing_key_is_reported_before_any_request() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 5, &server);
    let run = ended(qa_server::command(&sandbox, "").env_remove("TOWERS_KEY"));
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
fn an_unreachable_server_is_reported_before_indexing() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 5, &server);
    drop(server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("cannot be reached"), "{}", run.stderr);
    assert!(!sandbox.data().join("dbs").exists(), "it was indexed first");
}

#[test]
fn an_exhausted_quota_keeps_finished_cases_and_the_same_command_resumes() {
    let sandbox = Sandbox::new();
    let requests = AtomicU64::new(0);
    let exhausted = serde_json::json!({"error": {
        "message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota",
    }});
    let server = ScriptedServer::start(move |request, _| {
        // Refuses once; then the quota is raised.
        if requests.fetch_add(1, Ordering::SeqCst) == 40 {
            Reaction::json(429, &exhausted)
        } else {
            qa_server::reply(request, Duration::ZERO)
        }
    });
    qa_server::write(&sandbox, 50, &server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("quota"), "{}", run.stderr);
    let rest = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    assert!(rest.stderr.contains("resuming"), "{}", rest.stderr);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["summary"]["assertions"]["equivalent"]["n"], 50);
    assert_once(&server);
}

/// A server that replies to the first `failures` requests for a verdict with `failing`, and correctly after that.
fn failing_judge(
    failures: u64,
    failing: impl Fn() -> Reaction + Send + Sync + 'static,
) -> ScriptedServer {
    let judged = AtomicU64::new(0);
    ScriptedServer::start(move |request, _| {
        if qa_server::is_judging(request) && judged.fetch_add(1, Ordering::SeqCst) < failures {
            failing()
        } else {
            qa_server::reply(request, Duration::ZERO)
        }
    })
}

#[test]
fn the_same_command_resumes_a_run_whose_server_failed() {
    let sandbox = Sandbox::new();
    let server = failing_judge(10, || Reaction::body(503, "overloaded"));
    qa_server::write(&sandbox, 20, &server);
    let once = "--set providers.openai.max_attempts=1 --concurrency 1 --out report.json";
    let run = ended(&mut qa_server::command(&sandbox, once));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("10 cases failed for a temporary reason"),
        "{}",
        run.stderr
    );
    let accuracy = accuracy(&sandbox);
    assert_eq!(
        (&accuracy["coverage"], &accuracy["worst"], &accuracy["best"]),
        (&0.5.into(), &0.5.into(), &1.0.into())
    );

    let rest = ended(&mut qa_server::command(&sandbox, once));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    assert!(
        rest.stderr.contains("retrying 10 with temporary failures"),
        "{}",
        rest.stderr
    );
    assert_eq!(sandbox.runs().len(), 1);
    assert_eq!(self::accuracy(&sandbox)["scored"]["n"], 20);
    assert_eq!(asked(&server), (20, 30), "no answer is asked for again");
}

#[test]
fn only_the_newest_run_with_the_same_settings_is_resumed() {
    let sandbox = Sandbox::new();
    let server = failing_judge(3, || Reaction::body(503, "overloaded"));
    qa_server::write(&sandbox, 6, &server);
    let once = "--set providers.openai.max_attempts=1 --concurrency 1";
    for line in [once.to_owned(), format!("{once} --fresh"), once.to_owned()] {
        let run = ended(&mut qa_server::command(&sandbox, &line));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(!run.stderr.contains("resuming"), "{}", run.stderr);
    }
    assert_eq!(sandbox.runs().len(), 3, "the first run is not resumed");
}

#[test]
fn failed_cases_of_a_finished_run_are_retried() {
    let sandbox = Sandbox::new();
    // Prose instead of a verdict, and prose again on the repair request.
    let server = failing_judge(8, || Reaction::say("I would rather not say."));
    qa_server::write(&sandbox, 10, &server);
    let run = ended(&mut qa_server::command(
        &sandbox,
        "--concurrency 1 --out report.json",
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(accuracy(&sandbox)["judge_failures"], 4);
    let same = ended(&mut qa_server::command(
        &sandbox,
        "--concurrency 1 --out report.json",
    ));
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    assert_eq!(
        accuracy(&sandbox)["judge_failures"],
        4,
        "the replies are cached"
    );

    let again = ended(&mut qa_server::command(
        &sandbox,
        "--refresh failed --out report.json",
    ));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(
        again.stderr.contains("retrying 4 failed cases of `"),
        "{}",
        again.stderr
    );
    assert_eq!(accuracy(&sandbox)["scored"]["n"], 10);
    assert_eq!(asked(&server), (14, 18));
    let both = ended(&mut qa_server::command(
        &sandbox,
        "--refresh failed --fresh",
    ));
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

#[test]
fn a_run_without_a_verdict_fails() {
    let sandbox = Sandbox::new();
    let server = failing_judge(1000, || Reaction::say("No."));
    qa_server::write(&sandbox, 5, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let accuracy = accuracy(&sandbox);
    assert_eq!(
        (&accuracy["coverage"], &accuracy["worst"], &accuracy["best"]),
        (&0.0.into(), &0.0.into(), &1.0.into())
    );
    let again = "rejudge latest --judge openai:judge";
    let again = ended(&mut qa_server::with_settings(&sandbox, again));
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(
        again.stderr.contains("no answer was judged"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_judge_that_repeats_the_answer_does_not_pass_it() {
    let nested = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    let echoes = [
        (
            format!(r#"{{"reason":"x","pass":true,"z":{nested}}}"#),
            format!(r#"{{"reason":"x","pass":true,"z":{nested}}}"#),
        ),
        (
            r#"{"reason": "it  is the same", "pass": true}"#.to_owned(),
            r#"{"pass": "yes", "reason": "it is thesame"}"#.to_owned(),
        ),
    ];
    for (answer, echo) in echoes {
        let sandbox = Sandbox::new();
        let server = ScriptedServer::start(move |request, _| {
            let text = if qa_server::is_judging(request) {
                &echo
            } else {
                &answer
            };
            Reaction::say(text)
        });
        qa_server::write(&sandbox, 3, &server);
        let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert_eq!(accuracy(&sandbox)["coverage"], 0.0);
        assert_eq!(asked(&server), (3, 6), "each verdict is sent back once");
    }
}

#[test]
fn an_oversized_answer_fails_its_case_without_a_retry() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let first = request
            .body
            .to_string()
            .contains("stands in district 1000?");
        if first && !qa_server::is_judging(request) {
            return Reaction::say(&"Tower. ".repeat(5 << 20));
        }
        qa_server::reply(request, Duration::ZERO)
    });
    qa_server::write(&sandbox, 3, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = fs::read_to_string(sandbox.work().join("report.json")).unwrap();
    assert!(report.contains("answered with more than 32 MiB, the limit for a chat completion"));
    assert_eq!(asked(&server), (3, 2));
}

#[test]
fn an_unfinished_run_is_not_judged_again() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(5));
    qa_server::write(&sandbox, 40, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--budget 0.0004"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let message = sandbox.refuse("rejudge latest --judge embedded:overlap");
    assert!(message.contains("found no finished run"), "{message}");
    assert!(message.contains("of 40 not run"), "{message}");
    let run = sandbox.runs().remove(0);
    let named = format!("rejudge {} --judge embedded:overlap", run.display());
    let message = sandbox.refuse(&named);
    assert!(
        message.contains("of 40 not run); run the original command again to resume it"),
        "{message}"
    );
}

/// The accuracy in `report.json`.
fn accuracy(sandbox: &Sandbox) -> Value {
    json(&sandbox.work().join("report.json"))["summary"]["accuracy"]["equivalent"].clone()
}

#[test]
fn a_run_killed_at_any_moment_resumes_to_the_same_report() {
    let undisturbed = {
        let sandbox = Sandbox::new();
        let server = qa_server::right(Duration::ZERO);
        qa_server::write(&sandbox, 60, &server);
        let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        qa_server::timeless(json(&sandbox.work().join("report.json")))
    };
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(25));
    qa_server::write(&sandbox, 60, &server);
    let mut kills = 0;
    // Kills at different moments, from before the index exists until near the end.
    for wait in [
        0, 30, 70, 110, 130, 170, 190, 230, 290, 310, 370, 410, 430, 470, 530,
    ] {
        let mut command = qa_server::command(&sandbox, "--out report.json");
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
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = qa_server::timeless(json(&sandbox.work().join("report.json")));
    assert!(
        without_addresses(report) == without_addresses(undisturbed),
        "the report of the killed run differs"
    );
    // Each kill loses the calls in flight, at most as many as run concurrently.
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

/// A report without the addresses of the servers, which differ between two runs.
fn without_addresses(mut report: Value) -> Value {
    for role in ["answerer", "judge"] {
        let address = report["metadata"]["parameters"][role]["base_url"].take();
        assert!(address.is_string(), "the report has the address");
    }
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
            _ => qa_server::reply(request, Duration::ZERO),
        }
    });
    qa_server::write(&sandbox, 2000, &server);
    let run = ended(&mut qa_server::command(
        &sandbox,
        "--out report.json --concurrency 32 --set providers.openai.max_concurrency=32 --set providers.openai.max_attempts=12",
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let equivalent = &report["summary"]["assertions"]["equivalent"];
    assert_eq!(
        (&equivalent["n"], &equivalent["value"]),
        (&2000.into(), &1.0.into())
    );
    assert_once(&server);
    nothing_holds_the_key(&sandbox, &run.stdout, &run.stderr);
    let attempts = run
        .stderr
        .lines()
        .find(|line| line.starts_with("4000 calls made by this command, "));
    assert!(
        attempts
            .is_some_and(|line| line.contains("got no reply, though the server may charge for it")),
        "{}",
        run.stderr
    );
}

#[test]
fn a_second_process_cannot_work_on_the_same_run() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(100));
    qa_server::write(&sandbox, 60, &server);
    let mut first = qa_server::command(&sandbox, "")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    crate::sandbox::wait_for("the first verdict", || asked(&server).1 > 0);
    let second = ended(&mut qa_server::command(&sandbox, ""));
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

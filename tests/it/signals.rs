//! Signals, a second process and a closed pipe: no result is lost, and no call is paid for twice.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::qa_server::{self, asked, is_judging};
use crate::sandbox::{Ended, Sandbox, ended, json, wait_for};
use crate::scripted_server::{Reaction, ScriptedServer};

pub(crate) fn start(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let process = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &process]).status();
    assert!(sent.unwrap().success());
}

pub(crate) fn end_of(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn calls(server: &ScriptedServer) -> usize {
    let (answers, verdicts) = asked(server);
    answers + verdicts
}

/// The number of requests that were answered more than once.
fn paid_twice(server: &ScriptedServer) -> usize {
    let counts = server.successes();
    let asked = server.received_at("/chat/completions");
    let again = asked.iter().filter(|it| counts.get(&it.hash()) > Some(&1));
    again.count()
}

#[test]
fn a_signal_waits_for_the_calls_in_flight() {
    for name in ["INT", "TERM", "HUP"] {
        let sandbox = Sandbox::new();
        let server = qa_server::right(Duration::from_millis(400));
        qa_server::write(&sandbox, 40, &server);
        let child = start(&mut qa_server::command(&sandbox, "--out report.json"));
        wait_for("calls", || calls(&server) >= 12);
        signal(&child, name);
        let sent = calls(&server);
        let stopped = end_of(child);
        let stderr = &stopped.stderr;
        assert_eq!(stopped.code, Some(130), "SIG{name}: {stderr}");
        assert!(
            stderr.contains("interrupted; waiting up to 30 s for "),
            "SIG{name}: {stderr}"
        );
        assert!(!stderr.contains("dropped "), "SIG{name}: {stderr}");
        // Eight run concurrently, and some may have been sent just before the signal.
        let late = calls(&server) - sent;
        assert!(late <= 8, "SIG{name}: {late} calls were sent afterwards");
        let report = json(&sandbox.work().join("report.json"));
        assert_eq!(report["interrupted"], true);
        assert_eq!(report["stopped"], serde_json::Value::Null);

        let finished = ended(&mut qa_server::command(&sandbox, "--out report.json"));
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(finished.stderr.contains("resuming "), "{}", finished.stderr);
        let report = json(&sandbox.work().join("report.json"));
        assert_eq!(report["summary"]["assertions"]["equivalent"]["n"], 40);
        assert_eq!(paid_twice(&server), 0, "SIG{name}");
        assert_eq!(asked(&server), (40, 40), "SIG{name}");
    }
}

#[test]
fn a_second_signal_drops_the_calls_in_flight() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if is_judging(request) {
            return Reaction::Hang;
        }
        qa_server::reply(request, Duration::ZERO)
    });
    qa_server::write(&sandbox, 5, &server);
    let mut child = start(&mut qa_server::command(&sandbox, ""));
    wait_for("verdicts that are asked for", || asked(&server).1 == 5);
    signal(&child, "INT");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = |line: &str| line.starts_with("interrupted; waiting up to 30 s for 5 calls");
    lines
        .find(|line| waits(line.as_ref().unwrap()))
        .unwrap()
        .unwrap();
    let began = Instant::now();
    signal(&child, "INT");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "it waited");
    let dropped = "dropped 5 calls without a reply; the server may still charge for them";
    assert!(rest.iter().any(|line| line == dropped), "{rest:?}");
    let goes_on = "interrupted; run the same command again to resume";
    assert!(rest.iter().any(|line| line == goes_on), "{rest:?}");
}

#[test]
fn a_signal_that_the_parent_process_ignores_stays_ignored() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(100));
    qa_server::write(&sandbox, 30, &server);
    let inner = qa_server::command(&sandbox, "");
    // Starts the binary directly, without the wrapper that resets ignored signals.
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let words = words.skip_while(|word| *word != env!("CARGO_BIN_EXE_evaluations"));
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .args(words)
        .current_dir(sandbox.work())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
    let child = start(&mut command);
    wait_for("calls", || calls(&server) >= 8);
    signal(&child, "HUP");
    let run = end_of(child);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(asked(&server), (30, 30));
}

#[test]
fn only_one_of_several_equal_commands_runs() {
    for _ in 0..3 {
        let sandbox = Sandbox::new();
        let server = qa_server::right(Duration::from_millis(150));
        qa_server::write(&sandbox, 24, &server);
        // The index exists already, so only the lock of the run separates the two processes.
        let index = "run towers.yaml --skip-retrieval --skip-qa";
        let indexed = ended(&mut qa_server::with_settings(&sandbox, index));
        assert_eq!(indexed.code, Some(0), "{}", indexed.stderr);
        let pair = [(); 2].map(|()| start(&mut qa_server::command(&sandbox, "")));
        let mut runs = pair.map(end_of);
        runs.sort_by_key(|run| run.code);
        let [done, refused] = runs;
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        let expected = "another process is already working on run `";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        let hint = "`; wait for it to finish, or start a new run with `--fresh`";
        assert!(refused.stderr.contains(hint), "{}", refused.stderr);
        assert_eq!(sandbox.runs().len(), 1);
        assert_eq!(asked(&server), (24, 24));
    }
}

#[test]
fn a_run_that_another_process_locks_is_refused_quickly() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 12, &server);
    let stopped = ended(&mut qa_server::command(&sandbox, "--budget 0.0004"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let [run] = &sandbox.runs()[..] else {
        panic!("one run");
    };
    let kept = std::fs::File::open(run).unwrap();
    kept.lock().unwrap();
    let began = Instant::now();
    let refused = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(began.elapsed() < Duration::from_secs(20), "it waited");
    let expected = "another process is already working on run `";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    drop(kept);
    let resumed = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
}

#[test]
fn a_closed_pipe_does_not_stop_the_run() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(50));
    qa_server::write(&sandbox, 20, &server);
    let mut child = start(qa_server::command(&sandbox, "--out report.json").stdin(Stdio::null()));
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["interrupted"], false);
    assert_eq!(report["cases"].as_array().unwrap().len(), 20);
}

#[test]
fn the_time_of_a_case_includes_its_judging() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if is_judging(request) {
            return Reaction::Hang;
        }
        qa_server::reply(request, Duration::from_millis(600))
    });
    qa_server::write(&sandbox, 2, &server);
    let line = "--out report.json --set evaluations.case_timeout=2";
    let run = ended(&mut qa_server::command(&sandbox, line));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let case = &report["cases"][0];
    assert!(case["result"]["output"].is_object(), "{case}");
    let failures = case["evaluator_failures"].as_array().unwrap();
    let failure = &failures[0];
    assert_eq!(failure["class"], "transient", "{failure}");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message
            .starts_with("it did not finish within the 2 s of the case, of which answering took "),
        "{message}"
    );
    let hint = "`evaluations.case_timeout` sets how long a case may take";
    assert!(message.ends_with(hint), "{message}");
    let seconds = case["duration"].as_f64();
    assert!(seconds.is_none_or(|seconds| seconds < 2.0), "{case}");
}

#[test]
fn a_timeout_of_an_answer_names_the_answer() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path.ends_with("/models") {
            return qa_server::reply(request, Duration::ZERO);
        }
        Reaction::Hang
    });
    qa_server::write(&sandbox, 1, &server);
    let line = "--out report.json --set evaluations.case_timeout=1";
    let run = ended(&mut qa_server::command(&sandbox, line));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let failure = &report["cases"][0]["result"]["failure"];
    assert_eq!(
        failure["message"],
        "answering did not finish within 1 s; `evaluations.case_timeout` sets how long a case may take"
    );
    assert_eq!(failure["class"], "transient");
}

#[test]
fn a_signal_during_embedding_loses_no_vector() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let texts = request.body["input"].as_array().map_or(0, Vec::len);
        // The probe is one text.
        if texts > 1 {
            thread::sleep(Duration::from_millis(300));
        }
        Reaction::Sound
    });
    qa_server::write(&sandbox, 400, &server);
    let mut settings = qa_server::settings(&server);
    settings["embeddings"]["model"] = serde_json::json!({"provider": "openai", "name": "scripted"});
    settings["providers"]["openai"]["max_concurrency"] = 2.into();
    sandbox.write("settings.yaml", settings.to_string());
    let line = "run towers.yaml --skip-qa --skip-retrieval --profile semantic";
    let child = start(&mut qa_server::with_settings(&sandbox, line));
    let embedded = || server.received_at("/embeddings").len();
    wait_for("batches", || embedded() >= 4);
    signal(&child, "TERM");
    let stopped = end_of(child);
    assert_eq!(stopped.code, Some(130), "{}", stopped.stderr);
    let goes_on = "interrupted; run the same command again to resume indexing";
    assert!(stopped.stderr.contains(goes_on), "{}", stopped.stderr);
    let finished = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let requests = server.received_at("/embeddings");
    let mut texts: Vec<String> = requests
        .iter()
        .filter_map(|request| request.body["input"].as_array())
        .flatten()
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .filter(|text| text.starts_with("Tower"))
        .collect();
    let all = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!((texts.len(), all), (400, 400), "no text is embedded twice");
}

#[test]
fn an_out_file_of_two_profiles_is_a_comparison_even_if_only_one_ran() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let prompt = request.body["messages"][0]["content"].as_str();
        if prompt.is_some_and(|prompt| prompt.contains("\"ranking\"")) {
            return Reaction::json(401, &serde_json::json!({"error": {"message": "bad key"}}));
        }
        qa_server::reply(request, Duration::ZERO)
    });
    qa_server::write(&sandbox, 4, &server);
    let mut settings = qa_server::settings(&server);
    settings["reranking"]["model"] =
        serde_json::json!({"provider": "llm", "name": "openai:ranker"});
    sandbox.write("settings.yaml", settings.to_string());
    let line = "run towers.yaml --skip-qa --profile bm25+rerank --profile bm25 --out scores.json";
    let run = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let side_by_side = json(&sandbox.work().join("scores.json"));
    assert!(side_by_side.get("cases").is_none(), "{side_by_side}");
    let reports = side_by_side["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 1, "the second profile was not run");
    let own = json(&sandbox.work().join("scores.bm25+rerank.json"));
    assert!(own["cases"].is_array());
}

//! Recorded replies of a service that counts its requests: what a killed run asks and pays again, and what two runs at the same time
//! share.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::qa_server::{self, KEY};
use crate::sandbox::{Ended, Sandbox, ended, wait_for};
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// A service and a judge, where the request with `hangs` to `endpoint` hangs the first time.
///
/// Each reply costs $0.002 at the prices of [`qa_server::settings`], and each verdict $0.003.
pub(crate) fn service(endpoint: &'static str, hangs: &'static str) -> ScriptedServer {
    ScriptedServer::start(move |request, before| {
        if before == 0 && is_for(request, endpoint, hangs) {
            return Reaction::Hang;
        }
        if request.path.ends_with(JUDGE) {
            return verdict(request);
        }
        Reaction::json(
            200,
            &json!({
                "answer": "Tower number 1", "documents": ["d1"], "model": "answerer",
                "usage": {"input_tokens": 1000, "output_tokens": 500},
            }),
        )
    })
}

fn is_for(request: &Received, endpoint: &str, text: &str) -> bool {
    request.path.ends_with(endpoint) && request.body.to_string().contains(text)
}

/// A verdict for either kind of judge: that of answers, and that of a rubric.
fn verdict(request: &Received) -> Reaction {
    let asked = request.body["messages"].to_string();
    let nonce = asked.split("\\\"id\\\": \\\"").nth(1).unwrap_or_default();
    let nonce = nonce.split('\\').next().unwrap();
    let verdict = json!({"reason": "as it is", "id": nonce, "pass": true, "score": 1.0});
    Reaction::Say(Saying {
        after: Duration::ZERO,
        usage: Some((1000, 1000)),
        ..Saying::of(&verdict.to_string())
    })
}

/// Six cases, `a` to `f`.
pub(crate) fn cases(evaluators: &str) -> String {
    let cases: Vec<String> = "abcdef"
        .chars()
        .map(|name| format!("- {{name: {name}, inputs: {{q: case-{name}}}}}\n"))
        .collect();
    format!(
        "name: letters\ncases:\n{}evaluators:\n{evaluators}",
        cases.concat()
    )
}

pub(crate) fn sandbox(server: &ScriptedServer, evaluators: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 6, server);
    sandbox.write("letters.yaml", cases(evaluators));
    sandbox
}

/// A command against the service, one question after the other.
pub(crate) fn command(sandbox: &Sandbox, server: &ScriptedServer, line: &str) -> Command {
    let address = format!("{}/ask", server.ollama_url());
    let line =
        format!("{line} --target {address} --config settings.yaml --concurrency 1 --no-progress");
    let mut command = sandbox.command(&line);
    command.env("TOWERS_KEY", KEY);
    command
}

pub(crate) fn run(sandbox: &Sandbox, server: &ScriptedServer, line: &str) -> Ended {
    ended(&mut command(sandbox, server, line))
}

fn start(sandbox: &Sandbox, server: &ScriptedServer, line: &str) -> Child {
    let mut command = command(sandbox, server, line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits for the request with `text` to `endpoint`.
fn wait_for_request(server: &ScriptedServer, endpoint: &str, text: &str) {
    wait_for(text, || {
        let mut received = server.received().into_iter();
        received.any(|request| is_for(&request, endpoint, text))
    });
}

fn kill(mut running: Child) {
    running.kill().unwrap();
    running.wait().unwrap();
}

/// Runs a command until the service gets the request with `text`, and kills it.
pub(crate) fn kill_at(sandbox: &Sandbox, server: &ScriptedServer, line: &str, text: &str) {
    let running = start(sandbox, server, line);
    wait_for_request(server, ASK, text);
    kill(running);
}

/// What the files of replies record as paid, by model.
fn payments(sandbox: &Sandbox) -> Vec<String> {
    let mut models = Vec::new();
    let Ok(folders) = fs::read_dir(sandbox.data().join("replies")) else {
        return models;
    };
    for folder in folders {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            // The last line may be incomplete.
            let lines = text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            models.extend(lines.filter_map(|line: Value| {
                Some(line["paid"]["model"]["name"].as_str()?.to_owned())
            }));
        }
    }
    models
}

/// The letter of a case or the number of a question, in the order of the requests to the service.
pub(crate) fn asked(server: &ScriptedServer) -> String {
    let received = server.received_at(ASK);
    let names = received.iter().map(|request| {
        let name = request.body["q"].as_str().or(request.body["id"].as_str());
        name.unwrap().chars().last().unwrap()
    });
    names.collect()
}

/// The end of the service's path, and that of the judge's.
pub(crate) const ASK: &str = "/ask";
const JUDGE: &str = "/chat/completions";
pub(crate) const CHECKED: &str = "- IsInstance: str\n";
const JUDGED: &str = "- LLMJudge: {rubric: It is polite., include_input: true}\n";
pub(crate) const EVAL: &str = "eval letters.yaml";
const BENCHMARKS: &str = "run towers.yaml --judge embedded:overlap";

#[test]
fn a_killed_run_of_a_dataset_file_asks_and_pays_only_what_is_missing() {
    let server = service(ASK, "case-d");
    let sandbox = sandbox(&server, CHECKED);
    kill_at(&sandbox, &server, EVAL, "case-d");
    assert_eq!(asked(&server), "abcd");

    let spent = run(&sandbox, &server, &format!("{EVAL} --budget 0.0059"));
    assert_eq!(spent.code, Some(1), "{}", spent.stderr);
    assert!(
        spent.stderr.contains("the budget of $0.0059 is spent"),
        "{}",
        spent.stderr
    );
    assert_eq!(asked(&server), "abcd");

    // Six replies cost $0.012. A cost that counted twice would end the run.
    let finished = run(&sandbox, &server, &format!("{EVAL} --budget 0.0121"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(asked(&server), "abcddef");
    assert_eq!(sandbox.runs().len(), 1);

    let again = run(&sandbox, &server, EVAL);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(asked(&server), "abcddefabcdef");
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn what_an_unfinished_case_cost_is_counted_once() {
    // The reply and one of the two verdicts arrive.
    let server = service(JUDGE, "It is brief.");
    let brief = JUDGED.replace("polite", "brief");
    let sandbox = sandbox(&server, &format!("{JUDGED}{brief}"));
    let line = format!("{EVAL} --case a");
    let running = start(&sandbox, &server, &line);
    wait_for("two payments", || payments(&sandbox).len() == 2);
    wait_for_request(&server, JUDGE, "It is brief.");
    kill(running);
    assert_eq!(payments(&sandbox), ["answerer", "judge"]);
    let journal = fs::read_to_string(sandbox.runs()[0].join("journal.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 1, "only the header: {journal}");

    let before = server.received().len();
    let spent = run(&sandbox, &server, &format!("{line} --budget 0.0049"));
    assert_eq!(spent.code, Some(1), "{}", spent.stderr);
    assert!(
        spent
            .stderr
            .contains("1 case not run: the budget of $0.0049 is spent"),
        "{}",
        spent.stderr
    );
    let lists = |it: &Received| it.path.ends_with("/models");
    let later = server.received().split_off(before);
    assert!(later.iter().all(lists), "{later:?}");

    // What arrived cost $0.005. If it counted twice, the case would not start.
    let finished = run(&sandbox, &server, &format!("{line} --budget 0.0051"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(asked(&server), "a");
    // The first session may have been killed before the cache had its verdict.
    let verdicts: usize = server.successes().values().sum();
    assert!((2..=3).contains(&verdicts), "{verdicts}");
    assert_eq!(payments(&sandbox).len(), 1 + verdicts);
}

#[test]
fn both_benchmarks_of_a_killed_run_share_what_was_paid() {
    let server = service(ASK, "q3");
    let sandbox = sandbox(&server, CHECKED);
    kill_at(&sandbox, &server, BENCHMARKS, "q3");
    assert_eq!(asked(&server), "0123");
    let runs = sandbox.runs().len();
    let spent = run(&sandbox, &server, &format!("{BENCHMARKS} --budget 0.0059"));
    assert_eq!(spent.code, Some(1), "{}", spent.stderr);
    let expected = "stopped before the first question: the budget of $0.0059 is spent";
    assert!(spent.stderr.contains(expected), "{}", spent.stderr);
    assert_eq!(
        (asked(&server).as_str(), sandbox.runs().len()),
        ("0123", runs)
    );

    let finished = run(&sandbox, &server, &format!("{BENCHMARKS} --budget 0.0121"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("resuming: 3 replies recorded"),
        "{}",
        finished.stderr
    );
    assert_eq!(asked(&server), "0123345");
    let again = run(&sandbox, &server, BENCHMARKS);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(asked(&server), "0123345012345");
}

#[test]
fn answers_are_not_asked_again_because_the_run_was_killed_while_judging() {
    let server = service(JUDGE, "district 1000?");
    let sandbox = sandbox(&server, CHECKED);
    let line = "run towers.yaml --skip-retrieval";
    let running = start(&sandbox, &server, line);
    wait_for_request(&server, JUDGE, "district 1000?");
    kill(running);
    assert_eq!(asked(&server), "0");
    assert_eq!(payments(&sandbox), ["answerer"]);
    // Six replies and six verdicts cost $0.03.
    let finished = run(&sandbox, &server, &format!("{line} --budget 0.0301"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(asked(&server), "012345");
    assert_eq!(payments(&sandbox).len(), 12);
}

#[test]
fn a_spent_budget_does_not_withhold_the_report_on_recorded_replies() {
    let server = service(JUDGE, "district 1035?");
    let sandbox = sandbox(&server, CHECKED);
    let line = "run towers.yaml";
    let running = start(&sandbox, &server, line);
    wait_for_request(&server, JUDGE, "district 1035?");
    kill(running);
    assert_eq!(asked(&server), "012345");
    let before = server.received().len();

    // Six replies and five verdicts cost $0.027.
    let spent = run(&sandbox, &server, &format!("{line} --budget 0.0269"));
    assert_eq!(spent.code, Some(1), "{}", spent.stderr);
    let expected = "stopped early, 1 case not run: the budget of $0.0269 is spent";
    assert!(spent.stderr.contains(expected), "{}", spent.stderr);
    for report in ["retrieval", "qa"] {
        assert!(spent.stdout.contains(report), "{}", spent.stdout);
    }
    let lists = |it: &Received| it.path.ends_with("/models");
    let later = server.received().split_off(before);
    assert!(later.iter().all(lists), "{later:?}");

    let finished = run(&sandbox, &server, &format!("{line} --budget 0.0301"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(asked(&server), "012345");
}

#[test]
fn a_smaller_run_neither_uses_nor_finishes_the_replies_of_a_larger_one() {
    for (line, hangs, [before, small, rest]) in [
        (EVAL, "case-e", ["abcde", "abc", "ef"]),
        (BENCHMARKS, "q4", ["01234", "012", "45"]),
    ] {
        let server = service(ASK, hangs);
        let sandbox = sandbox(&server, CHECKED);
        kill_at(&sandbox, &server, line, hangs);
        assert_eq!(asked(&server), before);
        let limited = run(&sandbox, &server, &format!("{line} --limit 3"));
        assert_eq!(limited.code, Some(0), "{}", limited.stderr);
        assert_eq!(asked(&server), format!("{before}{small}"));
        let resumed = run(&sandbox, &server, line);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert_eq!(asked(&server), format!("{before}{small}{rest}"));
    }
}

#[test]
fn failed_cases_alone_are_asked_again() {
    let server = ScriptedServer::start(|request, before| {
        if before == 0 && is_for(request, ASK, "q3") {
            return Reaction::json(200, &json!({"error": "the index is busy"}));
        }
        Reaction::json(
            200,
            &json!({"answer": "Tower number 1", "documents": ["d1"]}),
        )
    });
    let sandbox = sandbox(&server, CHECKED);
    let failed = run(&sandbox, &server, BENCHMARKS);
    assert_eq!(failed.code, Some(0), "{}", failed.stderr);
    assert_eq!(asked(&server), "012345");
    let retried = run(&sandbox, &server, &format!("{BENCHMARKS} --refresh failed"));
    assert_eq!(retried.code, Some(0), "{}", retried.stderr);
    assert_eq!(asked(&server), "0123453");
    let again = run(&sandbox, &server, BENCHMARKS);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(asked(&server), "0123453012345");
}

#[test]
fn a_killed_retry_of_failed_cases_is_resumed() {
    let server = ScriptedServer::start(|request, before| match before {
        0 if is_for(request, ASK, "q3") || is_for(request, ASK, "q5") => {
            Reaction::json(200, &json!({"error": "the index is busy"}))
        }
        1 if is_for(request, ASK, "q5") => Reaction::Hang,
        _ => Reaction::json(
            200,
            &json!({"answer": "Tower number 1", "documents": ["d1"]}),
        ),
    });
    let sandbox = sandbox(&server, CHECKED);
    run(&sandbox, &server, BENCHMARKS);
    assert_eq!(asked(&server), "012345");
    let retry = start(&sandbox, &server, &format!("{BENCHMARKS} --refresh failed"));
    wait_for("the second request for q5", || {
        asked(&server).ends_with("35")
    });
    kill(retry);
    let resumed = run(&sandbox, &server, BENCHMARKS);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(asked(&server), "012345355");
}

#[test]
fn two_commands_at_the_same_time_do_not_disturb_each_other() {
    for (line, hangs, [small, rest]) in [
        (EVAL, "case-e", ["ab", "ef"]),
        (BENCHMARKS, "q4", ["01", "45"]),
    ] {
        let server = service(ASK, hangs);
        let sandbox = sandbox(&server, CHECKED);
        let running = start(&sandbox, &server, line);
        wait_for_request(&server, ASK, hangs);
        let before = asked(&server);
        let runs = sandbox.runs().len();

        let equal = run(&sandbox, &server, line);
        assert_eq!(equal.code, Some(2), "{}", equal.stderr);
        assert!(
            equal
                .stderr
                .contains("another process is already working on"),
            "{}",
            equal.stderr
        );
        assert_eq!(sandbox.runs().len(), runs, "it left a run");

        let other = run(&sandbox, &server, &format!("{line} --limit 2"));
        assert_eq!(other.code, Some(0), "{}", other.stderr);
        assert_eq!(asked(&server), format!("{before}{small}"));
        kill(running);
        let resumed = run(&sandbox, &server, line);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert_eq!(asked(&server), format!("{before}{small}{rest}"));
    }
}

//! Dataset files run against commands: outputs, metrics, failures and tries.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{SYSTEM, against_replies, asked, command, eval, replies, report, sandbox};
use crate::sandbox::{Sandbox, ended};

#[test]
fn a_dataset_file_runs_against_a_command() {
    let sandbox = sandbox();
    let ended = eval(&sandbox, "--reasons");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in [
        "target: exec:sh system.sh",
        "  Case 3: not on the map",
        "Mombasa         0        0      0",
        "Contains ✗: Output string 'Mombasa' does not contain expected string 'Nai'",
    ] {
        let mut lines = ended.stdout.lines();
        assert!(lines.any(|it| it == line), "`{line}` in {}", ended.stdout);
    }
    let report = report(&sandbox);
    let passed = |measure: &str| report["summary"]["assertions"][measure]["value"].as_f64();
    assert_eq!(passed("EqualsExpected"), Some(0.5));
    assert_eq!(passed("Contains"), Some(0.0));
    assert_eq!(report["cases"][1]["metrics"]["input_tokens"], 3.0);
    assert_eq!(report["evaluators"][1]["spec"]["arguments"], json!(["str"]));
    assert_eq!(report["analyses"][0]["type"], "confusion_matrix");
    assert_eq!(asked(&sandbox), ["Case 3", "france", "kenya"]);
}

#[test]
fn a_command_that_judges_runs_in_the_folder_of_the_file() {
    let sandbox = sandbox();
    let grade = r#"while read -r line; do pwd -P > graded; id=${line#*\"id\":\"}; echo "{\"id\":\"${id%%\"*}\",\"value\":true}"; done"#;
    // Also one inside another evaluator.
    let other = grade.replace("true", "false");
    let not = json!({"Not": {"evaluator": {"Exec": &other}}});
    let evaluators = json!([{"Exec": grade}, not]);
    let file = json!({"cases": [{"name": "france", "inputs": 1, "evaluators": evaluators}]});
    for (path, folder) in [("graded.yaml", ""), ("below/graded.yaml", "below")] {
        sandbox.write(path, file.to_string());
        let mut command = sandbox.command(&format!("eval {path} --no-progress"));
        let ended = ended(command.args(["--target", "exec:sh system.sh"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let folder = sandbox.work().join(folder).canonicalize().unwrap();
        let graded = fs::read_to_string(folder.join("graded")).unwrap();
        assert_eq!(Path::new(graded.trim_end()), folder);
        for command in [grade, &other] {
            let shown = format!("{path} runs a command as an evaluator: `{command}`\n");
            assert!(ended.stderr.contains(&shown), "{}", ended.stderr);
        }
        assert_eq!(
            report(&sandbox)["summary"]["assertions"]["Exec"]["value"],
            1.0
        );
    }
}

#[test]
fn a_run_stops_after_too_many_failures_and_resumes() {
    let sandbox = sandbox();
    let failing = SYSTEM.replace("\"answer\"", "\"error\"");
    sandbox.write("system.sh", failing);
    let stopped = eval(&sandbox, "--max-failures 2 --concurrency 1");
    assert_eq!(stopped.code, Some(1));
    assert!(
        stopped
            .stderr
            .contains("stopped early, 1 case not run: 2 cases failed"),
        "{}",
        stopped.stderr
    );
    assert_eq!(asked(&sandbox), ["france", "kenya"]);
    let resumed = eval(&sandbox, "--max-failures 2 --concurrency 1");
    assert!(
        resumed.stderr.contains("resuming") && resumed.stderr.contains("2 cases done"),
        "{}",
        resumed.stderr
    );
    assert_eq!(asked(&sandbox), ["Case 3", "france", "kenya"]);
    assert_eq!(sandbox.runs().len(), 1);
}

#[test]
fn a_failed_case_is_asked_again_as_often_as_allowed() {
    let sandbox = sandbox();
    // The id of the third case has a blank.
    let mut line = command(&sandbox, "--retry-task 2");
    ended(line.args(["--case", "Case 3"]));
    // Each attempt has an id of its own, so that a late reply to the one before is not taken for it.
    assert_eq!(asked(&sandbox), ["Case 3", "Case 3~2", "Case 3~3"]);
    assert_eq!(report(&sandbox)["cases"][0]["attempts"], 3);
}

#[test]
fn requests_in_spans_become_metrics_unless_the_reply_states_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "agent.yaml",
        "\
name: agent
cases:
- {name: spans, inputs: x}
- {name: stated, inputs: y}
evaluators:
- MaxModelRequests: 1
",
    );
    let request = |tokens: u32| {
        json!({"name": "chat m", "attributes": {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": tokens, "operation.cost": 0.25,
        }})
    };
    let reply = json!({"answer": "a", "spans": [request(10), request(5)]});
    let mut stated = reply.clone();
    stated["metrics"] = json!({"requests": 1, "cost": 0.75});
    stated["usage"] = json!({"input_tokens": 20, "output_tokens": 3});
    replies(&sandbox, &[("spans", reply), ("stated", stated)]);
    let ended = against_replies(&sandbox, "agent.yaml", "--reasons");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&sandbox);
    let metrics = |case: usize| report["cases"][case]["metrics"].clone();
    assert_eq!(
        metrics(0),
        json!({"cost": 0.5, "input_tokens": 15.0, "requests": 2.0})
    );
    assert_eq!(
        metrics(1),
        json!({"cost": 0.75, "input_tokens": 20.0, "output_tokens": 3.0, "requests": 1.0})
    );
    let reason = "MaxModelRequests ✗: 2 model request(s) (from ctx.metrics['requests']), budget=1";
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines.contains(&reason), "{}", ended.stdout);
    assert_eq!(
        report["summary"]["assertions"]["MaxModelRequests"]["value"],
        0.5
    );
}

const HANDBOOK: &str = "\
name: handbook
cases:
- {name: found, inputs: q, expected_output: {relevant: {a: 1, c: 1}}}
- {name: silent, inputs: q, expected_output: {relevant: {a: 1}}}
- {name: unknown, inputs: q, expected_output: {answerable: false}}
evaluators:
- RankMeasures: [nDCG@10, RR@10]
- CitationPrecision
- CiteRate
- Refusal
";

#[test]
fn the_start_of_a_command_that_says_when_it_is_ready_is_no_time_of_a_case() {
    let sandbox = Sandbox::new();
    let cases =
        "cases:\n- {name: a, inputs: 1}\n- {name: b, inputs: 2}\nevaluators:\n- MaxDuration: 1.5\n";
    sandbox.write("cases.yaml", cases);
    let answer = "while read -r line; do echo '\"yes\"'; done";
    for (ready, passed) in [(r#"{"ready": true}"#, 1.0), ("", 0.0)] {
        let script = format!("sleep 2; echo '{ready}'; {answer}");
        sandbox.write("slow.sh", script);
        let mut command = sandbox.command("eval cases.yaml --no-progress --fresh");
        let ended = ended(command.args(["--target", "exec:sh slow.sh"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let is_shown = ended.stdout.contains("target (start)");
        assert_eq!(is_shown, !ready.is_empty(), "{}", ended.stdout);
        let report = report(&sandbox);
        let measured = &report["summary"]["assertions"]["MaxDuration"]["value"];
        assert_eq!(measured.as_f64(), Some(passed), "{}", ended.stdout);
    }
}

#[test]
fn a_wait_for_a_free_process_is_no_time_of_a_case() {
    let sandbox = Sandbox::new();
    let cases = "cases:\n- {inputs: 1}\n- {inputs: 2}\n- {inputs: 3}\n- {inputs: 4}\nevaluators:\n- MaxDuration: 2.5\n";
    sandbox.write("cases.yaml", cases);
    let script = r#"echo '{"ready": true}'; while read -r line; do sleep 1; echo '"yes"'; done"#;
    sandbox.write("slow.sh", script);
    let mut command = sandbox.command("eval cases.yaml --no-progress");
    command.args(["--target", "exec:sh slow.sh"]);
    command.args(["--set", "target.max_concurrency=1"]);
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&sandbox);
    let measured = &report["summary"]["assertions"]["MaxDuration"]["value"];
    assert_eq!(measured.as_f64(), Some(1.0), "{}", ended.stdout);
}

#[test]
fn the_time_of_a_reply_in_a_file_is_the_one_that_it_reports() {
    let sandbox = Sandbox::new();
    let cases = "cases:\n- {name: slow, inputs: 1}\n- {name: fast, inputs: 2}\n- {name: untimed, inputs: 3}\nevaluators:\n- MaxDuration: 2\n";
    sandbox.write("cases.yaml", cases);
    let replies = concat!(
        r#"{"id": "slow", "answer": "x", "latency_ms": 5000}"#,
        "\n",
        r#"{"id": "fast", "answer": "x", "latency_ms": 1999}"#,
        "\n",
        r#"{"id": "untimed", "answer": "x"}"#,
        "\n"
    );
    sandbox.write("replies.jsonl", replies);
    let mut command = sandbox.command("eval cases.yaml --no-progress");
    let ended = ended(command.args(["--target", "outputs:replies.jsonl"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&sandbox);
    let passed = |case: usize| report["cases"][case]["outcomes"][0]["value"]["assertion"].clone();
    assert_eq!(passed(0), false, "{report}");
    assert_eq!(passed(1), true, "{report}");
    let failure = &report["cases"][2]["evaluator_failures"][0]["message"];
    assert_eq!(
        failure,
        "how long the task took is not known: the reply has no time"
    );
}

#[test]
fn null_is_an_output_of_a_command_and_of_a_file() {
    let sandbox = Sandbox::new();
    let cases = "cases:\n- {name: a, inputs: 1}\nevaluators:\n- IsInstance: NoneType\n";
    sandbox.write("cases.yaml", cases);
    let replies = r#"{"id": "a", "answer": null}"#;
    sandbox.write("replies.jsonl", replies);
    for target in ["outputs:replies.jsonl", "exec:cat replies.jsonl"] {
        let mut command = sandbox.command("eval cases.yaml --no-progress");
        let ended = ended(command.args(["--target", target]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let report = report(&sandbox);
        let case = &report["cases"][0];
        assert_eq!(case["output"], Value::Null);
        let passed = &report["summary"]["assertions"]["IsInstance"]["value"];
        assert_eq!(passed.as_f64(), Some(1.0), "{report}");
    }
}

#[test]
fn documents_citations_and_refusals_beside_an_answer_are_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("handbook.yaml", HANDBOOK);
    let found = json!({
        "answer": "Two weeks.",
        "documents": [{"id": "b", "text": "…"}, {"id": "a"}, {"id": "c"}],
        "citations": ["c", "b", "a"],
    });
    let refused = json!({"answer": "Ask somebody else.", "documents": [], "refused": true});
    replies(
        &sandbox,
        &[
            ("found", found),
            ("silent", json!({"answer": "Two."})),
            ("unknown", refused),
        ],
    );
    let ended = against_replies(&sandbox, "handbook.yaml", "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&sandbox);
    let outcome = |case: usize, name: &str| {
        let outcomes = report["cases"][case]["outcomes"].as_array().unwrap();
        let named = outcomes.iter().find(|outcome| outcome["name"] == name);
        named
            .unwrap_or_else(|| panic!("no `{name}` in {outcomes:?}"))
            .clone()
    };
    // Found at ranks 2 and 3 of two relevant documents: (1 / log2 3 + 1 / log2 4) / (1 + 1 / log2 3).
    let log = 3_f64.log2();
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-6;
    let ndcg = outcome(0, "nDCG@10");
    assert!(
        close(
            &ndcg["value"]["score"],
            (1.0 / log + 0.5) / (1.0 + 1.0 / log)
        ),
        "{ndcg}"
    );
    assert_eq!(outcome(0, "RR@10")["value"], json!({"score": 0.5}));
    // Relevant citations at places 1 and 3: (1 / 1 + 2 / 3) / 2.
    let precision = outcome(0, "citation AP");
    assert!(
        close(&precision["value"]["score"], 5.0 / 6.0),
        "{precision}"
    );
    let passed = json!({"assertion": true});
    assert_eq!(outcome(0, "cited")["value"], passed);
    assert_eq!(outcome(2, "refusal precision")["value"], passed);
    assert_eq!(outcome(2, "refusal recall")["value"], passed);
    for name in ["nDCG@10", "RR@10"] {
        let undefined = outcome(1, name);
        assert_eq!(undefined["value"], "undefined");
        let reason = undefined["reason"].as_str();
        assert!(
            reason.is_some_and(|it| it.contains("documents")),
            "{undefined}"
        );
    }
}

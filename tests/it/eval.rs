//! `evaluations eval`: dataset files against commands, services and files of outputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::qa_server::KEY;
use crate::sandbox::{Ended, Sandbox, ended, json};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};

/// Three cases: one right, one wrong, one that the system cannot answer.
const CAPITALS: &str = "\
name: capitals
cases:
- name: france
  inputs: {country: France}
  expected_output: Paris
  metadata: {continent: Europe}
- name: kenya
  inputs: {country: Kenya}
  expected_output: Nairobi
  metadata: {continent: Africa}
  evaluators:
  - Contains: Nai
- inputs: {country: Atlantis}
evaluators:
- EqualsExpected
- IsInstance: str
report_evaluators:
- ConfusionMatrixEvaluator
";

/// Knows two capitals, and notes every question in `asked.txt`.
const SYSTEM: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '%s\n' "$id" >> asked.txt
    case "$id" in
        france*) reply='"answer":"Paris"' ;;
        kenya*) reply='"answer":"Mombasa","usage":{"input_tokens":3,"output_tokens":1}' ;;
        *) reply='"error":"not on the map"' ;;
    esac
    printf '{"id":"%s",%s}\n' "$id" "$reply"
done
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("capitals.yaml", CAPITALS);
    sandbox.write("system.sh", SYSTEM);
    sandbox
}

/// The command; its target has blanks, so it is an argument of its own.
fn command(sandbox: &Sandbox, options: &str) -> Command {
    let mut command = sandbox.command("eval capitals.yaml --no-progress");
    command.args(["--target", "exec:sh system.sh"]);
    command.args(options.split_whitespace());
    command
}

fn eval(sandbox: &Sandbox, options: &str) -> Ended {
    ended(&mut command(sandbox, options))
}

fn newest(sandbox: &Sandbox) -> PathBuf {
    sandbox.runs().pop().unwrap()
}

fn report(sandbox: &Sandbox) -> Value {
    json(&newest(sandbox).join("report.json"))
}

fn asked(sandbox: &Sandbox) -> Vec<String> {
    let asked = fs::read_to_string(sandbox.work().join("asked.txt")).unwrap_or_default();
    let mut asked: Vec<String> = asked.lines().map(str::to_owned).collect();
    asked.sort_unstable();
    asked
}

/// Writes `replies.sh`, which has a fixed reply to each case.
fn replies(sandbox: &Sandbox, replies: &[(&str, Value)]) {
    let mut branches = Vec::new();
    for (id, reply) in replies {
        let mut reply = reply.clone();
        reply["id"] = json!(id);
        branches.push(format!(
            "        *'\"id\":\"{id}\"'*) printf '%s\\n' '{reply}' ;;"
        ));
    }
    let branches = branches.join("\n");
    let script =
        format!("while IFS= read -r line; do\n    case \"$line\" in\n{branches}\n    esac\ndone\n");
    sandbox.write("replies.sh", script);
}

/// Runs a dataset file against `replies.sh`.
fn against_replies(sandbox: &Sandbox, file: &str, options: &str) -> Ended {
    let mut command = sandbox.command(&format!("eval {file} --no-progress {options}"));
    ended(command.args(["--target", "exec:sh replies.sh"]))
}

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
    let other = "read -r line; echo false";
    let not = json!({"Not": {"evaluator": {"Exec": other}}});
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
        for command in [grade, other] {
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
fn stored_runs_of_dataset_files_are_runs_like_others() {
    let sandbox = sandbox();
    eval(&sandbox, "");
    let listed = sandbox.succeed("runs");
    assert!(
        listed.contains("capitals  eval       exec     3      all assertions 0.6000"),
        "{listed}"
    );
    let shown = sandbox.succeed("runs show latest");
    assert!(shown.contains("target: exec:sh system.sh"), "{shown}");
    sandbox.succeed("report latest --out again.csv --out again.pydantic.json");
    let again = fs::read_to_string(sandbox.work().join("again.csv")).unwrap();
    assert!(again.contains("\r\nkenya,1,,,"), "{again}");

    let better = SYSTEM.replace("Mombasa", "Nairobi");
    sandbox.write("system.sh", better);
    eval(&sandbox, "");
    let compared = sandbox.succeed("compare");
    let row = compared.lines().find(|line| line.starts_with("Contains "));
    assert!(
        row.is_some_and(|row| row.contains("0.0000  1.0000")),
        "{compared}"
    );
    let table = sandbox.succeed("table --run latest");
    let row = table
        .lines()
        .find(|line| line.contains("exec:sh system.sh"));
    assert!(
        row.is_some_and(|row| row.contains("| 3 | 1 | 1.0000 |")),
        "{table}"
    );
    // A lone report is of a dataset file if it says so.
    fs::copy(
        newest(&sandbox).join("report.json"),
        sandbox.work().join("copy.json"),
    )
    .unwrap();
    let shown = sandbox.succeed("runs show ./copy.json");
    assert!(shown.contains("target: exec:sh system.sh"), "{shown}");
}

#[test]
fn the_report_of_pydantic_evals_is_written() {
    let sandbox = sandbox();
    eval(&sandbox, "--out report.pydantic.json");
    let report = json(&sandbox.work().join("report.pydantic.json"));
    assert_eq!(report["name"], "capitals_eval");
    let case = &report["cases"][1];
    assert_eq!(case["assertions"]["Contains"]["value"], false);
    assert_eq!(
        case["assertions"]["Contains"]["source"],
        json!({"name": "Contains", "arguments": ["Nai"]})
    );
    assert_eq!(report["failures"][0]["name"], "Case 3");
    // Only a dataset file has such a report.
    let message = sandbox.refuse("run sample --skip-qa --out report.pydantic.json");
    assert!(
        message.contains("only runs of `evaluations eval`"),
        "{message}"
    );
}

#[test]
fn cases_are_chosen_by_id_metadata_and_number() {
    for (options, expected) in [
        ("--case kenya", vec!["kenya"]),
        ("--filter-case continent=Europe", vec!["france"]),
        ("--limit 2", vec!["france", "kenya"]),
        ("--case kenya --repeat 2", vec!["kenya", "kenya#2"]),
    ] {
        let sandbox = sandbox();
        let ended = eval(&sandbox, options);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(asked(&sandbox), expected, "{options}");
    }
    let unknown = eval(&sandbox(), "--case kenia");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("did you mean `kenya`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn the_cases_that_failed_or_got_worse_run_again() {
    let sandbox = sandbox();
    sandbox.write("system.sh", SYSTEM.replace("Mombasa", "Nairobi"));
    eval(&sandbox, "");
    let before = newest(&sandbox);
    sandbox.write("system.sh", SYSTEM);
    eval(&sandbox, "--name later");
    for (options, expected, why) in [
        (
            "--only failed --from later",
            vec!["Case 3", "kenya"],
            "failed in",
        ),
        ("--only worse --from later", vec!["kenya"], "worse in"),
    ] {
        fs::remove_file(sandbox.work().join("asked.txt")).unwrap();
        let ended = eval(&sandbox, options);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(asked(&sandbox), expected, "{options}");
        let fact = format!("cases: {} of 3 ({why} ", expected.len());
        assert!(ended.stderr.contains(&fact), "{}", ended.stderr);
        assert!(ended.stdout.contains(&fact), "{}", ended.stdout);
    }
    let before = before.file_name().unwrap().to_string_lossy().into_owned();
    let against = eval(
        &sandbox,
        &format!("--only worse --from later --against {before}"),
    );
    assert!(
        against.stdout.contains(&format!("than in {before})")),
        "{}",
        against.stdout
    );
    let nothing = eval(
        &sandbox,
        &format!("--only worse --from {before} --against later"),
    );
    assert_eq!(nothing.code, Some(2));
    assert!(
        nothing.stderr.contains("no case got worse in"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn a_choice_of_cases_is_part_of_what_a_run_is() {
    let sandbox = sandbox();
    eval(&sandbox, "--filter-case continent=Africa");
    let manifest = json(&newest(&sandbox).join("manifest.json"));
    assert_eq!(
        manifest["dataset"]["selection"]["by"],
        json!(["continent=Africa"])
    );
    assert_eq!(manifest["dataset"]["questions"], 1);
    let facts = report(&sandbox)["metadata"]["facts"].to_string();
    assert!(facts.contains("1 of 3 (continent=Africa)"), "{facts}");
    eval(&sandbox, "--case kenya");
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn measures_are_broken_down_by_metadata() {
    let sandbox = sandbox();
    let ended = eval(&sandbox, "--group-by continent --cases 0");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("EqualsExpected (pass rate) by continent"),
        "{}",
        ended.stdout
    );
    let report = report(&sandbox);
    let groups = report["summary"]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{groups:?}");
    let shown = sandbox.succeed("runs show latest --group-by continent");
    assert!(
        shown.contains("EqualsExpected (pass rate) by continent"),
        "{shown}"
    );
    for (options, message) in [
        (
            "--group-by contient",
            "error: `--group-by contient`: cases have no `contient`; known are `continent`; did you mean `continent`?\n",
        ),
        (
            "--filter-case contient=Asia",
            "error: `--filter-case contient=Asia`: cases have no `contient`; known are `continent`; did you mean `continent`?\n",
        ),
        (
            "--filter-case continent=Asia",
            "error: no case fits `continent=Asia`; the values of `continent` are `(none)`, `Africa`, `Europe`\n",
        ),
    ] {
        let refused = eval(&sandbox, options);
        assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), message));
    }
    assert_eq!(sandbox.runs().len(), 1);
}

#[test]
fn an_estimate_asks_nothing() {
    let sandbox = sandbox();
    let ended = eval(&sandbox, "--estimate --repeat 2");
    assert_eq!(
        ended.stdout,
        "6 requests to `exec:sh system.sh`\nno calls of judges\n"
    );
    assert!(asked(&sandbox).is_empty() && sandbox.runs().is_empty());
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

pub(crate) const JUDGED: &str = "\
name: judged
cases:
- {name: a, inputs: x}
- {name: b, inputs: y}
evaluators:
- LLMJudge: {rubric: The output is polite., include_input: true}
";

/// Settings with a judge behind the server.
pub(crate) fn with_judge(sandbox: &Sandbox, server: &ScriptedServer) {
    let settings = json!({
        "evaluations": {"judge": {"provider": "openai", "name": "judge"}},
        "providers": {"openai": {"base_url": server.openai_url(), "api_key_env": "TOWERS_KEY"}},
        "prices": {"judge": {"input": 1.0, "output": 2.0}},
    });
    sandbox.write("settings.yaml", settings.to_string());
    sandbox.write("judged.yaml", JUDGED);
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"a\", \"answer\": \"Thank you.\"}\n{\"id\": \"b\", \"answer\": \"Go away.\"}\n",
    );
}

/// A judge that passes outputs that thank.
pub(crate) fn polite_judge() -> ScriptedServer {
    rubric_judge(|asked| asked.contains("Thank you."))
}

/// A judge that passes an output if the condition on the messages that ask for its verdict holds.
pub(crate) fn rubric_judge(
    passes: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        let asked = request.body["messages"].to_string();
        let nonce = asked.split("\\\"id\\\": \\\"").nth(1).unwrap();
        let nonce = nonce.split('\\').next().unwrap();
        let polite = passes(&asked);
        let verdict = json!({
            "reason": if polite { "it thanks" } else { "it is rude" },
            "id": nonce, "pass": polite, "score": if polite { 1.0 } else { 0.0 },
        });
        Reaction::Say(Saying {
            after: Duration::ZERO,
            ..Saying::of(&verdict.to_string())
        })
    })
}

pub(crate) fn judged(sandbox: &Sandbox, options: &str) -> Ended {
    let line = format!(
        "eval judged.yaml --target outputs:outputs.jsonl --config settings.yaml --no-progress {options}"
    );
    let mut command = sandbox.command(&line);
    ended(command.env("TOWERS_KEY", KEY))
}

#[test]
fn a_model_judges_by_rubric_and_is_not_paid_twice() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    let estimated = judged(&sandbox, "--estimate");
    assert!(
        estimated.stdout.contains("2 calls of openai:judge"),
        "{estimated:?}"
    );
    let ended = judged(&sandbox, "--reasons");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("LLMJudge ✗: it is rude"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("judging: openai:judge, "),
        "{}",
        ended.stdout
    );
    let calls = server.received_at("/chat/completions").len();
    assert_eq!(calls, 2);
    let report = report(&sandbox);
    assert!(report["metadata"]["costs"]["cost"].as_f64().unwrap() > 0.0);
    assert_eq!(report["evaluators"][0]["name"], "LLMJudge");

    judged(&sandbox, "--fresh");
    assert_eq!(server.received_at("/chat/completions").len(), calls);
    let files = fs::read_to_string(newest(&sandbox).join("manifest.json")).unwrap();
    assert!(!files.contains(KEY));
}

#[test]
fn a_prompt_of_ones_own_asks_the_judge_and_makes_another_run() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    judged(&sandbox, "");
    let calls = || server.received_at("/chat/completions");
    assert_eq!(calls().len(), 2);
    let bundled = sandbox.succeed("config prompts rubric");
    std::fs::create_dir(sandbox.work().join("prompts")).unwrap();
    sandbox.write("prompts/rubric.md.jinja", format!("Be strict.\n{bundled}"));
    let listed = sandbox.succeed("config prompts");
    let of = |name: &str| listed.lines().find(|it| it.starts_with(name)).unwrap();
    assert!(
        of("rubric.md.jinja").ends_with("prompts/rubric.md.jinja"),
        "{listed}"
    );
    assert!(of("g-eval.md.jinja").ends_with("bundled"), "{listed}");

    let message = sandbox.refuse("config prompts rubrik");
    assert!(
        message.contains("no prompt is called `rubrik`"),
        "{message}"
    );

    let ended = judged(&sandbox, "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let asked = calls();
    assert_eq!(asked.len(), 4);
    let message = asked[3].body["messages"][0]["content"].as_str().unwrap();
    assert!(message.starts_with("Be strict.\nYou judge"), "{message}");
    let folder = newest(&sandbox);
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap();
    let digest = manifest["prompts"]["rubric.md.jinja"].as_str().unwrap();
    assert!(of("rubric.md.jinja").contains(&digest[..12]), "{listed}");
    let version = format!("prompt {}", &digest[..12]);
    assert_eq!(report(&sandbox)["evaluators"][0]["version"], json!(version));

    sandbox.write("prompts/rubric.md.jinja", "{% if %}");
    let refused = judged(&sandbox, "");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("cannot use prompt `"),
        "{}",
        refused.stderr
    );
}

#[test]
fn credentials_of_a_judge_in_the_file_reach_its_server_and_no_report() {
    const SECRET: &str = "hunter2-hunter2";
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    let settings = format!("model_settings: {{extra_body: {{top_k: 3, api_key: {SECRET}}}}}");
    let file = JUDGED.replace("include_input: true", &settings);
    sandbox.write("judged.yaml", file);
    let ended = judged(&sandbox, "--out r.pydantic.json --out r.json --out r.md");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for request in server.received_at("/chat/completions") {
        assert_eq!(request.body["api_key"], SECRET);
    }
    let stored = ["manifest.json", "journal.jsonl", "report.json", "report.md"];
    let stored = stored.map(|name| newest(&sandbox).join(name));
    let written = ["r.pydantic.json", "r.json", "r.md"].map(|name| sandbox.work().join(name));
    for path in stored.iter().chain(&written) {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains(SECRET), "{}", path.display());
    }
    let spec = &report(&sandbox)["evaluators"][0]["spec"];
    let settings = &spec["arguments"]["model_settings"]["extra_body"];
    assert_eq!(*settings, json!({"top_k": 3, "api_key": "[redacted]"}));
}

#[test]
fn settings_of_a_judge_in_the_file_are_those_of_pydantic_ai() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    let settings = "model_settings: {stop_sequences: [END], service_tier: flex, tool_choice: auto}";
    sandbox.write(
        "judged.yaml",
        JUDGED.replace("include_input: true", settings),
    );
    let ended = judged(&sandbox, "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let warning = "`LLMJudge`: not sent to this judge: `tool_choice` of `model_settings`";
    assert!(ended.stderr.contains(warning), "{}", ended.stderr);
    for request in server.received_at("/chat/completions") {
        assert_eq!(request.body["stop"], json!(["END"]));
        assert_eq!(request.body["service_tier"], "flex");
        assert_eq!(request.body.get("tool_choice"), None);
    }

    let headers = "model_settings: {extra_headers: {x-team: a}}";
    sandbox.write(
        "judged.yaml",
        JUDGED.replace("include_input: true", headers),
    );
    for refused in [
        judged(&sandbox, "").stderr,
        sandbox.run("validate judged.yaml").stdout,
    ] {
        let start = "judged.yaml:";
        let reason = "`LLMJudge`: `model_settings.extra_headers` cannot be sent";
        assert!(
            refused.contains(start) && refused.contains(reason),
            "{refused}"
        );
    }
}

#[test]
fn a_judge_of_an_unknown_provider_is_found_in_its_file() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    let named = |model: &str| {
        let model = format!("model: '{model}'");
        JUDGED.replace("include_input: true", &model)
    };
    sandbox.write("judged.yaml", named("anthropic:claude-sonnet-4-6"));
    let ended = judged(&sandbox, "--judge openai:gpt-x");
    assert_eq!(ended.code, Some(2));
    let validated = sandbox.run("validate judged.yaml");
    assert_eq!(validated.code, Some(0), "{}", validated.stdout);
    for text in [&ended.stderr, &validated.stdout] {
        for part in [
            "judged.yaml:",
            "`LLMJudge` names the model `anthropic:claude-sonnet-4-6`",
            "known are `ollama`, `openai`",
            "name the judge with `--judge PROVIDER:NAME`",
        ] {
            assert!(text.contains(part), "`{part}` in {text}");
        }
        assert!(!text.contains("`--judge openai:gpt-x`"), "{text}");
    }

    sandbox.write("judged.yaml", named("openai-chat:gpt-x"));
    let ended = judged(&sandbox, "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let asked = server.received_at("/chat/completions");
    assert!(
        asked.iter().all(|request| request.body["model"] == "gpt-x"),
        "{asked:?}"
    );
    assert!(!asked.is_empty());
}

#[test]
fn a_system_is_not_asked_again_because_its_judge_failed() {
    let server = ScriptedServer::start(|_, _| Reaction::Status(503, Vec::new(), Vec::new()));
    let sandbox = sandbox();
    sandbox.write("system.sh", SYSTEM.replace("\"error\":", "\"answer\":"));
    with_judge(&sandbox, &server);
    let line = "eval judged.yaml --config settings.yaml --set providers.openai.max_attempts=1 --no-progress";
    let run = || {
        let mut command = sandbox.command(line);
        command.args(["--target", "exec:sh system.sh"]);
        ended(command.env("TOWERS_KEY", KEY))
    };
    let first = run();
    assert_eq!(first.code, Some(1), "{}", first.stderr);
    for expected in [
        "run the same command again to retry",
        "warning: the evaluator `LLMJudge` failed in all of its cases; see the report for the reasons",
    ] {
        assert!(first.stderr.contains(expected), "{}", first.stderr);
    }
    let again = run();
    assert!(
        again.stderr.contains("2 replies recorded"),
        "{}",
        again.stderr
    );
    assert_eq!(asked(&sandbox), ["a", "b"]);
}

#[test]
fn an_evaluator_that_fails_in_all_of_its_cases_ends_in_exit_code_1() {
    const BROKEN: &str = "- Exec: sh broken.sh";
    let sandbox = sandbox();
    sandbox.write("broken.sh", SYSTEM.replace("\"answer\"", "\"error\""));
    // Beside the evaluators of every case, in the place of that of one case, and alone.
    let beside = CAPITALS.replace("- IsInstance: str", BROKEN);
    let own = CAPITALS.replace("- Contains: Nai", BROKEN);
    let alone = beside
        .replace("- EqualsExpected\n", "")
        .replace("- Contains: Nai", BROKEN);
    for (file, state) in [
        (CAPITALS, "finished"),
        (&beside, "2 evaluations failed"),
        (&own, "1 evaluation failed"),
        (&alone, "failed, no evaluator gave a value"),
    ] {
        sandbox.write("capitals.yaml", file);
        let ended = eval(&sandbox, "");
        let says = "warning: the evaluator `Exec` failed in all of its cases; see the report for the reasons";
        let is_broken = file != CAPITALS;
        assert_eq!(
            ended.code,
            Some(i32::from(is_broken)),
            "{state}: {}",
            ended.stderr
        );
        assert_eq!(
            ended.stderr.contains("failed in all of"),
            is_broken,
            "{state}: {}",
            ended.stderr
        );
        if state != "failed, no evaluator gave a value" {
            assert_eq!(
                ended.stderr.contains(says),
                is_broken,
                "{state}: {}",
                ended.stderr
            );
            let passed = &report(&sandbox)["summary"]["assertions"]["EqualsExpected"];
            assert_eq!(passed["value"], 0.5, "the others have measured: {state}");
        }
        let listed = sandbox.succeed("runs");
        assert!(listed.contains(state), "{state}: {listed}");
    }
}

#[test]
fn evaluators_without_a_chat_model_are_refused_before_the_run() {
    let sandbox = sandbox();
    sandbox.write("judged.yaml", JUDGED);
    let message = sandbox.refuse("eval judged.yaml --target exec:cat");
    assert!(
        message.starts_with(
            "error: judged.yaml:6:3: `LLMJudge` needs a chat model, and `embedded:overlap` is none;"
        ),
        "{message}"
    );
    let named = JUDGED.replace("include_input: true", "model: gpt-5");
    sandbox.write("judged.yaml", named);
    let message = sandbox.refuse("eval judged.yaml --target exec:cat");
    assert!(message.contains("write `PROVIDER:NAME`"), "{message}");
    let strange = JUDGED.replace(
        "include_input: true",
        "model: 'ollama:m', model_settings: {warmth: 1}",
    );
    sandbox.write("judged.yaml", strange);
    let message = sandbox.refuse("eval judged.yaml --target exec:cat");
    assert!(
        message.contains("`model_settings.warmth` is not supported"),
        "{message}"
    );
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_file_or_a_target_that_cannot_be_used_is_refused() {
    let sandbox = sandbox();
    for (line, expected) in [
        (
            "eval missing.yaml --target exec:cat",
            "error: cannot read `missing.yaml`",
        ),
        (
            "eval capitals.txt --target exec:cat",
            "is no dataset file by its name",
        ),
        (
            "eval capitals.yaml",
            "`capitals.yaml` does not say what to test; name it with `--target`",
        ),
        (
            "eval capitals.yaml --target python",
            "`python` names no target",
        ),
        (
            "eval capitals.yaml --target outputs:none.jsonl",
            "none.jsonl",
        ),
        (
            "eval capitals.yaml --target exec:cat --out x.xlsx",
            "cannot tell the format",
        ),
        (
            "eval capitals.yaml --target exec:cat --limit 0",
            "has to be at least 1",
        ),
    ] {
        let message = sandbox.refuse(line);
        assert!(message.contains(expected), "`{line}` printed {message}");
    }
    sandbox.write(
        "bad.yaml",
        "name: x\ncases:\n- inputs: 1\n  evalutors: []\nevaluators: [Equls: 1, Contains: {}]\n",
    );
    let message = sandbox.refuse("eval bad.yaml --target exec:cat");
    let places: Vec<&str> = message.split("bad.yaml:").skip(1).collect();
    assert_eq!(places.len(), 3, "{message}");
    assert!(message.contains("did you mean `Equals`?"), "{message}");
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_target_that_does_not_work_ends_in_a_message() {
    for (system, code, expected) in [
        ("exit 3", 1, "exited with status 3"),
        ("no-such-command-here", 2, "the shell cannot find or run"),
        ("while read -r line; do echo '<html>'; done", 1, "<html>"),
        (
            "while read -r line; do echo '{\"status\": \"ok\"}'; done",
            1,
            "status",
        ),
    ] {
        let sandbox = sandbox();
        sandbox.write("system.sh", system);
        let ended = eval(&sandbox, "--case france");
        assert_eq!(ended.code, Some(code), "{system}: {ended:?}");
        let everything = ended.stdout + &ended.stderr;
        assert!(everything.contains(expected), "{system}: {everything}");
    }
}

#[test]
fn the_target_of_the_file_is_asked_unless_an_option_names_another() {
    let sandbox = sandbox();
    let with_target = format!("{CAPITALS}target: 'exec:sh system.sh'\n");
    sandbox.write("capitals.yaml", with_target);
    let named = sandbox.run("eval capitals.yaml --no-progress");
    let printed = named.stdout;
    assert!(printed.contains("target: exec:sh system.sh"), "{printed}");
    let note = "capitals.yaml runs a command as the target: `sh system.sh`\n";
    assert!(named.stderr.contains(note), "{}", named.stderr);
    let chosen = eval(&sandbox, "");
    assert!(
        !chosen.stderr.contains("runs a command"),
        "{}",
        chosen.stderr
    );
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"france\", \"answer\": \"Paris\"}\n",
    );
    let printed = sandbox
        .succeed("eval capitals.yaml --no-progress --task outputs:outputs.jsonl --case france");
    assert!(printed.contains("target: outputs:"), "{printed}");
}

#[test]
fn cases_that_a_file_of_outputs_lacks_are_named_before_they_fail() {
    let sandbox = sandbox();
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"france\", \"answer\": \"Paris\"}\n{\"id\": \"spain\", \"answer\": \"Madrid\"}\n",
    );
    let line = "eval capitals.yaml --no-progress --target outputs:outputs.jsonl";
    let Ended { stderr, .. } = ended(&mut sandbox.command(line));
    assert!(stderr.contains("none of this run's cases"), "{stderr}");
    assert!(stderr.contains("has no reply to "), "{stderr}");
}

#[cfg(unix)]
mod unix {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// The lines of a running command, as they come.
    fn lines(reader: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        lines
    }

    fn wait_for(lines: &mpsc::Receiver<String>, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let line = lines.recv_timeout(Duration::from_mins(1));
            let line = line.unwrap_or_else(|_| panic!("no `{text}` in {seen:?}"));
            let is_found = line.contains(text);
            seen.push(line);
            if is_found {
                return seen;
            }
        }
    }

    #[test]
    fn watching_runs_again_and_shows_what_changed() {
        let sandbox = sandbox();
        let mut watching = command(&sandbox, "--watch");
        watching.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watching = watching.spawn().unwrap();
        let notes = lines(watching.stderr.take().unwrap());
        let printed = lines(watching.stdout.take().unwrap());
        // The system writes `asked.txt` during the run, which is a change the first time.
        wait_for(&notes, "waiting for changes");
        sandbox.write(".capitals.yaml.swp", "x");
        sandbox.write("system.sh", SYSTEM.replace("Mombasa", "Nairobi"));
        wait_for(&notes, "`system.sh` changed; running again");
        let seen = wait_for(&printed, "Contains (pass rate)        0.0000  1.0000");
        assert!(
            seen.iter().any(|line| line.starts_with("before: ")),
            "{seen:?}"
        );
        wait_for(&notes, "waiting for changes");
        sandbox.write("capitals.yaml", "name: [");
        wait_for(&notes, "error: ");
        wait_for(&notes, "waiting for changes");
        let process = process_id(&watching);
        let killed = Command::new("kill").args(["-INT", &process]).status();
        assert!(killed.unwrap().success());
        assert_eq!(watching.wait().unwrap().code(), Some(130));
    }

    fn process_id(child: &std::process::Child) -> String {
        child.id().to_string()
    }

    #[test]
    fn an_interrupted_run_resumes_without_asking_again() {
        let sandbox = sandbox();
        let slow = SYSTEM.replace(
            "case \"$id\" in",
            "[ \"$id\" = france ] || sleep ${SLOW:-0}\n    case \"$id\" in",
        );
        sandbox.write("system.sh", slow);
        let mut running = command(&sandbox, "--concurrency 1");
        running
            .env("SLOW", "30")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut running = running.spawn().unwrap();
        let asked_both = || asked(&sandbox).len() == 2;
        crate::sandbox::wait_for("the second question", asked_both);
        for _ in 0..2 {
            let _ = Command::new("kill")
                .args(["-INT", &process_id(&running)])
                .status();
            thread::sleep(Duration::from_millis(300));
        }
        assert_eq!(running.wait().unwrap().code(), Some(130));
        let ended = eval(&sandbox, "--concurrency 1");
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains("1 case done"), "{}", ended.stderr);
        assert_eq!(asked(&sandbox), ["Case 3", "france", "kenya", "kenya"]);
    }
}

//! Dataset files whose outputs a model judges.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{CAPITALS, SYSTEM, asked, eval, newest, report, sandbox};
use crate::qa_server::KEY;
use crate::sandbox::{Ended, Sandbox, ended};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};

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
            "error: judged.yaml:6:3: `LLMJudge` needs a chat model, and `embedded:overlap` is not one;"
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

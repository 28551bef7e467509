//! Credentials only reach servers: never the files of a run, the caches or the terminal.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::qa_server::{self, KEY, is_judging};
use crate::sandbox::{Ended, Sandbox, ended};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

/// A sandbox with a folder for reports.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("out")).unwrap();
    sandbox
}

/// Every file below the data folder and the folder of reports.
fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut folders = vec![sandbox.data(), sandbox.work().join("out")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// Asserts that no secret is in the output or in a file.
fn hidden(sandbox: &Sandbox, ended: &Ended, secrets: &[&str]) {
    for secret in secrets {
        for printed in [&ended.stdout, &ended.stderr] {
            assert!(
                !printed.contains(secret),
                "`{secret}` was printed:\n{printed}"
            );
        }
        for path in files(sandbox) {
            assert!(!holds(&path, secret), "`{secret}` is in {}", path.display());
        }
    }
}

fn holds(path: &Path, secret: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    let mut windows = bytes.windows(secret.len());
    windows.any(|window| window == secret.as_bytes())
}

const REPORTS: &str = "--out out/r.json --out out/r.jsonl --out out/r.md --out out/r.csv";

/// Repeats `shown` in every text of a reply or an error.
fn parrot(request: &Received, shown: &str) -> Reaction {
    if request.path.ends_with("/models") {
        return Reaction::json(
            200,
            &json!({"data": [{"id": "answerer", "root": shown}, {"id": "judge", "root": shown}]}),
        );
    }
    let prompt = request.body["messages"].to_string();
    if prompt.contains("district 1007?") && !is_judging(request) {
        return Reaction::json(
            400,
            &json!({"error": {"message": format!("no, {shown}"), "type": shown}}),
        );
    }
    let (text, finish) = if is_judging(request) {
        let verdict = json!({"reason": format!("it says {shown}"), "pass": true});
        (verdict.to_string(), "stop".to_owned())
    } else {
        (
            format!("The first passage says {shown}. [1]"),
            format!("ended with {shown}"),
        )
    };
    Reaction::json(
        200,
        &json!({"choices": [{"message": {"content": text, "reasoning": shown}, "finish_reason": finish}]}),
    )
}

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_stored() {
    let sandbox = sandbox();
    let server =
        ScriptedServer::start(|request, _| parrot(request, &request.headers["authorization"]));
    qa_server::write(&sandbox, 4, &server);
    let run = ended(&mut qa_server::command(&sandbox, &format!("-v {REPORTS}")));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = fs::read_to_string(sandbox.work().join("out/r.json")).unwrap();
    for place in [
        "The first passage says Bearer [redacted]",
        "it says Bearer [redacted]",
        "no, Bearer [redacted]",
    ] {
        assert!(report.contains(place), "no `{place}` in\n{report}");
    }
    hidden(&sandbox, &run, &[KEY]);
    assert!(files(&sandbox).iter().any(|path| holds(path, "[redacted]")));
    let again = ended(&mut qa_server::command(
        &sandbox,
        &format!("--fresh {REPORTS}"),
    ));
    hidden(&sandbox, &again, &[KEY]);
}

#[test]
fn a_password_in_an_address_is_hidden_in_every_form() {
    let secrets = ["p%40ss-word-1", "p@ss-word-1", "bWU6cEBzcy13b3JkLTE"];
    let sandbox = sandbox();
    let server = ScriptedServer::start(|request, _| {
        let shown = format!(
            "{} p@ss-word-1 p%40ss-word-1",
            request.headers["authorization"]
        );
        match request.path.as_str() {
            "/api/chat" if is_judging(request) => Reaction::json(
                200,
                &json!({"message": {"content": json!({"reason": shown, "pass": true}).to_string()}, "done": true, "done_reason": "stop"}),
            ),
            "/api/chat" => Reaction::json(
                200,
                &json!({"message": {"content": format!("It says {shown} [1]"), "thinking": shown}, "done": true, "done_reason": shown}),
            ),
            "/api/tags" => Reaction::json(
                200,
                &json!({"models": [{"name": "answerer:latest", "digest": shown}]}),
            ),
            _ => Reaction::Sound,
        }
    });
    qa_server::write(&sandbox, 2, &server);
    let url = server
        .ollama_url()
        .replace("http://", "http://me:p%40ss-word-1@");
    let line = format!(
        "run towers.yaml -v --profile bm25 --model ollama:answerer --judge ollama:judge {REPORTS} \
         --set providers.ollama.base_url={url} --set=search.limit=2"
    );
    let run = ended(&mut sandbox.command(&line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(server.received_at("/api/chat")[0].headers["authorization"].starts_with("Basic "));
    hidden(&sandbox, &run, &secrets);
}

#[test]
fn further_fields_are_sent_whole_and_stored_without_credentials() {
    let secret = "hunter2-and-more";
    let sandbox = sandbox();
    let server = ScriptedServer::start(|request, _| {
        let token = request.body["auth_token"].as_str().unwrap_or("none");
        parrot(request, token)
    });
    qa_server::write(&sandbox, 3, &server);
    let assignment = format!("qa.model.extra_body={{auth_token: {secret}, top_k: 5}}");
    let mut command = qa_server::command(&sandbox, REPORTS);
    let run = ended(command.args(["--set", &assignment]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        server
            .received_at("/chat/completions")
            .iter()
            .any(|it| it.body["auth_token"] == secret)
    );
    hidden(&sandbox, &run, &[secret]);
    let manifest = fs::read_to_string(sandbox.runs()[0].join("manifest.json")).unwrap();
    assert!(manifest.contains(r#""top_k": 5"#), "{manifest}");

    let mut command = qa_server::with_settings(&sandbox, "config show");
    let shown = ended(command.args(["--set", &assignment]));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("[redacted]"), "{}", shown.stdout);
    hidden(&sandbox, &shown, &[secret]);
}

#[test]
fn an_error_does_not_repeat_a_credential() {
    let secret = "hunter2-and-more";
    let sandbox = sandbox();
    for argument in [
        format!("--set providers.openai.api_key={secret}"),
        format!("--set=providers.openai.api_kye={secret}"),
        format!("--set providers.openai={{api_key:{secret}}}"),
        format!("--set qa.model.api_key_env=sk-{secret}"),
        format!("--set providers.openai=sk-{secret}"),
        format!("--set providers.ollama.base_url=ftp://me:{secret}@host/"),
        format!("--db s3://id:{secret}@bucket/folder"),
        format!("--db s3://id:with/{secret}@bucket/folder"),
        format!("--db az://id:{secret}@bucket/folder"),
        format!("--db gs://id:{secret}@bucket/folder"),
    ] {
        let model = "--model ollama:m --judge ollama:m";
        let run = sandbox.run(&format!("sample --limit 1 {model} {argument}"));
        assert_eq!(run.code, Some(2), "{argument}: {}", run.stderr);
        hidden(&sandbox, &run, &[secret]);
    }
    sandbox.write(
        "keys.yaml",
        format!("providers:\n  openai:\n    api_key: {secret}\n"),
    );
    let run = sandbox.run("sample --config keys.yaml");
    assert!(
        run.stderr
            .contains("keys.yaml:3: unknown setting `providers.openai.api_key`"),
        "{}",
        run.stderr
    );
    hidden(&sandbox, &run, &[secret]);
}

#[test]
fn an_object_store_that_repeats_the_session_token_does_not_get_it_printed() {
    let token = "FwoGZXIvYXdz/Session+Token0451==";
    let sandbox = sandbox();
    let server = ScriptedServer::start(|request, _| {
        let token = &request.headers["x-amz-security-token"];
        let message = format!("The token {token} has expired, says the store");
        let xml = format!("<Error><Code>ExpiredToken</Code><Message>{message}</Message></Error>");
        Reaction::body(400, xml)
    });
    let line =
        "sample --skip-qa --limit 1 --profile bm25 --set store.retry_for=0 --db s3://bucket/db";
    for (variable, more) in [
        ("AWS_SESSION_TOKEN", ""),
        ("MINE", " --set store.token_env=MINE"),
    ] {
        for line in [line, "doctor --db s3://bucket/db --set store.retry_for=0"] {
            let mut command = sandbox.command(&format!("{line}{more}"));
            command
                .env("AWS_ENDPOINT_URL", server.ollama_url())
                .env("AWS_REGION", "us-east-1")
                .env("AWS_ACCESS_KEY_ID", "local-reader")
                .env("AWS_SECRET_ACCESS_KEY", "correct-horse-battery-0451")
                .env(variable, token);
            let run = ended(&mut command);
            assert_ne!(run.code, Some(0), "{run:?}");
            let printed = format!("{}{}", run.stdout, run.stderr);
            let reason = "The token [redacted] has expired, says the store";
            assert!(printed.contains(reason), "{printed}");
            hidden(&sandbox, &run, &[token, "correct-horse-battery-0451"]);
        }
    }
}

#[test]
fn a_target_that_names_a_fact_by_the_key_does_not_get_it_stored() {
    let sandbox = sandbox();
    let server = ScriptedServer::start(|request, _| {
        let name = format!("sent {}", request.headers["x-api-key"]);
        Reaction::json(
            200,
            &json!({
                "answer": "The first passage.", "attributes": {&name: {&name: 1}}, "metrics": {&name: 2.5},
                "tool_calls": [{"name": "search", "arguments": {&name: "x"}}],
            }),
        )
    });
    let settings = json!({"target": {
        "address": format!("{}/ask", server.ollama_url()), "headers": {"X-Api-Key": "${TARGET_KEY}"},
    }});
    sandbox.write("settings.yaml", settings.to_string());
    let line = format!("sample --skip-retrieval --limit 2 --config settings.yaml {REPORTS}");
    let run = ended(sandbox.command(&line).env("TARGET_KEY", KEY));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    hidden(&sandbox, &run, &[KEY]);
    let report = fs::read_to_string(sandbox.work().join("out/r.json")).unwrap();
    assert!(report.contains(r#""sent [redacted]": 2.5"#), "{report}");
}

#[test]
fn a_short_placeholder_for_a_key_is_not_redacted() {
    let sandbox = sandbox();
    let server = qa_server::right(std::time::Duration::ZERO);
    qa_server::write(&sandbox, 2, &server);
    let run = ended(qa_server::command(&sandbox, REPORTS).env("TOWERS_KEY", "passage"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = fs::read_to_string(sandbox.work().join("out/r.json")).unwrap();
    assert!(report.contains("The first passage says so."), "{report}");
}

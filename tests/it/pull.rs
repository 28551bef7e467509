//! `--pull`, and the models that `doctor` lists.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::sandbox::{Sandbox, ended, wait_for};
use crate::scripted_server::reaction::Ending;
use crate::scripted_server::{Reaction, Received, ScriptedServer};

/// A server that has `qwen3` once it has answered a pull, as `pull` answers it.
fn without_model(pull: impl Fn(&Received) -> Reaction + Send + Sync + 'static) -> ScriptedServer {
    let pulled = Arc::new(AtomicBool::new(false));
    ScriptedServer::start(move |request, _| match request.path.as_str() {
        "/api/pull" => {
            let reaction = pull(request);
            pulled.store(matches!(reaction, Reaction::Sound), Ordering::SeqCst);
            reaction
        }
        "/api/show" if !pulled.load(Ordering::SeqCst) => {
            Reaction::json(404, &json!({"error": "model 'qwen3' not found"}))
        }
        _ => Reaction::Sound,
    })
}

/// Settings with one model, which answers.
fn sandbox(server: &ScriptedServer) -> Sandbox {
    let sandbox = Sandbox::new();
    let settings = format!(
        "providers:\n  ollama: {{base_url: \"{}\"}}\nqa:\n  model: {{provider: ollama, name: qwen3}}\n\
         evaluations:\n  judge: {{provider: embedded, name: overlap}}\n",
        server.ollama_url()
    );
    sandbox.write("evaluations.yaml", settings);
    sandbox
}

#[test]
fn a_missing_model_names_both_ways_to_pull_it() {
    let server = without_model(|_| Reaction::Sound);
    let run = sandbox(&server).run("run sample --skip-retrieval --limit 1");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let expected = "has no model `qwen3`; run `ollama pull qwen3`, or add `--pull` to `evaluations run` or `doctor`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(server.received_at("/api/pull").is_empty());
}

#[test]
fn a_run_pulls_a_missing_model_once() {
    let server = without_model(|_| Reaction::Sound);
    let sandbox = sandbox(&server);
    let run = sandbox.run("run sample --skip-retrieval --limit 1 --pull");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<&str> = run
        .stderr
        .lines()
        .filter(|it| it.contains("pull"))
        .collect();
    let expected = [
        &format!("`{}` has no model `qwen3`; pulling it", server.ollama_url()),
        "pulling `qwen3`: 40 % of 1.00 kB",
        "pulling `qwen3`: 100 % of 1.00 kB",
        "pulled `qwen3` (1.02 kB)",
    ];
    assert_eq!(lines, expected);
    let again = sandbox.run("run sample --skip-retrieval --limit 1 --pull");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(!again.stderr.contains("pull"), "{}", again.stderr);
    assert_eq!(server.received_at("/api/pull").len(), 1);
}

#[test]
fn a_pull_that_fails_ends_the_run_and_says_what_to_do() {
    for (reaction, expected) in [
        (
            Reaction::Lines(
                vec![json!({"error": "pull model manifest: file does not exist"})],
                Ending::Whole,
            ),
            "refused: pull model manifest: file does not exist; check the model's `name`",
        ),
        (
            Reaction::Lines(vec![json!({"status": "pulling manifest"})], Ending::Cut),
            "ended the pull early; pull again to continue where it stopped",
        ),
    ] {
        let server = without_model(move |_| reaction.clone());
        let run = sandbox(&server).run("run sample --skip-retrieval --limit 1 --pull");
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(
            run.stderr
                .contains("error: `ollama:qwen3` cannot be pulled"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(server.received_at("/api/chat").is_empty());
    }
}

#[test]
fn a_wrong_address_is_the_same_error_with_and_without_a_pull() {
    let server = ScriptedServer::start(|request, _| match request.path.as_str() {
        path if path.starts_with("/v1/") => Reaction::body(404, "404 page not found"),
        _ => Reaction::Sound,
    });
    let sandbox = sandbox(&server);
    let line = format!(
        "run sample --skip-retrieval --limit 1 --set providers.ollama.base_url={}/v1",
        server.ollama_url()
    );
    let [plain, pulling] = [line.clone(), format!("{line} --pull")].map(|line| sandbox.run(&line));
    assert_eq!(pulling.code, Some(2), "{}", pulling.stderr);
    let advice = "answered 404: 404 page not found; check `base_url`: Ollama's has no path";
    assert!(pulling.stderr.contains(advice), "{}", pulling.stderr);
    let errors = [&plain, &pulling].map(|run| {
        let mut lines = run.stderr.lines();
        lines.find(|line| line.starts_with("error: ")).unwrap()
    });
    assert_eq!(errors[0], errors[1]);
    assert!(server.received_at("/api/pull").is_empty());
}

#[cfg(unix)]
#[test]
fn a_pull_ends_with_a_signal() {
    let layer =
        json!({"status": "pulling 8934", "digest": "sha256:8934", "total": 9, "completed": 4});
    let server = without_model(move |_| Reaction::Lines(vec![layer.clone()], Ending::Silence));
    let sandbox = sandbox(&server);
    let mut command = sandbox.command("run sample --skip-retrieval --limit 1 --pull");
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("a pull", || !server.received_at("/api/pull").is_empty());
    let process = child.id().to_string();
    let mut kill = std::process::Command::new("kill");
    let sent = kill.args(["-s", "INT", &process]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
}

#[test]
fn doctor_pulls_and_lists_what_the_server_has() {
    let server = without_model(|_| Reaction::Sound);
    let sandbox = sandbox(&server);
    let line = format!(
        "ok    `{}` has 2 models: scripted:8b, scripted:latest\n",
        server.ollama_url()
    );
    let missing = sandbox.run("doctor");
    assert_eq!(missing.code, Some(1), "{}", missing.stdout);
    assert!(missing.stdout.contains(&line), "{}", missing.stdout);
    let advice = "run `ollama pull qwen3`, or add `--pull`";
    assert!(missing.stdout.contains(advice), "{}", missing.stdout);
    let pulled = sandbox.run("doctor --pull");
    assert!(
        pulled
            .stdout
            .contains("ok    answering model: ollama:qwen3 answers"),
        "{}",
        pulled.stdout
    );
    assert!(
        pulled.stderr.contains("pulled `qwen3`"),
        "{}",
        pulled.stderr
    );
}

#[test]
fn doctor_names_how_many_models_a_long_list_has() {
    let models: Vec<_> = (10..30)
        .map(|number| json!({"name": format!("m:{number}"), "modified_at": "2026-01-31T12:00:00Z", "size": 1}))
        .collect();
    let server = ScriptedServer::start(move |request, _| match request.path.as_str() {
        "/api/tags" => Reaction::json(200, &json!({"models": models})),
        _ => Reaction::Sound,
    });
    let examined = sandbox(&server).run("doctor");
    let expected = " has 20 models: m:10, m:11, m:12, m:13, m:14, m:15, m:16, m:17 and 12 more\n";
    assert!(examined.stdout.contains(expected), "{}", examined.stdout);
}

#[test]
fn doctor_shows_a_models_name_on_one_line() {
    let forged = "m\nbad   everything\u{1b}[31m";
    let models: Vec<_> = [forged, &"x".repeat(5_000)]
        .iter()
        .map(|name| json!({"name": name, "modified_at": "2026-01-31T12:00:00Z", "size": 1}))
        .collect();
    let server = ScriptedServer::start(move |request, _| match request.path.as_str() {
        "/api/tags" => Reaction::json(200, &json!({"models": models})),
        _ => Reaction::Sound,
    });
    let examined = sandbox(&server).run("doctor");
    let long = "x".repeat(100);
    let expected = format!(r" has 2 models: m\nbad   everything\u{{1b}}[31m, {long}…");
    let listing = examined.stdout.lines().find(|line| line.contains(" has "));
    let listing = listing.unwrap_or_default();
    assert!(listing.ends_with(&expected), "{}", examined.stdout);
}

#[test]
fn doctor_lists_the_models_of_other_servers_too() {
    let server = ScriptedServer::saying("ok");
    let sandbox = Sandbox::new();
    let settings = format!(
        "providers:\n  mine: {{base_url: \"{}\"}}\nqa:\n  model: {{provider: mine, name: scripted}}\n\
         evaluations:\n  judge: {{provider: mine, name: scripted}}\n",
        server.openai_url()
    );
    sandbox.write("evaluations.yaml", settings);
    let examined = ended(&mut sandbox.command("doctor"));
    let line = format!("ok    `{}` has 1 model: scripted\n", server.openai_url());
    assert_eq!(
        examined.stdout.matches(&line).count(),
        1,
        "{}",
        examined.stdout
    );
}

//! The fixture of question answering tests: a dataset about towers, and a server that answers and judges its questions.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// The API key, which must not appear in any file or output.
pub(crate) const KEY: &str = "sk-do-not-write-me-down-7f3a";

/// Writes a dataset of `count` towers, each in its own district and with one question, and settings for the server.
pub(crate) fn write(sandbox: &Sandbox, count: usize, server: &ScriptedServer) {
    let (mut documents, mut questions) = (String::new(), String::new());
    for number in 0..count {
        let document = json!({"id": format!("d{number}"), "text": format!("Tower number {number} stands in district {}.", district(number))});
        let question = json!({
            "id": format!("q{number}"), "question": format!("Which tower stands in district {}?", district(number)),
            "answer": format!("Tower number {number}"), "relevant": format!("d{number}"),
        });
        writeln!(documents, "{document}").unwrap();
        writeln!(questions, "{question}").unwrap();
    }
    sandbox.write("documents.jsonl", documents);
    sandbox.write("questions.jsonl", questions);
    sandbox.write(
        "towers.yaml",
        "name: towers\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, answer: answer, relevant: [relevant]}\n",
    );
    sandbox.write("settings.yaml", settings(server).to_string());
}

/// The district of a tower, different for each.
fn district(number: usize) -> usize {
    1000 + number * 7
}

/// Settings with the answerer and the judge on one server.
pub(crate) fn settings(server: &ScriptedServer) -> Value {
    json!({
        "search": {"profile": "bm25", "limit": 3},
        "qa": {"model": {"provider": "openai", "name": "answerer"}},
        "evaluations": {"judge": {"provider": "openai", "name": "judge"}, "concurrency": 8},
        "providers": {"openai": {"base_url": server.openai_url(), "api_key_env": "TOWERS_KEY", "max_concurrency": 8}},
        "prices": {"answerer": {"input": 1.0, "output": 2.0}, "judge": {"input": 1.0, "output": 2.0}},
    })
}

/// A command for question answering with the settings' server, with the key in its environment.
pub(crate) fn command(sandbox: &Sandbox, rest: &str) -> std::process::Command {
    with_settings(sandbox, &format!("run towers.yaml --skip-retrieval {rest}"))
}

/// A command with the key in its environment.
pub(crate) fn with_settings(sandbox: &Sandbox, line: &str) -> std::process::Command {
    let mut command = sandbox.command(&format!("{line} --config settings.yaml"));
    command.env("TOWERS_KEY", KEY);
    command
}

/// Whether a request asks for a verdict rather than an answer.
pub(crate) fn is_judging(request: &Received) -> bool {
    request.body["model"] == "judge"
}

/// A server that always replies correctly: it answers with the first passage and passes every answer. Each reply takes `after`.
pub(crate) fn right(after: Duration) -> ScriptedServer {
    ScriptedServer::start(move |request, _| reply(request, after))
}

/// The reply of the server [`right`].
pub(crate) fn reply(request: &Received, after: Duration) -> Reaction {
    let text = if is_judging(request) {
        r#"{"reason": "the same tower", "pass": true}"#
    } else {
        "The first passage says so. [1]"
    };
    Reaction::Say(Saying {
        after,
        ..Saying::of(text)
    })
}

/// The number of requests for answers and for verdicts.
pub(crate) fn asked(server: &ScriptedServer) -> (usize, usize) {
    let received = server.received_at("/chat/completions");
    let judging = received
        .iter()
        .filter(|request| is_judging(request))
        .count();
    (received.len() - judging, judging)
}

/// A report without the values that depend on time or session.
pub(crate) fn timeless(mut report: Value) -> Value {
    strip(&mut report);
    report
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| {
                !matches!(
                    name.as_str(),
                    "seconds"
                        | "timings"
                        | "cached_timings"
                        | "task_time"
                        | "duration"
                        | "checksum"
                )
            });
            members.values_mut().for_each(strip);
        }
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

//! The checks of servers before the first request.

use std::time::Duration;

use serde_json::json;

use crate::qa_server::{self, KEY, asked, is_judging, reply};
use crate::sandbox::{Sandbox, ended};
use crate::scripted_server::{Reaction, ScriptedServer};

#[test]
fn a_key_that_the_list_of_models_refuses_ends_the_run_early() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/v1/models" => Reaction::json(401, &json!({"error": {"message": "bad key"}})),
        _ => reply(request, Duration::ZERO),
    });
    qa_server::write(&sandbox, 3, &server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let expected = "answered 401: bad key; check the key in `TOWERS_KEY`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(asked(&server), (0, 0));
}

#[test]
fn an_unlisted_model_gets_a_note_and_is_used() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/v1/models" => Reaction::json(200, &json!({"data": [{"id": "judge"}]})),
        _ => reply(request, Duration::ZERO),
    });
    qa_server::write(&sandbox, 3, &server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "lists 1 model, but not `answerer`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(!run.stderr.contains("but not `judge`"), "{}", run.stderr);
}

#[test]
fn doctor_checks_each_model_separately() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path.ends_with("/chat/completions") && !is_judging(request) {
            let message = "The model `answerer` does not exist";
            return Reaction::json(404, &json!({"error": {"message": message}}));
        }
        reply(request, Duration::ZERO)
    });
    qa_server::write(&sandbox, 1, &server);
    let mut command = sandbox.command("doctor --config settings.yaml");
    let examined = ended(command.env("TOWERS_KEY", KEY));
    assert!(
        examined
            .stdout
            .contains("The model `answerer` does not exist"),
        "{}",
        examined.stdout
    );
    assert!(
        examined.stdout.contains("ok    judge: openai:judge"),
        "{}",
        examined.stdout
    );
}

#[cfg(unix)]
#[test]
fn a_key_that_is_not_utf8_is_not_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 1, &server);
    let key = OsStr::from_bytes(b"sk-hidden-\xff");
    let run = ended(qa_server::command(&sandbox, "").env("TOWERS_KEY", key));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("`TOWERS_KEY`"), "{}", run.stderr);
    assert!(!run.stderr.contains("sk-hidden"), "{}", run.stderr);
}

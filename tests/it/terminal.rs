//! The output on the terminal: no control sequences, and with `-q` only results and errors.

use serde_json::json;

use crate::qa_server;
use crate::sandbox::{Ended, Sandbox, ended};
use crate::scripted_server::{Reaction, ScriptedServer};

/// Clears the screen, sets the title and reverses the direction of text.
const STEERING: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\r";

fn is_tame(ended: &Ended) {
    for printed in [&ended.stdout, &ended.stderr] {
        let wild = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
        assert!(!printed.contains(wild), "{printed:?}");
    }
}

#[test]
fn control_sequences_of_servers_are_escaped() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|_, _| {
        Reaction::json(
            401,
            &json!({"error": {"message": format!("no {STEERING} key")}}),
        )
    });
    qa_server::write(&sandbox, 2, &server);
    for line in ["run towers.yaml --skip-retrieval", "doctor"] {
        let run = ended(&mut qa_server::with_settings(&sandbox, line));
        let printed = format!("{}{}", run.stdout, run.stderr);
        assert!(
            printed.contains(r"no \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}"),
            "{printed}"
        );
        is_tame(&run);
    }
}

#[test]
fn control_sequences_of_files_and_datasets_are_escaped() {
    let sandbox = Sandbox::new();
    let missing = ended(
        sandbox
            .command("sample --config")
            .arg(format!("no{STEERING}.yaml")),
    );
    assert_eq!(missing.code, Some(2));
    is_tame(&missing);
    sandbox.write(
        "datasets/mine.yaml",
        format!(
            "name: mine\ndescription: {}\nsource: {{path: rows.jsonl}}\ndocuments: {{uri: id, text: text}}\n\
             questions: {{id: qid, text: question, relevant: id}}\n",
            serde_json::Value::from(STEERING)
        ),
    );
    let id = serde_json::Value::from(STEERING);
    let row = format!("{{\"id\": {id}, \"text\": \"a\", \"qid\": \"q\", \"question\": \"b\"}}\n");
    sandbox.write("datasets/rows.jsonl", row.repeat(2));
    is_tame(&sandbox.run("datasets"));
    let run = sandbox.run("mine --skip-qa");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    is_tame(&run);
}

#[test]
fn quiet_prints_only_results_and_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("haiku.rag.yaml", "environment: production\n");
    let said = sandbox.run("config show");
    assert!(said.stderr.starts_with("warning: "), "{}", said.stderr);
    let quiet = sandbox.run("-q config show");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    assert_eq!(quiet.stdout, said.stdout);
    let failed = sandbox.run("-q sample --set search.limt=3");
    assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
}

#[test]
fn quiet_prints_why_a_command_with_a_result_fails() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/v1/models" => Reaction::Sound,
        _ => Reaction::json(400, &json!({"error": {"message": "no"}})),
    });
    qa_server::write(&sandbox, 2, &server);
    let run = ended(&mut qa_server::command(&sandbox, "-q"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "warning: every case failed; see the report for the reasons\n"
    );
}

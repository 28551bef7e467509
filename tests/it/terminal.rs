//! The output on the terminal: no control sequences, and with `-q` only results and errors.

use std::collections::BTreeSet;

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

/// What a command prints on a page of 80 columns.
fn in_80_columns(sandbox: &Sandbox, line: &str) -> String {
    let page = ended(sandbox.command(line).env("COLUMNS", "80")).stdout;
    // A pipe has questions and texts whole.
    let tables = page
        .lines()
        .take_while(|it| !it.ends_with("largest change first"));
    let wide: Vec<&str> = tables.filter(|it| it.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}: {page}");
    page
}

#[test]
fn narrow_tables_keep_intervals_and_the_part_in_which_labels_differ() {
    let sandbox = Sandbox::new();
    let profiles = "--profile bm25 --profile semantic --profile hybrid";
    sandbox.succeed(&format!("sample --limit 40 --skip-qa {profiles}"));
    let runs = in_80_columns(&sandbox, "runs");
    assert!(
        runs.starts_with("RUN") && runs.contains(" DATASET "),
        "{runs}"
    );
    let name = |place: usize| sandbox.runs()[place].display().to_string();
    let (one, other) = (name(0), name(1));
    let compared = in_80_columns(&sandbox, &format!("compare {one} {other} {}", name(2)));
    assert!(compared.contains("  95 % interval "), "{compared}");
    let pair = in_80_columns(&sandbox, &format!("compare {one} {other}"));
    assert!(pair.contains("Change  95 % interval"), "{pair}");
    let line = format!("gate {other} --baseline {one} --max-drop MRR@5=0.02 --max-drop R@5=0.02");
    let gate = in_80_columns(&sandbox, &line);
    assert!(
        gate.contains("95 % interval") && gate.contains("Verdict"),
        "{gate}"
    );

    let address = "http://localhost:810";
    let rows: String = [1, 2, 3]
        .map(|it| format!("- {{name: c{it}, inputs: '{address}{it}/ask', expected_output: a}}\n"))
        .concat();
    sandbox.write(
        "cases.yaml",
        format!("name: c\ncases:\n{rows}evaluators: [EqualsExpected]\n"),
    );
    let answers: Vec<String> = (1..4)
        .map(|it| {
            let file = format!("a/folder/with/answers/of/{it}/replies-of-the-system.jsonl");
            let lines = (1..4).map(|case| {
                let answer = if case > it { "b" } else { "a" };
                format!("{{\"id\": \"c{case}\", \"answer\": \"{answer}\"}}\n")
            });
            std::fs::create_dir_all(sandbox.work().join(&file).parent().unwrap()).unwrap();
            sandbox.write(&file, lines.collect::<String>());
            file
        })
        .collect();
    for file in &answers {
        sandbox.run(&format!("eval cases.yaml --target outputs:{file}"));
    }
    let names: Vec<String> = (3..6).map(name).collect();
    let page = in_80_columns(&sandbox, &format!("compare {}", names.join(" ")));
    let (_, pairs) = page.split_once("Pairs of runs").unwrap();
    let pairs: Vec<&str> = pairs.lines().skip(3).take(3).collect();
    let labels = |row: &str| -> BTreeSet<String> {
        row.split_whitespace().take(2).map(str::to_owned).collect()
    };
    assert!(pairs.iter().all(|row| labels(row).len() == 2), "{page}");
    let all: BTreeSet<String> = pairs.iter().flat_map(|row| labels(row)).collect();
    assert_eq!(all.len(), 3, "each run has one label: {page}");
}

#[test]
fn a_benchmark_of_a_model_with_a_long_name_shows_its_figures() {
    let sandbox = Sandbox::new();
    let line = "bench embed --batch 1 --concurrency 1 --seconds 1 --model embedded:static-minilm";
    let mut command = sandbox.command(line);
    for last in ["one", "two"] {
        let name = format!("the/path/of/a/folder/with/an/embedding-model-{last}");
        let served = "provider: openai, base_url: http://127.0.0.1:9/v1";
        command.args(["--model", &format!("{{{served}, name: {name}}}")]);
    }
    let page = ended(command.env("COLUMNS", "80")).stdout;
    assert!(page.contains("  DIMENSIONS  FIRST VECTOR"), "{page}");
    assert!(page.contains("one…") && page.contains("two…"), "{page}");
}

//! The commands beside `run`, and the command line itself.

use crate::sandbox::{Sandbox, ended};

#[test]
fn help_and_version_are_results() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .succeed("--help")
            .contains("evaluations <DATASET> [OPTIONS]")
    );
    assert_eq!(
        sandbox.succeed("--version"),
        format!("evaluations {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = sandbox.succeed("run --help");
    for option in [
        "--skip-db",
        "--profile",
        "--measure",
        "--filter",
        "--limit",
        "--out",
        "--seed",
        "--set",
    ] {
        assert!(help.contains(option), "`{option}` is missing from:\n{help}");
    }
}

#[test]
fn datasets_lists_what_can_be_run() {
    let sandbox = Sandbox::new();
    let listed = sandbox.succeed("datasets");
    for name in [
        "sample",
        "sample-support",
        "repliqa",
        "wix",
        "wix-simulated",
        "wix-synthetic",
        "hotpotqa",
    ] {
        assert!(
            listed
                .lines()
                .any(|line| line.split_whitespace().next() == Some(name)),
            "no {name}: {listed}"
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.succeed("datasets --json")).unwrap();
    let sample = json
        .as_array()
        .unwrap()
        .iter()
        .find(|dataset| dataset["name"] == "sample")
        .unwrap();
    assert_eq!(sample["place"], "bundled");
    let scifact = json
        .as_array()
        .unwrap()
        .iter()
        .find(|dataset| dataset["name"] == "beir:scifact")
        .unwrap();
    assert_eq!(
        (scifact["place"].as_str(), scifact["documents"].as_u64()),
        (Some("hub"), Some(5183))
    );
}

#[test]
fn a_users_manifest_is_listed_before_the_built_in_of_its_name() {
    let sandbox = Sandbox::new();
    let manifest = "name: sample\ndescription: mine\nsource: {path: rows.csv}\n\
                    documents: {uri: id, text: text}\nquestions: {text: question, relevant: id}\n";
    sandbox.write("datasets/sample.yaml", manifest);
    let listed = sandbox.succeed("datasets");
    let rows: Vec<&str> = listed
        .lines()
        .filter(|line| line.split_whitespace().next() == Some("sample"))
        .collect();
    assert_eq!(rows.len(), 1, "{listed}");
    assert!(rows[0].ends_with("mine"), "{listed}");
}

#[test]
fn doctor_finds_a_data_folder_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    assert!(sandbox.succeed("doctor").contains("ok    data folder: "));
    let file = sandbox.write("a-file", "");
    let ended = ended(
        sandbox
            .command("doctor")
            .env("EVALUATIONS_DATA_DIR", file.join("below")),
    );
    // A file has no folder below it, so the check falls back to the file's own folder, which is fine; what counts is
    // that the run itself refuses.
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run = crate::sandbox::ended(
        sandbox
            .command("sample --skip-qa")
            .env("EVALUATIONS_DATA_DIR", file.join("below")),
    );
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn score_prints_trec_evals_figures() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\n");
    sandbox.write(
        "run",
        "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 a 1 1 t\n",
    );
    let printed =
        sandbox.succeed("score --qrels qrels --run run --measure RR --measure map --per-query");
    assert_eq!(
        printed,
        "RR                    \tq1\t0.5000\nAP                    \tq1\t0.5833\n\
         RR                    \tq2\t1.0000\nAP                    \tq2\t1.0000\n\
         RR                    \tall\t0.7500\nAP                    \tall\t0.7917\n"
    );
}

#[test]
fn score_names_the_line_that_is_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq1 0 b\n");
    sandbox.write("run", "q1 Q0 b 1 3 t\n");
    let message = sandbox.refuse("score --qrels qrels --run run");
    assert!(
        message.starts_with("error: `qrels` is not a TREC file\n  caused by: line 2"),
        "{message}"
    );
    let message = sandbox.refuse("score --qrels missing --run run");
    assert!(
        message.starts_with("error: cannot read `missing`\n"),
        "{message}"
    );
}

#[test]
fn an_unknown_run_is_an_error_and_no_runs_are_none() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run("runs");
    assert_eq!((listed.code, listed.stdout.as_str()), (Some(0), ""));
    assert!(
        sandbox
            .refuse("runs show latest")
            .starts_with("error: there are no runs in ")
    );
    assert!(
        sandbox
            .refuse("report nope --out a.md")
            .starts_with("error: no run `nope` in ")
    );
}

#[test]
fn a_reader_that_goes_away_is_a_normal_end() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command("config schema")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

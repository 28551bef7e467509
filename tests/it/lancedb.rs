//! Tables of LanceDB as targets. The index of a run is such a table, so a target that searches it has to rank as the run does.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Sandbox, json, unwrapped};

/// The rankings of a run of the sample, with the ids of the questions.
fn rankings(sandbox: &Sandbox, line: &str) -> Vec<Value> {
    sandbox.succeed(&format!(
        "sample --skip-qa --fresh --out report.json {line}"
    ));
    let report = json(&sandbox.work().join("report.json"));
    let cases = report["cases"].as_array().unwrap().iter();
    let ranking = |case: &Value| {
        let ranking = &case["result"]["output"]["ranking"];
        assert!(ranking.is_array(), "{case}");
        serde_json::json!([case["id"], ranking])
    };
    cases.map(ranking).collect()
}

/// Copies the table of the sample's only index into the database `theirs` of the working folder, under the name `chunks`.
fn copy_index(sandbox: &Sandbox) {
    let database = sandbox.data().join("dbs/sample.lancedb");
    let entries = fs::read_dir(database)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_table = |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "lance");
    let tables: Vec<_> = entries.filter(is_table).collect();
    assert_eq!(tables.len(), 1, "{tables:?}");
    copy(&tables[0], &sandbox.work().join("theirs/chunks.lance"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_table_ranks_as_the_index_of_the_same_chunks() {
    let sandbox = Sandbox::new();
    for (profile, mode) in [
        ("semantic", "vector"),
        ("bm25", "keyword"),
        ("hybrid", "hybrid"),
    ] {
        let own = rankings(&sandbox, &format!("--profile {profile}"));
        if !sandbox.work().join("theirs").exists() {
            copy_index(&sandbox);
        }
        let target = format!("--target lancedb:theirs#chunks --set target.parameters.mode={mode}");
        assert_eq!(rankings(&sandbox, &target), own, "{mode}");
    }
    let report = json(&sandbox.work().join("report.json"));
    let timings = report["cases"][0]["timings"].as_array().unwrap();
    let stages: Vec<&str> = timings
        .iter()
        .map(|it| it["stage"].as_str().unwrap())
        .collect();
    assert_eq!(stages, ["embed", "target"]);
    let target = &report["metadata"]["target"];
    assert_eq!(target["kind"], "lancedb");
    assert_eq!(target["name"], "theirs#chunks");

    let before = rankings(&sandbox, "--target lancedb:theirs");
    let id = before[0][1][0]["id"].as_str().unwrap().to_owned();
    let filter =
        format!("{{address: 'lancedb:theirs#chunks', parameters: {{filter: \"uri = '{id}'\"}}}}");
    sandbox.write("target.yaml", filter);
    for case in rankings(&sandbox, "") {
        let ranked = case[1].as_array().unwrap();
        assert_eq!(
            (ranked.len(), &ranked[0]["id"]),
            (1, &Value::from(id.as_str()))
        );
    }
}

#[test]
fn a_table_that_cannot_be_searched_says_why() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --skip-retrieval --profile semantic");
    copy_index(&sandbox);
    for (line, expected) in [
        (
            "--target lancedb:theirs#chunk",
            "has no table `chunk`; it has the table `chunks`",
        ),
        ("--target lancedb:theirs# --limit 1", "names no target"),
        ("--target lancedb:nowhere#chunks", "no database at `"),
        (
            "--target lancedb:theirs#chunks --set embeddings.model.vector_dim=64",
            "have 256 dimensions, and those of the embedding model `embedded:static-minilm` have 64; set `embeddings.model`",
        ),
        (
            "--target lancedb:theirs#chunks --set target.columns.vector=text",
            "`target.columns.vector`: the table `chunks`",
        ),
        (
            "--target lancedb:theirs#chunks --set target.columns.text=txt",
            "`cut`; did you mean `text`?",
        ),
        (
            "--target lancedb:theirs#chunks --set target.parameters.mod=keyword",
            "bad value for `target.parameters`: unknown key `mod`, expected one of `mode`",
        ),
        (
            "--target lancedb:theirs#chunks --set target.parameters.nprobes=8",
            "`target.parameters.nprobes`: is for the table's index of the vectors; add `index: true`",
        ),
        (
            "--target lancedb:theirs#chunks --set target.parameters.index=true",
            "has no index of its vectors; create one, or leave out `index`",
        ),
        (
            "--target lancedb:theirs#chunks --set target.parameters.filter=topic",
            "the filter `topic` cannot be applied to the table `chunks`",
        ),
        (
            "--target lancedb:s3://k:secret@bucket/db#t",
            "without a user name or password",
        ),
        (
            "--target lancedb:theirs#chunks --set target.body=x",
            "`target.body`: has no meaning",
        ),
        (
            "--db theirs --skip-db",
            "has no index of this program; it is a database of a different one, with the table `chunks` hint: evaluate a table of it as it is with \
             `--target lancedb:DATABASE#TABLE`",
        ),
    ] {
        let message = unwrapped(&sandbox.refuse(&format!("sample --skip-qa {line}")));
        assert!(message.contains(expected), "{line}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert!(!sandbox.work().join("nowhere").exists());
}

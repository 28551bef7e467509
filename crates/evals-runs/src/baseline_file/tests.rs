//! Tests of baseline files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{BaselineFile, checksum, layout, path_of, shorthand};

pub(super) fn content() -> Value {
    let times = json!({"n": 0, "mean": null, "p50": null, "p95": null, "p99": null});
    json!({
        "kind": "evaluations baseline", "schema_version": 1, "tool": "0.1.0", "benchmark": "retrieval",
        "dataset": "sample", "profile": "bm25", "run": "20260501T120000.000Z-x", "settings": {"k": "5"},
        "snapshot": {
            "title": "x", "dataset": "sample", "repeat": 1, "finished": 2, "failed": 0, "not_run": 0,
            "records_cost": false, "identity": {"dataset": null, "judge": null}, "timings": {}, "task_time": times,
            "measures": [{"title": "RR@5", "unit": "score", "better": "higher"}],
            "cases": [
                {"id": "q1", "content": "a-b-c", "values": [0.1]},
                {"id": "q2", "content": "a-b-c", "values": ["undefined"]},
            ],
        },
    })
}

pub(super) fn text(content: &Value) -> String {
    let mut document = json!({"checksum": checksum(content)});
    let members = document.as_object_mut().unwrap();
    members.extend(content.as_object().unwrap().clone());
    layout::document(&document)
}

fn refused(text: &str) -> String {
    format!("{:#}", BaselineFile::parse(text.as_bytes()).unwrap_err())
}

#[test]
fn a_file_reads_back_and_has_the_same_bytes_again() {
    let written = text(&content());
    let read = BaselineFile::parse(written.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baselines/main.json");
    read.write(&path, false).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    assert!(BaselineFile::is_at(&path));
    let refused = read.write(&path, false).unwrap_err().to_string();
    assert!(
        refused.ends_with("exists already; `--force` replaces it"),
        "{refused}"
    );
    read.write(&path, true).unwrap();
}

#[test]
fn an_edited_number_is_an_error() {
    let edited = text(&content()).replace("0.1]", "0.9]");
    assert_eq!(
        refused(&edited),
        "its checksum does not match its content: it was edited or damaged"
    );
    let spaced = text(&content()).replace('\n', "\n ");
    assert!(
        BaselineFile::parse(spaced.as_bytes()).is_ok(),
        "white space is no content"
    );
}

#[test]
fn every_cut_is_an_error() {
    let whole = text(&content());
    for end in 0..whole.trim_end().len() {
        assert!(
            BaselineFile::parse(&whole.as_bytes()[..end]).is_err(),
            "{end} bytes"
        );
    }
}

#[test]
fn a_correct_checksum_does_not_excuse_wrong_content() {
    let with = |pointer: &str, value: Value| {
        let mut content = content();
        *content.pointer_mut(pointer).unwrap() = value;
        refused(&text(&content))
    };
    assert!(with("/kind", json!("report")).starts_with("it is not a baseline"));
    assert!(with("/schema_version", json!(2)).contains("has schema version 2"));
    assert!(with("/snapshot/cases/1/id", json!("q1")).contains("in the order of their ids"));
    assert!(with("/snapshot/cases/0/values", json!([])).contains("case `q1` has 0 values"));
    assert!(with("/snapshot/cases/0/values/0", json!("good")).contains("expected a number"));
    let mut more = content();
    more["extra"] = json!(1);
    assert!(refused(&text(&more)).contains("unknown field `extra`"));
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = BaselineFile::read(Path::new("no/such.json")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no baseline `no/such.json`; `evaluations runs baseline save no/such.json RUN` saves a run as one"
    );
}

#[test]
fn a_bare_name_stands_for_a_file_in_the_folder() {
    let path = |written: &str| path_of(Path::new(written)).display().to_string();
    assert_eq!(path("main"), "baselines/main.json");
    assert_eq!(path("main.json"), "main.json");
    assert_eq!(path("ci/main"), "ci/main");
    assert_eq!(path("."), ".");
    let short = |path: &str| shorthand(Path::new(path));
    assert_eq!(short("baselines/main.json").as_deref(), Some("main"));
    assert_eq!(short("ci/main.json"), None);
    assert_eq!(short("main.json"), None);
}

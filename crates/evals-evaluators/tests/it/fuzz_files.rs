//! Fuzz targets: any text in any format gives cases or mistakes at places of the text, and what was read is written and read
//! unchanged.

use std::path::Path;

use evals_evaluators::{DatasetFile, FileFormat, Registry, Resources};
use evals_fuzz::Target;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");
const GOLDEN: &str = include_str!("../golden/dataset_files/source.yaml");

fn check(registry: &Registry, input: &[u8], format: FileFormat) {
    let text = String::from_utf8_lossy(input);
    let resources = Resources::default();
    let read =
        |text: &str, format| DatasetFile::read(text, format, Path::new("f"), registry, &resources);
    let lines = text.split(['\n', '\r']).count() as u64;
    let columns = text.chars().count() as u64 + 1;
    let loaded = match read(&text, format) {
        Ok(loaded) => loaded,
        Err(found) => {
            assert!(!found.problems.is_empty(), "a mistake");
            for problem in &found.problems {
                assert!((1..=lines).contains(&problem.place.line), "{problem:?}");
                assert!((1..=columns).contains(&problem.place.column), "{problem:?}");
            }
            assert!(found.problems.is_sorted_by_key(|problem| problem.place));
            return;
        }
    };
    let file = &loaded.file;
    assert_eq!(loaded.dataset.len(), file.cases.len());
    let yaml = file.to_yaml(registry, None);
    let again = read(&yaml, FileFormat::Yaml).unwrap().file;
    assert_eq!(again.to_yaml(registry, None), yaml);
    let json = file.to_json(registry, None);
    assert_eq!(again.to_json(registry, None), json);
    let again = read(&json, FileFormat::Json).unwrap().file;
    assert_eq!(again.to_yaml(registry, None), yaml);
}

#[test]
fn yaml() {
    let registry = Registry::built_in();
    Target::new("dataset-yaml", CORPUS)
        .seed(GOLDEN)
        .seed("cases:\n- inputs: 1\n  evaluators: [Equals: 1]\ntarget: http://localhost\n")
        .dictionary([
            "name: ",
            "cases: ",
            "inputs: ",
            "evaluators: ",
            "report_evaluators: ",
            "expected_output: ",
            "arguments: ",
            "Equals",
            "null",
            "{",
            "[",
            "\n- ",
            "Contains: ",
            "Not: {evaluator: ",
        ])
        .run(|input| check(&registry, input, FileFormat::Yaml));
}

#[test]
fn records() {
    let registry = Registry::built_in();
    Target::new("dataset-records", CORPUS)
        .seed("{\"inputs\": 1, \"evaluators\": [{\"Equals\": 1}]}\n{\"question\": \"a\", \"answer\": \"b\", \"id\": 1}\n")
        .seed("{\"user_input\": \"a\", \"reference\": \"b\", \"metadata\": {\"c\": 1}}")
        .dictionary(["\"name\": ", "\"input\": ", "NaN", "\n", "{", "}", "\"\\u0000\"", "\"Case 2\""])
        .run(|input| check(&registry, input, FileFormat::JsonLines));
}

#[test]
fn promptfoo() {
    let registry = Registry::built_in();
    Target::new("dataset-promptfoo", CORPUS)
        .seed("q,__expected,__expected1,__description\n\"a\nb\",contains: x,regex: [a-z]+,n\nc,\"contains-any: a, b\",,\n")
        .seed("q,__metadata:t[]\na,\"b,c\"\n")
        .seed("q,__expected\na,not-latency(1500)\nb,\"is-json: {type: object, required: [a]}\"\nc,\"not-contains-all: x, y\"\n")
        .dictionary(["__expected", "icontains:", "starts-with:", "grade:", "is-json", "contains-json: ", "latency(", "(0.5)", "not-", ": {type: ", "true", ",", "\"", "\n", "\r"])
        .run(|input| check(&registry, input, FileFormat::Csv));
}

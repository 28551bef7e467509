//! YAML 1.1 is read as PyYAML reads it. `make_pyyaml_golden.py` wrote the golden file and states its version.

use evals_yaml::{Document, YamlError, yaml11};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden {
    scalars: Vec<Entry>,
    documents: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    text: String,
    #[serde(flatten)]
    wanted: Wanted,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Value(Value),
    Outcome(Outcome),
}

#[derive(Debug, PartialEq, Deserialize)]
enum Outcome {
    #[serde(rename = "error")]
    Error,
    #[serde(rename = "gives up")]
    GivesUp,
    #[serde(rename = "no JSON")]
    NoJson,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("pyyaml_golden.json")).unwrap()
}

/// The difference between the golden entry and what we read.
fn difference(entry: &Entry) -> Option<String> {
    let read = yaml11::read(&entry.text);
    let agrees = match (&entry.wanted, &read) {
        (Wanted::Value(wanted), Ok(document)) => {
            document.errors.is_empty() && document.root.to_value() == *wanted
        }
        (Wanted::Outcome(Outcome::Error | Outcome::NoJson), read) => is_refused(read),
        // A scalar that PyYAML recognises but cannot convert is a text here.
        (Wanted::Outcome(Outcome::GivesUp), Ok(document)) => {
            let text = entry.text.trim_start_matches("- ").trim_end();
            (document.errors.is_empty() && document.root.to_value() == serde_json::json!([text]))
                || text.starts_with("!!") && !document.errors.is_empty()
        }
        (_, Err(_)) => false,
    };
    (!agrees).then(|| format!("{:?}: {:?}, but read {read:?}", entry.text, entry.wanted))
}

fn is_refused(read: &Result<Document, YamlError>) -> bool {
    read.as_ref()
        .map_or(true, |document| !document.errors.is_empty())
}

fn assert_no_differences(entries: &[Entry], deliberate: &[&str]) {
    let differences = entries
        .iter()
        .filter_map(|entry| Some((entry.text.as_str(), difference(entry)?)));
    let differences: Vec<(&str, String)> = differences.collect();
    let texts: Vec<&str> = differences.iter().map(|(text, _)| *text).collect();
    let shown: Vec<&str> = differences
        .iter()
        .map(|(_, shown)| shown.as_str())
        .collect();
    assert_eq!(texts, deliberate, "{}", shown.join("\n"));
}

#[test]
fn scalars_are_read_as_pyyaml_reads_them() {
    let scalars = golden().scalars;
    assert!(scalars.len() > 1000, "{} scalars", scalars.len());
    // YAML 1.2 allows a missing key, and a tab inside a text.
    assert_no_differences(&scalars, &["- :\n", "- 2021-05-08\t10:11:12\n"]);
}

#[test]
fn documents_are_read_as_pyyaml_reads_them() {
    // YAML 1.2 allows a name to be defined again, and tabs that do not indent.
    let deliberate = ["- &x 1\n- &x 2\n- *x\n", "\ta: 1\n", "a:\t1\n"];
    assert_no_differences(&golden().documents, &deliberate);
}

#[test]
fn everything_has_its_place() {
    let text = "cases:\n- name: é\n  inputs: {q: 1, q: .nan}\n- &x [a, !y b]\n- *x\n";
    let document = yaml11::read(text).unwrap();
    let places = |list: &[YamlError]| -> Vec<String> {
        let list = list.iter();
        list.map(|error| format!("{}:{}: {error}", error.line, error.column))
            .collect()
    };
    assert_eq!(
        places(&document.warnings),
        ["3:18: duplicate key `q`: this value replaces the one of line 3"]
    );
    assert_eq!(
        places(&document.errors),
        [
            "3:21: `.nan` is not a finite number, and JSON, in which cases are sent and stored, has only finite ones; write `null`, or put it into quotes",
            "4:13: the tag `!y` cannot be read here",
        ]
    );
    let cases = document.root.member("cases").unwrap();
    let items = cases.value.items().unwrap();
    let places: Vec<String> = items.iter().map(|item| item.place.to_string()).collect();
    assert_eq!(places, ["2:3", "4:6", "5:3"]);
    let inside = items[2].items().unwrap()[0].place;
    assert_eq!(
        inside.to_string(),
        "4:7",
        "where the alias's value was written"
    );
}

#[test]
fn aliases_that_repeat_too_much_are_refused() {
    let level = |level: usize| {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{aliases}]\n")
    };
    let bomb: String = (1..9).map(level).collect();
    let error = yaml11::read(&format!("a0: &a0 [x, x, x, x]\n{bomb}")).unwrap_err();
    assert_eq!(
        (error.line, error.message.as_str()),
        (
            6,
            "the anchors and aliases up to here repeat more than 16 MB; write the values without them"
        )
    );
    let nest = |level: usize| format!("a{level}: &a{level} [[[[[[[[[*a{}]]]]]]]]]\n", level - 1);
    let deep: String = (1..20).map(nest).collect();
    let error = yaml11::read(&format!("a0: &a0 x\n{deep}")).unwrap_err();
    assert!(error.message.contains("100 levels"), "{error}");
    let error = yaml11::read("a: &x [1, *x]\n").unwrap_err();
    assert_eq!(
        (error.line, error.column, error.message.as_str()),
        (1, 11, "this alias stands inside the value that it repeats")
    );
}

//! Records: cases as other tools write them, in JSON Lines or in an array of JSON.
//!
//! A record with the key `inputs` is a case as dataset files have it. Any other record has its parts under the keys of
//! [`INPUTS`] and [`EXPECTED`], or of Ragas.

use evals_messages::nearest;
use evals_yaml::{Member, Node, json};
use serde_json::{Map, Value};

use super::dataset_file::FileCase;
use super::grammar;
use super::problem::Findings;
use super::spec;

/// The keys that may hold what the target is asked. A record has one of them.
const INPUTS: [&str; 5] = ["user_input", "question", "input", "prompt", "query"];

/// The keys that may hold the expected output. A record has at most one of them.
const EXPECTED: [&str; 4] = ["expected_output", "expected", "answer", "output"];

/// The keys that may hold the expected output in a record of Ragas, where `answer` is the one under test.
const RAGAS_EXPECTED: [&str; 2] = ["reference", "ground_truth"];

/// The keys by which a record is one of Ragas.
const RAGAS: [&str; 7] = [
    "user_input",
    "response",
    "retrieved_contexts",
    "contexts",
    "reference_contexts",
    "reference",
    "ground_truth",
];

/// The keys that may hold the name.
const NAME: [&str; 2] = ["name", "id"];

/// Reads JSON Lines. Blank lines are skipped; every faulty line is reported.
pub(super) fn lines(text: &str, findings: &mut Findings) -> Vec<FileCase> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.split('\n')) {
        if text.trim().is_empty() {
            continue;
        }
        match json::read_from(text, line) {
            Ok(document) => {
                let root = findings.root(document);
                cases.extend(record(&root, findings));
            }
            Err(error) => findings.errors.push(error.into()),
        }
    }
    named(cases, findings)
}

/// Reads the items of an array.
pub(super) fn array(items: &[Node], findings: &mut Findings) -> Vec<FileCase> {
    let cases = items
        .iter()
        .filter_map(|item| record(item, findings))
        .collect();
    named(cases, findings)
}

fn named(mut cases: Vec<FileCase>, findings: &mut Findings) -> Vec<FileCase> {
    grammar::name_by_inputs(&mut cases);
    if let Some(first) = cases.first()
        && cases.iter().all(|case| case.evaluators.is_empty())
    {
        findings.warning(
            first.place,
            "no record names `evaluators`, so nothing judges the outputs; list them in the records, or write the cases as a dataset file",
        );
    }
    cases
}

fn record(node: &Node, findings: &mut Findings) -> Option<FileCase> {
    let Some(members) = node.members() else {
        findings.mismatch(node, "a record", "an object is needed");
        return None;
    };
    if node.member("inputs").is_some() {
        return grammar::case(node, findings);
    }
    let is_ragas = members
        .iter()
        .any(|member| RAGAS.contains(&member.key.text.as_str()));
    let expected: &[&str] = if is_ragas { &RAGAS_EXPECTED } else { &EXPECTED };
    let mut case = FileCase::new(node.place);
    let inputs = one_of(members, &INPUTS, "the inputs", findings);
    if let Some(inputs) = inputs {
        case.inputs = inputs.value.to_value();
    } else {
        let written = members.iter().map(|member| member.key.text.as_str());
        let mut near =
            written.filter_map(|key| nearest::of(key, INPUTS.into_iter().chain(["inputs"])));
        let hint = nearest::did_you_mean(near.next());
        findings.error(
            node.place,
            format!(
                "the record has no inputs; they stand under `inputs` or under one of `{}`{hint}",
                INPUTS.join("`, `")
            ),
        );
    }
    if let Some(expected) = one_of(members, expected, "the expected output", findings) {
        case.expected = grammar::expected(&expected.value);
    }
    if let Some(name) = one_of(members, &NAME, "the name", findings) {
        case.name_place = name.value.place;
        case.name = self::name(name, findings);
    }
    let mut metadata = Map::new();
    for member in members {
        let key = member.key.text.as_str();
        match key {
            "metadata" => insert_metadata(&mut metadata, member, findings),
            "evaluators" => case.evaluators = spec::list(member, findings),
            _ if INPUTS.contains(&key) || expected.contains(&key) || NAME.contains(&key) => {}
            _ => insert(&mut metadata, member, findings),
        }
    }
    if !metadata.is_empty() {
        case.metadata = Value::Object(metadata);
    }
    Some(case)
}

/// The only member with one of these keys.
fn one_of<'n>(
    members: &'n [Member],
    keys: &[&str],
    role: &str,
    findings: &mut Findings,
) -> Option<&'n Member> {
    let mut found = members
        .iter()
        .filter(|member| keys.contains(&member.key.text.as_str()));
    let first = found.next()?;
    if let Some(second) = found.next() {
        findings.error(
            second.key.place,
            format!(
                "both `{}` and `{}` may hold {role}; keep one of them",
                first.key.text, second.key.text
            ),
        );
    }
    Some(first)
}

/// A name, which may be a number.
fn name(member: &Member, findings: &mut Findings) -> Option<String> {
    match member.value.to_value() {
        Value::Null => None,
        Value::String(name) => Some(name),
        Value::Number(number) => Some(number.to_string()),
        _ => {
            let what = format!("`{}`", member.key.text);
            findings.mismatch(&member.value, &what, "a text is needed");
            None
        }
    }
}

fn insert_metadata(metadata: &mut Map<String, Value>, member: &Member, findings: &mut Findings) {
    match member.value.members() {
        Some(members) => {
            for member in members {
                insert(metadata, member, findings);
            }
        }
        None if member.value.is_null() => {}
        None => findings.mismatch(&member.value, "`metadata`", "an object is needed"),
    }
}

fn insert(metadata: &mut Map<String, Value>, member: &Member, findings: &mut Findings) {
    let key = &member.key.text;
    if metadata
        .insert(key.clone(), member.value.to_value())
        .is_some()
    {
        findings.error(
            member.key.place,
            format!("`{key}` stands in `metadata` and beside it; keep one of them"),
        );
    }
}

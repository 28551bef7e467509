//! The keys of a dataset file and of its cases, as pydantic-evals has them, and `cluster` and `target`, which are ours.

use evals::{ClusterKey, DerivedIds};
use evals_messages::nearest;
use evals_yaml::{Member, Node, Place};
use serde_json::Value;

use super::dataset_file::{DatasetFile, FileCase};
use super::problem::Findings;
use super::spec;

/// The keys of a dataset file.
pub(super) const FILE_KEYS: [&str; 7] = [
    "$schema",
    "name",
    "cases",
    "evaluators",
    "report_evaluators",
    "cluster",
    "target",
];

/// The keys of a case.
pub(super) const CASE_KEYS: [&str; 5] = [
    "name",
    "inputs",
    "metadata",
    "expected_output",
    "evaluators",
];

/// Names the cases without names by their inputs, so that a case keeps its name when the file gets more cases. Not for dataset files, whose
/// cases have the names that pydantic-evals gives them.
pub(super) fn name_by_inputs(cases: &mut [FileCase]) {
    let mut ids = DerivedIds::default();
    for case in cases {
        if case.name.as_deref().is_none_or(str::is_empty) {
            case.name = Some(ids.next(&case.inputs));
        }
    }
}

/// Reads the root of a file.
pub(super) fn file(root: &Node, file: &mut DatasetFile, findings: &mut Findings) {
    let Some(members) = root.members() else {
        let found = if root.is_null() {
            "empty".to_owned()
        } else {
            root.kind().to_owned()
        };
        findings.error(
            root.place,
            format!("the file is {found}; a dataset file is a mapping with the key `cases`"),
        );
        return;
    };
    for member in members {
        let value = &member.value;
        match member.key.text.as_str() {
            "$schema" => file.schema = text_or_null(member, findings),
            "name" => {
                if let Some(name) = text_or_null(member, findings) {
                    file.name = name;
                }
            }
            "cases" => file.cases = cases(value, findings),
            "evaluators" => file.evaluators = spec::list(member, findings),
            "report_evaluators" => file.report_evaluators = spec::list(member, findings),
            "cluster" => file.cluster = cluster(member, findings),
            "target" => file.target = Some(value.clone()),
            _ => unknown(member, "a dataset file", &FILE_KEYS, findings),
        }
    }
    if root.member("cases").is_none() {
        findings.error(
            root.place,
            "the key `cases` is missing; without any, write `cases: []`",
        );
    }
}

fn cases(node: &Node, findings: &mut Findings) -> Vec<FileCase> {
    let Some(items) = node.items() else {
        let needed = "a list is needed; without any, write `cases: []`";
        findings.mismatch(node, "`cases`", needed);
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| case(item, findings))
        .collect()
}

/// Reads a case.
pub(super) fn case(node: &Node, findings: &mut Findings) -> Option<FileCase> {
    let Some(members) = node.members() else {
        findings.mismatch(node, "a case", "a mapping with the key `inputs` is needed");
        return None;
    };
    let mut written = FileCase::new(node.place);
    for member in members {
        match member.key.text.as_str() {
            "name" => {
                written.name_place = member.value.place;
                written.name = text_or_null(member, findings);
            }
            "inputs" => written.inputs = member.value.to_value(),
            "metadata" => written.metadata = member.value.to_value(),
            "expected_output" => written.expected = expected(&member.value),
            "evaluators" => written.evaluators = spec::list(member, findings),
            _ => unknown(member, "a case", &CASE_KEYS, findings),
        }
    }
    if node.member("inputs").is_none() {
        findings.error(
            node.place,
            "the case has no `inputs`; it may be null, but it has to be there",
        );
    }
    Some(written)
}

/// An expected output; a null counts as none.
pub(super) fn expected(node: &Node) -> Option<Value> {
    (!node.is_null()).then(|| node.to_value())
}

/// What makes cases a cluster.
fn cluster(member: &Member, findings: &mut Findings) -> Option<(ClusterKey, Place)> {
    let place = member.value.place;
    let key = text_or_null(member, findings)?.parse::<ClusterKey>();
    let key = key.map_err(|error| findings.error(place, error.to_string()));
    Some((key.ok()?, place))
}

fn text_or_null(member: &Member, findings: &mut Findings) -> Option<String> {
    let text = member.value.text();
    if text.is_none() && !member.value.is_null() {
        let what = format!("`{}`", member.key.text);
        findings.mismatch(&member.value, &what, "a text is needed; put it into quotes");
    }
    text.map(str::to_owned)
}

fn unknown(member: &Member, owner: &str, known: &[&str], findings: &mut Findings) {
    let key = &member.key.text;
    let near = nearest::did_you_mean(nearest::all(key, known.iter().copied()));
    let hint = if near.is_empty() {
        format!("; it has `{}`", known.join("`, `"))
    } else {
        near
    };
    findings.error(
        member.key.place,
        format!("{owner} has no key `{key}`{hint}"),
    );
}

//! The keys of a dataset file and of its cases, as pydantic-evals has them, and `cluster` and `target`, which are ours.

use evals::{ClusterKey, DerivedIds};
use evals_messages::nearest;
use evals_yaml::{Member, Node, Place};
use serde_json::Value;

use super::problem::Findings;
use super::spec::{self, WrittenSpec};

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

/// A dataset file before its evaluators are built.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) schema: Option<String>,
    pub(super) name: Option<String>,
    pub(super) cases: Vec<WrittenCase>,
    pub(super) evaluators: Vec<WrittenSpec>,
    pub(super) report_evaluators: Vec<WrittenSpec>,
    pub(super) cluster: Option<(ClusterKey, Place)>,
    pub(super) target: Option<Node>,
}

/// A case before its evaluators are built.
#[derive(Debug)]
pub(super) struct WrittenCase {
    pub(super) name: Option<String>,
    pub(super) inputs: Value,
    pub(super) metadata: Value,
    pub(super) expected: Value,
    pub(super) evaluators: Vec<WrittenSpec>,
    /// Where the case begins.
    pub(super) place: Place,
    /// Where its name stands.
    pub(super) name_place: Place,
}

/// Names the cases without names by their inputs, so that a case keeps its name when the file gets more cases. Not for dataset files, whose
/// cases have the names that pydantic-evals gives them.
pub(super) fn name_by_inputs(cases: &mut [WrittenCase]) {
    let mut ids = DerivedIds::default();
    for case in cases {
        if case.name.as_deref().is_none_or(str::is_empty) {
            case.name = Some(ids.next(&case.inputs));
        }
    }
}

/// Reads the root of a file.
pub(super) fn file(root: &Node, findings: &mut Findings) -> Written {
    let mut written = Written::default();
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
        return written;
    };
    for member in members {
        let value = &member.value;
        match member.key.text.as_str() {
            "$schema" => written.schema = text_or_null(member, findings),
            "name" => written.name = text_or_null(member, findings),
            "cases" => written.cases = cases(value, findings),
            "evaluators" => written.evaluators = spec::list(member, findings),
            "report_evaluators" => written.report_evaluators = spec::list(member, findings),
            "cluster" => written.cluster = cluster(member, findings),
            "target" => written.target = Some(value.clone()),
            _ => unknown(member, "a dataset file", &FILE_KEYS, findings),
        }
    }
    if root.member("cases").is_none() {
        findings.error(
            root.place,
            "the key `cases` is missing; without any, write `cases: []`",
        );
    }
    written
}

fn cases(node: &Node, findings: &mut Findings) -> Vec<WrittenCase> {
    let Some(items) = node.items() else {
        findings.error(
            node.place,
            format!(
                "`cases` is {}, where a list is needed; without any, write `cases: []`",
                node.kind()
            ),
        );
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| case(item, findings))
        .collect()
}

/// Reads a case.
pub(super) fn case(node: &Node, findings: &mut Findings) -> Option<WrittenCase> {
    let Some(members) = node.members() else {
        findings.error(
            node.place,
            format!(
                "a case is {}, where a mapping with the key `inputs` is needed",
                node.kind()
            ),
        );
        return None;
    };
    let mut written = WrittenCase::new(node.place);
    for member in members {
        match member.key.text.as_str() {
            "name" => {
                written.name_place = member.value.place;
                written.name = text_or_null(member, findings);
            }
            "inputs" => written.inputs = member.value.to_value(),
            "metadata" => written.metadata = member.value.to_value(),
            "expected_output" => written.expected = member.value.to_value(),
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

impl WrittenCase {
    pub(super) fn new(place: Place) -> Self {
        Self {
            name: None,
            inputs: Value::Null,
            metadata: Value::Null,
            expected: Value::Null,
            evaluators: Vec::new(),
            place,
            name_place: place,
        }
    }
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
        findings.error(
            member.value.place,
            format!(
                "`{}` is {}, where a text is needed; put it into quotes",
                member.key.text,
                member.value.kind()
            ),
        );
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

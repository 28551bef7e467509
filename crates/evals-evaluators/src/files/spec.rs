//! The written forms of an evaluator: `Name`, `Name: argument`, `{name: Name, arguments: …}`.

use evals::{EvaluatorSpec, SpecArguments};
use evals_yaml::{Member, Node, Place};
use serde_json::{Map, Value};

use super::dataset_file::{FileEvaluator, SpecForm};
use super::problem::Findings;

const FORMS: &str = "an evaluator is `Name`, `Name: argument`, `Name: {argument: value, …}` or `{name: Name, arguments: …}`";

/// Reads a list of evaluators.
pub(super) fn list(member: &Member, findings: &mut Findings) -> Vec<FileEvaluator> {
    let Some(items) = member.value.items() else {
        let key = &member.key.text;
        if member.value.is_null() {
            let message = format!("`{key}` is null; leave it out, or write `{key}: []`");
            findings.error(member.value.place, message);
        } else {
            let needed = "a list of evaluators is needed";
            findings.mismatch(&member.value, &format!("`{key}`"), needed);
        }
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| read(item, findings))
        .collect()
}

/// Reads one evaluator.
fn read(node: &Node, findings: &mut Findings) -> Option<FileEvaluator> {
    if let Some(name) = node.text() {
        return Some(written(
            name,
            SpecArguments::None,
            node.place,
            SpecForm::Short,
        ));
    }
    let Some(members) = node.members() else {
        findings.error(
            node.place,
            format!("{} is not an evaluator; {FORMS}", node.kind()),
        );
        return None;
    };
    if let (Some(name), Some(arguments)) = (node.member("name"), node.member("arguments")) {
        return long(name, arguments, members, findings);
    }
    match members {
        [Member { key, value }] if key.is_text => Some(short(&key.text, key.place, value)),
        [Member { key, .. }] => {
            findings.error(
                key.place,
                format!(
                    "`{}` is not a text, so it names no evaluator; put it into quotes",
                    key.text
                ),
            );
            None
        }
        [] => {
            findings.error(
                node.place,
                format!("an empty mapping is not an evaluator; {FORMS}"),
            );
            None
        }
        [_, second, ..] => {
            let keys: Vec<String> = members
                .iter()
                .map(|member| format!("`{}`", member.key.text))
                .collect();
            findings.error(
                second.key.place,
                format!(
                    "one evaluator has the keys {}; start a new list item for each evaluator, such as `- Contains: text`, or write `{{name: …, arguments: …}}`",
                    keys.join(", ")
                ),
            );
            None
        }
    }
}

fn short(name: &str, place: Place, value: &Node) -> FileEvaluator {
    by_name(name, place, SpecForm::Short, value).unwrap_or_else(|| {
        let argument = SpecArguments::Positional([value.to_value()]);
        written(name, argument, place, SpecForm::Short)
    })
}

fn long(
    name: &Member,
    arguments: &Member,
    members: &[Member],
    findings: &mut Findings,
) -> Option<FileEvaluator> {
    let further = members
        .iter()
        .filter(|member| !matches!(member.key.text.as_str(), "name" | "arguments"));
    for member in further {
        findings.warning(
            member.key.place,
            format!(
                "`{}` beside `name` and `arguments` has no effect",
                member.key.text
            ),
        );
    }
    let (place, value) = (name.value.place, &arguments.value);
    let Some(name) = name.value.text() else {
        findings.mismatch(
            &name.value,
            "the `name` of an evaluator",
            "a text is needed",
        );
        return None;
    };
    if value.is_null() {
        return Some(written(name, SpecArguments::None, place, SpecForm::Long));
    }
    if let Some(evaluator) = by_name(name, place, SpecForm::Long, value) {
        return Some(evaluator);
    }
    if let Some([item]) = value.items() {
        let argument = SpecArguments::Positional([item.to_value()]);
        return Some(written(name, argument, place, SpecForm::Long));
    }
    let found = match value.items() {
        Some(items) => format!("a list of {}", items.len()),
        None if value.members().is_some() => "a mapping with a key that is not a text".to_owned(),
        None => value.kind().to_owned(),
    };
    findings.error(
        value.place,
        format!("`arguments` is {found}; it is null, a list of one value, or a mapping of arguments by name"),
    );
    None
}

/// An evaluator with arguments by name, if the value is a mapping whose keys are all texts.
fn by_name(name: &str, place: Place, form: SpecForm, value: &Node) -> Option<FileEvaluator> {
    let members = value.members()?.iter();
    if !members.clone().all(|member| member.key.is_text) {
        return None;
    }
    let values = members
        .clone()
        .map(|member| (member.key.text.clone(), member.value.to_value()));
    let values: Map<String, Value> = values.collect();
    let arguments = if values.is_empty() {
        SpecArguments::None
    } else {
        SpecArguments::Named(values)
    };
    let places = members.map(|member| (member.key.text.clone(), member.key.place));
    Some(FileEvaluator {
        arguments: places.collect(),
        ..written(name, arguments, place, form)
    })
}

/// An evaluator without places of arguments.
pub(super) fn written(
    name: &str,
    arguments: SpecArguments,
    place: Place,
    form: SpecForm,
) -> FileEvaluator {
    FileEvaluator {
        spec: EvaluatorSpec {
            name: name.to_owned(),
            arguments,
        },
        place,
        form,
        arguments: Vec::new(),
    }
}

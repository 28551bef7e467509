//! The front matter of a markdown file: YAML between two lines of three dashes at its start.

use evals_yaml::Tree;
use serde_json::{Map, Value};

/// The line and the message of a front matter that is not valid YAML.
pub(super) type Fault = (u64, String);

/// The fields of the front matter, and the text behind it. A text without one stays as it is, and so does a text between two rules,
/// which is no mapping.
pub(super) fn split(text: &str) -> Result<(Map<String, Value>, &str), Fault> {
    let none = || Ok((Map::new(), text));
    let Some((first, rest)) = text.split_once('\n') else {
        return none();
    };
    if first.trim_end() != "---" {
        return none();
    }
    let Some((yaml, body)) = closed(rest) else {
        return none();
    };
    // The front matter starts on the second line.
    let tree = Tree::parse(yaml).map_err(|error| (error.line + 1, error.message.clone()))?;
    match tree.to_value() {
        Value::Object(fields) => Ok((fields, body)),
        Value::Null => Ok((Map::new(), body)),
        _ => none(),
    }
}

/// The text before the closing line and the text behind it.
fn closed(rest: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        let end = start + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&rest[..start], &rest[end..]));
        }
        start = end;
    }
    None
}

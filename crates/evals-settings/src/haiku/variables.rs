//! Replaces `${NAME}` and `${NAME:-default}` in the values of a haiku.rag file by environment variables.

use evals_yaml::{Entry, Tree};
use std::env;

use serde_json::Value;

/// The sections that this program reads. Variables of other sections need not be set.
const READ: [&str; 7] = [
    "embeddings",
    "processing",
    "search",
    "reranking",
    "qa",
    "evaluations",
    "providers",
];

/// An environment variable that a value needs and that is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingVariable {
    pub(crate) name: String,
    /// The key of the value.
    pub(crate) key: String,
    pub(crate) line: Option<u64>,
}

/// Replaces every variable by its value.
pub(super) fn expand(tree: &mut Tree) -> Result<(), MissingVariable> {
    let Tree::Mapping(entries) = tree else {
        return Ok(());
    };
    let read = entries
        .iter_mut()
        .filter(|entry| READ.contains(&entry.key.as_str()));
    for entry in read {
        expand_entry(entry, &|name| env::var(name).ok())?;
    }
    Ok(())
}

fn expand_entry(
    entry: &mut Entry,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), MissingVariable> {
    match &mut entry.value {
        Tree::Mapping(entries) => entries
            .iter_mut()
            .try_for_each(|entry| expand_entry(entry, variable)),
        Tree::Leaf(value) => expand_value(value, variable).map_err(|name| MissingVariable {
            name,
            key: entry.key.clone(),
            line: entry.line,
        }),
    }
}

fn expand_value(
    value: &mut Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if text.contains('$') {
                *text = expanded(text, variable)?;
            }
            Ok(())
        }
        Value::Array(values) => values
            .iter_mut()
            .try_for_each(|value| expand_value(value, variable)),
        Value::Object(fields) => fields
            .values_mut()
            .try_for_each(|value| expand_value(value, variable)),
        _ => Ok(()),
    }
}

/// The text with its variables replaced. The error is the name of a variable that is not set and has no default.
fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            whole.push('$');
            rest = after;
        } else if let Some((name, default, after)) = reference(after) {
            let set = variable(name).filter(|value| !value.is_empty());
            let value = set.or_else(|| default.map(str::to_owned));
            whole.push_str(&value.ok_or_else(|| name.to_owned())?);
            rest = after;
        } else {
            whole.push('$');
            rest = after;
        }
    }
    whole.push_str(rest);
    Ok(whole)
}

/// The name, the default and the rest of a text that starts with `{NAME}` or `{NAME:-default}`.
fn reference(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let mut letters = name.chars();
    let starts = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    (starts && goes_on).then_some((name, default, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Result<String, String> {
        expanded(text, &|name| match name {
            "HOST" => Some("models.example".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_stand_for_their_values() {
        for (text, expected) in [
            ("http://${HOST}:8000", "http://models.example:8000"),
            ("${PORT:-8000}", "8000"),
            ("${EMPTY:-a}${HOST:-b}", "amodels.example"),
            ("$${HOST} costs 5$", "${HOST} costs 5$"),
            ("${not a name} $HOST ${HOST", "${not a name} $HOST ${HOST"),
            ("${PORT:-}", ""),
        ] {
            assert_eq!(with(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        assert_eq!(with("http://${PORT}"), Err("PORT".to_owned()));
        assert_eq!(with("${EMPTY}"), Err("EMPTY".to_owned()));
    }

    #[test]
    fn sections_that_mean_nothing_here_need_no_variables() {
        let mut tree = Tree::parse("ingester: {token: \"${NO_SUCH_TOKEN_HERE}\"}\n").unwrap();
        assert_eq!(expand(&mut tree), Ok(()));
        let mut tree = Tree::parse("qa:\n  model:\n    name: \"${NO_SUCH_TOKEN_HERE}\"\n").unwrap();
        assert_eq!(
            expand(&mut tree),
            Err(MissingVariable {
                name: "NO_SUCH_TOKEN_HERE".to_owned(),
                key: "name".to_owned(),
                line: Some(3),
            })
        );
    }
}

//! What tells two runs apart.

use std::fmt;

use serde_json::Value;

/// Longer values are cut in messages.
const LONGEST_SHOWN: usize = 60;

/// The first setting in which two identities differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path of the setting, as in `judge.model`. Empty where the identities have no settings.
    pub key: String,
    /// Its value in the journal, where it has one.
    pub journal: Option<Value>,
    /// Its value in the run that was to be continued, where it has one.
    pub run: Option<Value>,
}

impl Difference {
    /// Compares two identities, in the order in which the run names its settings; those that only the journal has come
    /// last. The order itself makes no difference.
    pub(super) fn first(journal: &Value, run: &Value) -> Option<Self> {
        between(String::new(), Some(journal), Some(run))
    }
}

fn between(key: String, journal: Option<&Value>, run: Option<&Value>) -> Option<Difference> {
    if let (Some(Value::Object(journal)), Some(Value::Object(run))) = (journal, run) {
        let gone = journal.keys().filter(|name| !run.contains_key(*name));
        let mut names = run.keys().chain(gone);
        return names.find_map(|name| {
            let key = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            between(key, journal.get(name), run.get(name))
        });
    }
    (journal != run).then(|| Difference {
        key,
        journal: journal.cloned(),
        run: run.cloned(),
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.key.is_empty() {
            "identity"
        } else {
            &self.key
        };
        let (journal, run) = (shown(self.journal.as_ref()), shown(self.run.as_ref()));
        write!(formatter, "`{key}` is {journal} there and {run} here")
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "not set".to_owned();
    };
    let text = value.to_string();
    if text.chars().count() <= LONGEST_SHOWN {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(LONGEST_SHOWN).collect();
    format!("`{start}…`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(journal: &Value, run: &Value) -> Option<String> {
        Difference::first(journal, run).map(|difference| difference.to_string())
    }

    #[test]
    fn the_first_difference_is_named_with_its_path() {
        let journal =
            json!({"seed": 7, "judge": {"model": "a", "top_p": 1.0}, "k": [1, 2], "old": 1});
        let run = json!({"judge": {"top_p": 1.0, "model": "b"}, "seed": 8});
        assert_eq!(
            message(&journal, &run).unwrap(),
            "`judge.model` is `\"a\"` there and `\"b\"` here"
        );
    }

    #[test]
    fn a_setting_of_one_side_only_is_a_difference() {
        let (less, more) = (json!({"a": 1}), json!({"a": 1, "b": {"c": null}}));
        assert_eq!(
            message(&less, &more).unwrap(),
            "`b` is not set there and `{\"c\":null}` here"
        );
        assert_eq!(
            message(&more, &less).unwrap(),
            "`b` is `{\"c\":null}` there and not set here"
        );
    }

    #[test]
    fn order_is_no_difference_and_long_values_are_cut() {
        assert_eq!(
            message(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})),
            None
        );
        let long = "é".repeat(80);
        assert_eq!(
            message(&json!(1), &json!(long)).unwrap(),
            format!(
                "`identity` is `1` there and `\"{}…` here",
                "é".repeat(LONGEST_SHOWN - 1)
            )
        );
    }
}

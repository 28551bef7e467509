//! Differences between two JSON values, such as the settings of two runs.

use std::fmt;

use serde_json::Value;

/// Messages cut longer values.
const LONGEST_SHOWN: usize = 60;

/// One difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path of the difference, such as `judge.model`. Empty if the values under comparison are not both objects.
    pub path: String,
    /// The old value, where there is one.
    pub old: Option<Value>,
    /// The new value, where there is one.
    pub new: Option<Value>,
}

/// Returns every difference between two values, in the order of the new one. Members that only the old object has come last.
///
/// Objects are compared member by member, and the order of members makes no difference. Lists are compared as a whole.
pub fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(String::new(), Some(old), Some(new), &mut found);
    found
}

fn compare(path: String, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Difference>) {
    if let (Some(Value::Object(old)), Some(Value::Object(new))) = (old, new) {
        let gone = old.keys().filter(|name| !new.contains_key(*name));
        for name in new.keys().chain(gone) {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            compare(path, old.get(name), new.get(name), found);
        }
    } else if old != new {
        found.push(Difference {
            path,
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        let (old, new) = (shown(self.old.as_ref()), shown(self.new.as_ref()));
        write!(formatter, "{old} -> {new}")
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "not set".to_owned();
    };
    let text = value.to_string();
    // A text that is cut keeps both of its quotes.
    let quote = if value.is_string() { "\"" } else { "" };
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…{quote}", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(old: &Value, new: &Value) -> Vec<String> {
        let found = differences(old, new);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_first_difference_is_named_with_its_path() {
        let old = json!({"seed": 7, "judge": {"model": "a", "top_p": 1.0}, "k": [1, 2], "old": 1});
        let new = json!({"judge": {"top_p": 1.0, "model": "b"}, "seed": 8});
        assert_eq!(
            messages(&old, &new),
            [
                r#"judge.model: "a" -> "b""#,
                "seed: 7 -> 8",
                "k: [1,2] -> not set",
                "old: 1 -> not set"
            ]
        );
    }

    #[test]
    fn a_setting_of_one_side_only_is_a_difference() {
        let (less, more) = (json!({"a": 1}), json!({"a": 1, "b": {"c": null}}));
        assert_eq!(messages(&less, &more), [r#"b: not set -> {"c":null}"#]);
        assert_eq!(messages(&more, &less), [r#"b: {"c":null} -> not set"#]);
    }

    #[test]
    fn order_makes_no_difference_and_long_values_are_cut() {
        let none: [&str; 0] = [];
        assert_eq!(
            messages(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})),
            none
        );
        let long = "é".repeat(80);
        assert_eq!(
            messages(&json!(1), &json!(long)),
            [format!("1 -> \"{}…\"", "é".repeat(LONGEST_SHOWN - 1))]
        );
    }
}

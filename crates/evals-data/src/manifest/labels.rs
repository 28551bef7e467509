//! What people found wrong with answers that a dataset holds, to evaluate judges with.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::column::one_or_many;

/// What people found wrong with answers that a dataset holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// The measure of the judge that is compared with people: `faithfulness`, for example.
    pub measure: String,
    /// The names of the questions' metadata that say what is wrong with an answer. People pass an answer in which all of them say
    /// that nothing is.
    #[serde(deserialize_with = "one_or_many")]
    pub errors: Vec<String>,
    /// Texts that say that nothing is wrong, such as `PASS`.
    #[serde(default, deserialize_with = "one_or_many")]
    pub pass: Vec<String>,
}

impl Labels {
    /// The kinds of errors that people found in the answer of a question with this metadata, each once; none if they pass it.
    ///
    /// A number other than 0 and `true` mean an error of the metadata's name; any text that is not one of [`pass`](Self::pass), and no
    /// number or truth value, names the kind itself.
    pub fn kinds(&self, metadata: &Map<String, Value>) -> Vec<String> {
        let found = self.errors.iter().map(String::as_str).filter_map(|name| {
            let kind = match metadata.get(name)? {
                Value::Bool(is_wrong) => is_wrong.then_some(name),
                Value::Number(count) => (count.as_f64() != Some(0.0)).then_some(name),
                Value::String(text) => self.kind_of_text(name, text),
                _ => None,
            };
            kind.map(|kind| kind.trim().to_owned())
        });
        let mut kinds: Vec<String> = found.collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    fn kind_of_text<'t>(&self, name: &'t str, text: &'t str) -> Option<&'t str> {
        let trimmed = text.trim();
        let passes = trimmed.is_empty() || self.pass.iter().any(|pass| pass.trim() == trimmed);
        let number = trimmed.parse::<f64>().ok();
        match (passes, number, trimmed.to_lowercase().as_str()) {
            (true, ..) | (_, _, "false") => None,
            (_, Some(number), _) => (number != 0.0).then_some(name),
            (_, None, "true") => Some(name),
            (_, None, _) => Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_truth_values_and_texts_say_what_is_wrong() {
        let labels: Labels =
            serde_json::from_value(json!({"measure": "m", "errors": ["a", "b"], "pass": "PASS"}))
                .unwrap();
        for (metadata, kinds) in [
            (json!({"a": 2, "b": 1.0}), vec!["a", "b"]),
            (json!({"a": true, "b": 0}), vec!["a"]),
            (json!({"a": "PASS ", "b": null}), vec![]),
            (json!({"a": " Unwanted", "b": "Unwanted"}), vec!["Unwanted"]),
            (json!({"a": "0", "b": "False"}), vec![]),
            (json!({"a": "3", "b": "TRUE"}), vec!["a", "b"]),
            (json!({"c": 1}), vec![]),
        ] {
            assert_eq!(
                labels.kinds(metadata.as_object().unwrap()),
                kinds,
                "{metadata}"
            );
        }
    }
}

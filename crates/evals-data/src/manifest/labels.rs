//! What people found wrong with answers that a dataset holds, to evaluate judges with.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

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
    /// The kinds of errors that people found in the answer of a question with this metadata, each once; none if they pass it. `None` if
    /// nobody has labelled it: no error is known, and a label is missing or null.
    ///
    /// A number other than 0, `true` and a list with anything in it mean an error of the metadata's name; any text that is not one of
    /// [`pass`](Self::pass), and no number or truth value, names the kind itself.
    ///
    /// # Errors
    ///
    /// A label is an object.
    pub fn kinds(&self, metadata: &Map<String, Value>) -> Result<Option<Vec<String>>, LabelError> {
        let mut kinds = BTreeSet::new();
        let mut is_labelled = true;
        for name in self.errors.iter().map(String::as_str) {
            let kind = match metadata.get(name) {
                None | Some(Value::Null) => {
                    is_labelled = false;
                    None
                }
                Some(Value::Bool(is_wrong)) => is_wrong.then_some(name),
                Some(Value::Number(count)) => (count.as_f64() != Some(0.0)).then_some(name),
                Some(Value::String(text)) => self.kind_of_text(name, text),
                Some(Value::Array(marks)) => (!marks.is_empty()).then_some(name),
                Some(Value::Object(_)) => return Err(LabelError(name.to_owned())),
            };
            kinds.extend(kind.map(|kind| kind.trim().to_owned()));
        }
        let is_known = is_labelled || !kinds.is_empty();
        Ok(is_known.then(|| kinds.into_iter().collect()))
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

/// A label that says neither that an answer is right nor that it is wrong. The text is the label's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the label `{0}` is an object, which says neither right nor wrong; name its fields: `metadata: [{0}.*]`, and in `labels.errors` those \
     that count errors"
)]
pub struct LabelError(String);

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
            (json!({"a": "PASS ", "b": []}), vec![]),
            (json!({"a": [], "b": [{"start": 3, "end": 9}]}), vec!["b"]),
            (json!({"a": 1, "b": null}), vec!["a"]),
            (json!({"a": " Unwanted", "b": "Unwanted"}), vec!["Unwanted"]),
            (json!({"a": "0", "b": "False"}), vec![]),
            (json!({"a": "3", "b": "TRUE"}), vec!["a", "b"]),
        ] {
            let found = labels.kinds(metadata.as_object().unwrap());
            assert_eq!(found.unwrap().unwrap(), kinds, "{metadata}");
        }
        for unlabelled in [json!({"a": "PASS", "b": null}), json!({"a": 0})] {
            let found = labels.kinds(unlabelled.as_object().unwrap());
            assert_eq!(found, Ok(None), "{unlabelled}");
        }
        let object = json!({"a": {"wrong": true}, "b": 1});
        let error = labels.kinds(object.as_object().unwrap()).unwrap_err();
        assert!(
            error.to_string().starts_with("the label `a` is an object"),
            "{error}"
        );
    }
}

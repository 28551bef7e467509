//! A condition on the metadata of a case: `topic=Sports`, `topic!=Sports`.

use std::fmt;
use std::str::FromStr;

use evals::NO_GROUP;
use serde_json::{Map, Value};

/// A condition on the metadata of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    key: String,
    is_equal: bool,
    value: String,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "write a condition such as `topic=Sports` or `topic!=Sports`";
        let (key, value) = text.split_once('=').ok_or(wanted)?;
        let (key, is_equal) = match key.strip_suffix('!') {
            Some(key) => (key, false),
            None => (key, true),
        };
        if key.trim().is_empty() {
            return Err(wanted.to_owned());
        }
        Ok(Self {
            key: key.trim().to_owned(),
            is_equal,
            value: value.to_owned(),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_equal { "=" } else { "!=" };
        write!(formatter, "{}{sign}{}", self.key, self.value)
    }
}

impl Condition {
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// The values that metadata has for the condition's key, as a condition would name them.
    pub(super) fn values_of(&self, metadata: &Map<String, Value>) -> Vec<String> {
        match metadata.get(&self.key) {
            Some(Value::Array(elements)) if !elements.is_empty() => elements
                .iter()
                .map(|it| evals::group_name(Some(it)))
                .collect(),
            value => vec![evals::group_name(value)],
        }
    }

    /// Whether the metadata has the value; one of a list is enough. An empty value stands for a missing one.
    fn is_value(&self, metadata: &Map<String, Value>) -> bool {
        let wanted = if self.value.is_empty() {
            NO_GROUP
        } else {
            &self.value
        };
        let values = self.values_of(metadata);
        values.iter().any(|value| is_same(value, wanted))
    }
}

/// Numbers are the same if their values are: tables in CSV and parquet write them differently.
fn is_same(value: &str, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    value == wanted || number(value).is_some_and(|value| Some(value) == number(wanted))
}

/// Whether all conditions hold. Of several `KEY=VALUE` with one key, one is enough: a case has one value.
pub(super) fn all_hold(conditions: &[Condition], metadata: &Map<String, Value>) -> bool {
    conditions.iter().all(|condition| {
        if condition.is_equal {
            let same_key = |it: &&Condition| it.is_equal && it.key == condition.key;
            let mut alternatives = conditions.iter().filter(same_key);
            alternatives.any(|it| it.is_value(metadata))
        } else {
            !condition.is_value(metadata)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(conditions: &[&str], metadata: Value) -> bool {
        let conditions: Vec<Condition> = conditions
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let Value::Object(metadata) = metadata else {
            panic!("metadata is an object");
        };
        all_hold(&conditions, &metadata)
    }

    #[test]
    fn values_compare_by_their_text_and_numbers_by_value() {
        assert!(holds(&["topic=Sports"], json!({"topic": "Sports"})));
        assert!(!holds(&["topic=sports"], json!({"topic": "Sports"})));
        assert!(holds(&["year=2024"], json!({"year": 2024.0})));
        assert!(holds(&["year=2024.0"], json!({"year": "2024"})));
        assert!(holds(&["answerable=false"], json!({"answerable": false})));
        assert!(holds(&["formula=a=b"], json!({"formula": "a=b"})));
    }

    #[test]
    fn several_values_of_a_key_are_alternatives_and_keys_add_up() {
        let sports = json!({"topic": "Sports", "year": 2024});
        assert!(holds(&["topic=News", "topic=Sports"], sports.clone()));
        assert!(!holds(&["topic=Sports", "year=2023"], sports.clone()));
        assert!(!holds(&["topic!=News", "topic!=Sports"], sports));
    }

    #[test]
    fn a_missing_value_has_a_name() {
        for missing in [json!({}), json!({"topic": null}), json!({"topic": ""})] {
            assert!(holds(&["topic="], missing.clone()), "{missing}");
            assert!(holds(&["topic=(none)"], missing.clone()), "{missing}");
            assert!(holds(&["topic!=Sports"], missing.clone()), "{missing}");
            assert!(!holds(&["topic!="], missing.clone()), "{missing}");
        }
    }

    #[test]
    fn one_element_of_a_list_is_enough() {
        let tagged = json!({"tags": ["a", "b"]});
        assert!(holds(&["tags=b"], tagged.clone()));
        assert!(!holds(&["tags!=b"], tagged));
    }

    #[test]
    fn a_condition_prints_as_it_was_written() {
        for text in ["topic=Sports", "topic!=", "a=b=c"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        for bad in ["topic", "=Sports", "!=x", ""] {
            assert!(bad.parse::<Condition>().is_err(), "{bad}");
        }
    }
}

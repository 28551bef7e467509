//! The further facts about a question, as reports of question answering hold them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Question;

/// The [metadata](crate::Question::metadata) of a question. In JSON an object, or `null` if there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionMetadata(pub Map<String, Value>);

impl Serialize for QuestionMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (!self.0.is_empty())
            .then_some(&self.0)
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for QuestionMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Option::<Map<String, Value>>::deserialize(deserializer)?;
        let metadata = written.unwrap_or_default();
        // Tells a report of rankings, whose cases have this fact, from one of answers.
        if metadata.contains_key(Question::ANSWERABLE) {
            return Err(D::Error::custom(format!(
                "metadata of question answering has no `{}`",
                Question::ANSWERABLE
            )));
        }
        Ok(Self(metadata))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_metadata_is_null() {
        assert_eq!(json!(QuestionMetadata::default()), json!(null));
        for none in ["null", "{}"] {
            let read: QuestionMetadata = serde_json::from_str(none).unwrap();
            assert_eq!(read, QuestionMetadata::default());
        }
        let some = json!({"topic": "Sports", "year": 2024});
        let read: QuestionMetadata = serde_json::from_value(some.clone()).unwrap();
        assert_eq!(json!(read), some);
        let of_rankings = json!({"answerable": true});
        assert!(serde_json::from_value::<QuestionMetadata>(of_rankings).is_err());
    }
}

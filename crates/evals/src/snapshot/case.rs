//! A case without its texts.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::summary::Gap;
use crate::{CaseId, MeasureValues};

/// A case without its texts.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotCase {
    /// The case's id.
    pub id: CaseId,
    /// Digests of input, expected output and metadata, joined by hyphens.
    pub content: String,
    /// The number of the case's [cluster](crate::Snapshot::clusters). `None` if every case of the run is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// The value of each measure, in the order of the snapshot's measures.
    pub values: Vec<CaseValue>,
}

/// The value of a case for a measure: the mean over its repetitions, or the reason why it is undefined.
///
/// In JSON a number, one of the texts `task failed`, `evaluator failed` and `undefined`, or null where the measure does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CaseValue {
    /// The mean over the repetitions.
    Number(f64),
    /// The task failed.
    TaskFailed,
    /// The evaluator failed.
    EvaluatorFailed,
    /// The measure is undefined for the case.
    Undefined,
    /// The measure does not apply to the case.
    DoesNotApply,
}

impl CaseValue {
    /// The value of a case for a measure. The reason for an undefined value may quote an answer, so it
    /// is left out.
    pub(super) fn of(measure: &MeasureValues<'_>, id: &CaseId) -> Self {
        match (measure.of_cases.get(id), measure.gaps.get(id)) {
            (Some(Ok(number)), _) => Self::Number(*number),
            (_, Some(Gap::TaskFailed)) => Self::TaskFailed,
            (_, Some(Gap::EvaluatorFailed)) => Self::EvaluatorFailed,
            (_, Some(Gap::Undefined(_))) => Self::Undefined,
            (Some(Err(_)) | None, None) => Self::DoesNotApply,
        }
    }

    /// The text that stands for a value that is no number.
    fn word(self) -> Option<&'static str> {
        let gap = match self {
            Self::TaskFailed => Gap::TaskFailed,
            Self::EvaluatorFailed => Gap::EvaluatorFailed,
            Self::Undefined => Gap::Undefined("undefined"),
            Self::Number(_) | Self::DoesNotApply => return None,
        };
        Some(gap.reason())
    }

    /// The number, where there is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::TaskFailed | Self::EvaluatorFailed | Self::Undefined | Self::DoesNotApply => None,
        }
    }

    /// Whether there is no number because something failed.
    pub fn has_failed(self) -> bool {
        matches!(self, Self::TaskFailed | Self::EvaluatorFailed)
    }
}

impl Serialize for CaseValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self, self.word()) {
            (Self::Number(number), _) => crate::finite::serialize(number, serializer),
            (_, Some(word)) => serializer.serialize_str(word),
            (_, None) => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for CaseValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfJson)
    }
}

/// Reads a [`CaseValue`].
struct OfJson;

impl Visitor<'_> for OfJson {
    type Value = CaseValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, `task failed`, `evaluator failed`, `undefined` or null")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<CaseValue, E> {
        Ok(CaseValue::Number(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "JSON has one kind of number; a whole one is written without a point"
    )]
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<CaseValue, E> {
        Ok(CaseValue::Number(number as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "JSON has one kind of number; a whole one is written without a point"
    )]
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<CaseValue, E> {
        Ok(CaseValue::Number(number as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<CaseValue, E> {
        let words = [
            CaseValue::TaskFailed,
            CaseValue::EvaluatorFailed,
            CaseValue::Undefined,
        ];
        let known = words.into_iter().find(|it| it.word() == Some(text));
        known.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_unit<E: de::Error>(self) -> Result<CaseValue, E> {
        Ok(CaseValue::DoesNotApply)
    }
}

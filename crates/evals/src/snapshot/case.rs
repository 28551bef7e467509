//! A case without its texts, and the digests that stand for them.

use crate::json::digest;
use crate::summary::Gap;
use crate::{CaseId, CasePart, CaseReport, Domain, MeasureValues};

const PARTS: [CasePart; 3] = [CasePart::Input, CasePart::Expected, CasePart::Metadata];

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
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(from = "StoredValue", into = "StoredValue")]
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

/// A [`CaseValue`] as JSON holds it.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, `task failed`, `evaluator failed`, `undefined` or null"
)]
enum StoredValue {
    Number(#[serde(serialize_with = "crate::json::finite::serialize")] f64),
    Word(Word),
    Null,
}

/// What stands for a value that is not a number.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[serde(rename = "task failed")]
    TaskFailed,
    #[serde(rename = "evaluator failed")]
    EvaluatorFailed,
    Undefined,
}

impl From<StoredValue> for CaseValue {
    fn from(stored: StoredValue) -> Self {
        match stored {
            StoredValue::Number(number) => Self::Number(number),
            StoredValue::Word(Word::TaskFailed) => Self::TaskFailed,
            StoredValue::Word(Word::EvaluatorFailed) => Self::EvaluatorFailed,
            StoredValue::Word(Word::Undefined) => Self::Undefined,
            StoredValue::Null => Self::DoesNotApply,
        }
    }
}

impl From<CaseValue> for StoredValue {
    fn from(value: CaseValue) -> Self {
        match value {
            CaseValue::Number(number) => Self::Number(number),
            CaseValue::TaskFailed => Self::Word(Word::TaskFailed),
            CaseValue::EvaluatorFailed => Self::Word(Word::EvaluatorFailed),
            CaseValue::Undefined => Self::Word(Word::Undefined),
            CaseValue::DoesNotApply => Self::Null,
        }
    }
}

/// Digests of input, expected output and metadata, joined by hyphens.
pub(super) fn content<D: Domain>(case: &CaseReport<D>) -> String {
    let parts = [
        digest(&case.input),
        digest(&case.expected),
        digest(&case.metadata),
    ];
    parts.join("-")
}

/// The parts in which two contents differ.
pub(crate) fn differing(before: &str, after: &str) -> Vec<CasePart> {
    let mut sides = [before, after].map(|content| content.split('-'));
    let mut differs = |part: &CasePart| {
        let [one, other] = sides.each_mut().map(Iterator::next);
        (one != other).then_some(*part)
    };
    PARTS.iter().filter_map(&mut differs).collect()
}

//! Cases as progress needs them: their outcomes, without inputs and outputs.

use evals::{CaseReport, Domain, Value};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The domain of cases of any benchmark, whose texts are not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct WithoutTexts;

/// A value that is not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skipped;

impl Domain for WithoutTexts {
    type Input = Skipped;
    type Output = Skipped;
    type Expected = Skipped;
    type Metadata = Skipped;
}

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl Serialize for Skipped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

/// Removes what neither measures nor costs need, such as the documents that a target found.
pub(super) fn without_details(mut case: CaseReport<WithoutTexts>) -> CaseReport<WithoutTexts> {
    case.attributes.clear();
    case.spans = None;
    for outcome in &mut case.outcomes {
        // The reason of an undefined value is what the summary counts it under.
        if outcome.value != Value::Undefined {
            outcome.reason = None;
        }
    }
    case
}

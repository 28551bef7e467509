//! The domain of dataset files, whose inputs and outputs are any JSON.

use evals::Domain;
use evals_metrics::Judgements;
use serde_json::Value;

use crate::judged::{judgements, member};

/// Evaluations whose inputs, outputs, expected outputs and metadata are any JSON values.
///
/// The metadata of a case is `null` if the file gives none. Its expected output is `None` if the file gives none.
#[derive(Clone, Copy, Debug)]
pub struct Untyped;

impl Domain for Untyped {
    type Input = Value;
    type Output = Value;
    type Expected = Value;
    type Metadata = Value;

    fn documents(expected: Option<&Value>, metadata: &Value) -> Vec<String> {
        // An expected output that is a list may be anything.
        let relevant = member(expected, metadata, "relevant").and_then(judgements);
        let relevant = relevant.iter().flat_map(Judgements::relevant);
        relevant.map(str::to_owned).collect()
    }
}

//! The domain of dataset files, whose inputs and outputs are any JSON.

use evals::Domain;
use serde_json::Value;

/// Evaluations whose inputs, outputs, expected outputs and metadata are any JSON values.
///
/// A case without metadata has `null`; one without an expected output has none.
#[derive(Clone, Copy, Debug)]
pub struct Untyped;

impl Domain for Untyped {
    type Input = Value;
    type Output = Value;
    type Expected = Value;
    type Metadata = Value;
}

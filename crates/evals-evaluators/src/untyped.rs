//! The domain of dataset files, whose inputs and outputs are any JSON.

use evals::Domain;
use serde_json::Value;

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
}

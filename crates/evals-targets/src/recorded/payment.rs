//! What a run paid for.

use evals_models::{ModelIdentity, Usage};
use serde::{Deserialize, Serialize};

/// Tokens that a run paid for: those of a call of a model, or those that a target reports.
///
/// It holds no amount, so that a session can count with prices that an earlier one did not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The model, as prices name it.
    pub model: ModelIdentity,
    /// Its tokens.
    pub usage: Usage,
}

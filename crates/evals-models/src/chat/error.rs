use std::error::Error;

use thiserror::Error;

use crate::{Failure, ModelIdentity};

/// Why a model gave no reply.
#[derive(Debug, Error)]
#[error("`{model}` gave no answer")]
pub struct ChatError {
    /// The model that was asked.
    pub model: ModelIdentity,
    /// What the caller may do about it. A transient failure comes back only after all attempts were used up.
    pub failure: Failure,
    /// What happened, and for a terminal failure which setting mends it.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

//! The program around batches: it decides whether one may be submitted, and shows how far they are.

use std::error::Error;
use std::fmt::Debug;

use super::event::BatchEvent;

/// The size of a batch before it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSize {
    /// The number of requests.
    pub requests: usize,
    /// Tokens of all requests: an upper bound, because only the server has the model's tokenizer.
    pub input_tokens: u64,
    /// The most tokens of all replies; `None` if a reply has no limit.
    pub output_tokens: Option<u64>,
}

/// The program around batches. Its methods must not block.
pub trait BatchHost: Debug + Send + Sync {
    /// Receives every step of every batch.
    fn on_event(&self, event: &BatchEvent);

    /// How many things are under way that may lead to further requests, such as searches and calls to other models. A batch is not submitted
    /// meanwhile.
    ///
    /// Default: none.
    fn under_way(&self) -> usize {
        0
    }

    /// Reserves the cost of a batch, or refuses it. The error says why, and ends the run.
    ///
    /// Default: allows every batch.
    fn reserve(&self, _size: &BatchSize) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    /// Gives back what was reserved for a batch. Its replies are about to be delivered, or it was not submitted.
    ///
    /// Default: does nothing.
    fn release(&self, _size: &BatchSize) {}
}

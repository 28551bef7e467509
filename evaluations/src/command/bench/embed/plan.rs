//! The settings of the measurement of each model: texts, batch sizes, concurrency and time.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::texts::Texts;

/// The measurements of each model.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) texts: Arc<Texts>,
    /// Ascending, and at least one.
    pub(super) batches: Vec<NonZeroUsize>,
    /// Ascending.
    pub(super) concurrency: Vec<NonZeroUsize>,
    /// Time limit for each model.
    pub(super) time: Duration,
}

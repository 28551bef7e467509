//! A measure of a report, as summaries and comparisons look it up.

use crate::{Direction, Unit};

/// A measure of a report.
#[derive(Clone, Debug)]
pub(crate) struct MeasureKey {
    pub(crate) unit: Unit,
    pub(crate) title: String,
    pub(crate) better: Direction,
}

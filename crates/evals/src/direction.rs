//! Which direction of a measure is better.

use serde::{Deserialize, Serialize};

/// Which direction of a measure is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Higher is better, as for most scores and for pass rates.
    #[default]
    Higher,
    /// Lower is better, as for latencies and error rates.
    Lower,
    /// Neither direction is known to be better, as for recorded metrics. Such a measure has no winner.
    Unknown,
}

impl Direction {
    /// The common direction, or [`Unknown`](Self::Unknown) if they differ.
    pub(crate) fn agreed(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }

    /// The sign of an improvement. `None` if neither direction is known to be better.
    pub(crate) fn gain(self) -> Option<f64> {
        match self {
            Self::Higher => Some(1.0),
            Self::Lower => Some(-1.0),
            Self::Unknown => None,
        }
    }

    /// Like [`agreed`](Self::agreed), but a known direction wins over an unknown one.
    pub(crate) fn reconciled(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (one, another) => one.agreed(another),
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    pub(crate) fn is_higher(&self) -> bool {
        *self == Self::Higher
    }
}

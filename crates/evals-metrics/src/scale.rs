//! The scale that the values of a measure are taken to be on.

use serde::{Deserialize, Serialize};

/// The scale that the values of a measure are taken to be on, by its definition or its unit. It decides which interval a mean has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Scores without a known limit, such as grades.
    #[default]
    Open,
    /// Values from 0 to 1, such as verdicts and rank measures. With any other value among them they count as [`Open`](Self::Open).
    Share,
    /// Amounts, a few of which may be much larger than the others, such as costs, tokens and times.
    Amount,
}

impl Scale {
    /// Whether the values are from 0 to 1: they should be, and all of them are.
    pub(crate) fn is_share<'v>(self, values: impl IntoIterator<Item = &'v f64>) -> bool {
        let mut values = values.into_iter();
        self == Self::Share && values.all(|value| (0.0..=1.0).contains(value))
    }
}

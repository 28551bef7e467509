//! The values that a measure can have.

use serde::{Deserialize, Serialize};

/// The values that a measure can have, as far as its definition says. They decide which interval a mean has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Scores without a known limit, such as grades.
    #[default]
    Open,
    /// Values from 0 to 1, such as verdicts and rank measures.
    Share,
    /// Amounts, a few of which may be much larger than the others, such as costs, tokens and times.
    Amount,
}

impl Scale {
    /// Whether the values are from 0 to 1: the definition says so, and all of them are.
    pub(crate) fn is_share<'v>(self, values: impl IntoIterator<Item = &'v f64>) -> bool {
        let mut values = values.into_iter();
        self == Self::Share && values.all(|value| (0.0..=1.0).contains(value))
    }
}

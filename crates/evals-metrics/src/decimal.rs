//! A finite number as a parameter of a measure.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A finite number that can be compared, sorted and hashed: the parameter of a measure, such as the `p` of `RBP(p=0.8)`.
///
/// Displays with the fewest digits that read back to the same number. `-0` becomes `0`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decimal(f64);

impl Decimal {
    /// The number 1.
    pub const ONE: Self = Self(1.0);

    /// Takes a finite number; `None` for NaN and infinities.
    pub fn new(value: f64) -> Option<Self> {
        // The sum turns -0.0 into 0.0.
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// A number that is known to be finite when the program is compiled.
    pub(crate) const fn constant(value: f64) -> Self {
        assert!(value.is_finite());
        Self(value)
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Why a text is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a finite number")]
pub struct NotADecimal;

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let value = text.parse().map_err(|_| NotADecimal)?;
        Self::new(value).ok_or(NotADecimal)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

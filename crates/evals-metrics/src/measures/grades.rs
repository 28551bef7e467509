//! What grades mean: from which one a document is relevant, and their gains.

use std::fmt;
use std::num::NonZeroU32;

use crate::Decimal;

/// The lowest grade that a binary measure counts as relevant: the `rel` of ir-measures, the `-l` of
/// `trec_eval`. At least 1, which is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MinimumGrade(NonZeroU32);

impl MinimumGrade {
    pub(crate) const ONE: Self = Self(NonZeroU32::MIN);

    /// Sets the lowest relevant grade.
    pub const fn new(grade: NonZeroU32) -> Self {
        Self(grade)
    }

    /// This grade, or `lowest` if this one is the default.
    pub(crate) fn or(self, lowest: Self) -> Self {
        if self == Self::ONE { lowest } else { self }
    }

    /// Whether a document of this grade is relevant; an unjudged one never is.
    pub fn admits(self, grade: Option<i32>) -> bool {
        grade
            .and_then(|grade| u32::try_from(grade).ok())
            .is_some_and(|grade| grade >= self.0.get())
    }
}

impl Default for MinimumGrade {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Display for MinimumGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The gains of some grades; a grade that is not listed has itself as gain. The `gains` of ir-measures and the parameters
/// `grade=gain` of `trec_eval`.
///
/// Holds at most [`MOST`](Self::MOST) grades, in ascending order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gains {
    pairs: [(u32, Decimal); Self::MOST],
    len: usize,
}

impl Gains {
    /// How many grades can have a separate gain.
    pub const MOST: usize = 8;

    /// Gains by grade; `None` for more than [`MOST`](Self::MOST) grades, or if one is listed twice.
    pub fn new(pairs: impl IntoIterator<Item = (u32, Decimal)>) -> Option<Self> {
        let mut gains = Self::default();
        for (grade, gain) in pairs {
            if gains.len == Self::MOST || gains.get(grade).is_some() {
                return None;
            }
            gains.pairs[gains.len] = (grade, gain);
            gains.len += 1;
        }
        gains.pairs[..gains.len].sort_unstable();
        Some(gains)
    }

    /// The listed gain of a grade.
    pub fn get(&self, grade: u32) -> Option<Decimal> {
        let mut pairs = self.iter();
        pairs.find(|pair| pair.0 == grade).map(|pair| pair.1)
    }

    /// The listed gains, in ascending order of grades.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Decimal)> {
        self.pairs[..self.len].iter().copied()
    }

    /// Whether every grade has itself as gain.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The gain of a judged document.
    pub(crate) fn of(&self, grade: i32) -> f64 {
        match u32::try_from(grade) {
            Err(_) => 0.0,
            Ok(listed) => self.get(listed).map_or(f64::from(grade), Decimal::get),
        }
    }
}

/// As Python writes a dictionary: `{0:0,1:3.5}`.
impl fmt::Display for Gains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, (grade, gain)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{grade}:{gain}")?;
        }
        f.write_str("}")
    }
}

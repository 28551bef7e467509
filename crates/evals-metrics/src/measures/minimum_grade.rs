//! The lowest grade of a relevant document.

use std::fmt;
use std::num::NonZeroU32;

/// The lowest grade that a binary measure counts as relevant: the `rel` of ir-measures, the `-l` of
/// `trec_eval`. At least 1, which is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MinimumGrade(NonZeroU32);

impl MinimumGrade {
    /// Sets the lowest relevant grade.
    pub const fn new(grade: NonZeroU32) -> Self {
        Self(grade)
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
        Self(NonZeroU32::MIN)
    }
}

impl fmt::Display for MinimumGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

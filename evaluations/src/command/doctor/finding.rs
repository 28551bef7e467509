//! The result of one check.

use std::fmt;

/// The result of one check. It prints as lines for the user.
pub(super) enum Finding {
    Good(String),
    /// Works, but the user may want to know.
    Note(String),
    /// Prevents a run. `remedy` says how to fix it.
    Bad {
        what: String,
        remedy: String,
    },
}

impl Finding {
    pub(super) fn is_bad(&self) -> bool {
        matches!(self, Self::Bad { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good(what) => writeln!(formatter, "ok    {what}"),
            Self::Note(what) => writeln!(formatter, "note  {what}"),
            Self::Bad { what, remedy } => {
                writeln!(formatter, "bad   {what}\n      {remedy}")
            }
        }
    }
}

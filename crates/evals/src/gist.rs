//! A case in short: what it should have come to, and what it came to.

use std::fmt::{self, Display, Formatter};

use crate::CaseField;

/// A case in short, for views that show many cases, or several runs of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gist {
    /// What was expected, such as the reference.
    pub expected: Option<CaseField>,
    /// What the task returned, such as the answer.
    pub returned: Option<CaseField>,
    /// The place of the first relevant document. `None` if the case has no relevant document, or its output no documents.
    pub first_relevant: Option<FirstRelevant>,
}

/// The place of the first relevant document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRelevant {
    /// Its rank, from 1.
    Rank(usize),
    /// It is not among the documents that were found.
    NotFound,
}

impl Gist {
    /// Picks two of the parts of a case by their names.
    pub fn of(fields: Vec<CaseField>, expected: &str, returned: &str) -> Self {
        let mut gist = Self::default();
        for field in fields {
            if field.name == expected {
                gist.expected = Some(field);
            } else if field.name == returned {
                gist.returned = Some(field);
            }
        }
        gist
    }
}

impl Display for FirstRelevant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank(rank) => rank.fmt(f),
            Self::NotFound => f.write_str("none"),
        }
    }
}

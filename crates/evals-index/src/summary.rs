//! An index in the listing of its store.

use std::fmt;

use crate::header::{Completion, Header};
use crate::identity::{Difference, Identity};

/// An index, as the listing of its store shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSummary {
    /// Name of the table.
    pub name: String,
    /// Whether it can be searched.
    pub state: TableState,
    /// The fields in which it differs from the settings.
    pub differences: Vec<Difference>,
}

/// Whether an index is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableState {
    /// Finished.
    Complete {
        /// Documents in it.
        documents: usize,
        /// Chunks of these documents.
        chunks: usize,
    },
    /// Its build was interrupted or is still running.
    Incomplete,
    /// Not readable, or not written by this tool.
    Unreadable,
}

impl TableSummary {
    pub(crate) fn of(name: &str, header: Option<Header>, settings: &Identity) -> Self {
        let Some(Header {
            completion,
            identity: Some(identity),
        }) = header
        else {
            return Self::unreadable(name.to_owned());
        };
        let state = match completion {
            Some(Completion {
                documents, chunks, ..
            }) => TableState::Complete { documents, chunks },
            None => TableState::Incomplete,
        };
        Self {
            name: name.to_owned(),
            state,
            differences: identity.differences(settings),
        }
    }

    pub(crate) fn unreadable(name: String) -> Self {
        Self {
            name,
            state: TableState::Unreadable,
            differences: Vec::new(),
        }
    }
}

impl fmt::Display for TableSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name, self.state)?;
        for difference in &self.differences {
            write!(formatter, "\n    {difference}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TableState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete { documents, chunks } => {
                let s = |count: usize| if count == 1 { "" } else { "s" };
                write!(
                    formatter,
                    "{documents} document{}, {chunks} chunk{}",
                    s(*documents),
                    s(*chunks)
                )
            }
            Self::Incomplete => formatter.write_str("incomplete"),
            Self::Unreadable => formatter.write_str("unreadable"),
        }
    }
}

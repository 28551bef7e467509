use std::fmt;

use lancedb::table::Table;

use crate::completion::Completion;
use crate::identity::Difference;
use crate::{Identity, IndexError, table};

/// An index as a listing of its store shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSummary {
    /// Name of the table.
    pub name: String,
    /// Whether it can be searched.
    pub state: TableState,
    /// The fields in which it is not what the settings ask for.
    pub differences: Vec<Difference>,
}

/// How far an index has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableState {
    /// Finished.
    Complete {
        /// Documents in it.
        documents: usize,
        /// Chunks that they were cut into.
        chunks: usize,
    },
    /// Its build was interrupted, or is under way.
    Incomplete,
    /// Not readable, or not written by this tool.
    Unreadable,
}

impl TableSummary {
    pub(crate) async fn of(table: &Table, settings: &Identity) -> Result<Self, IndexError> {
        let Some(identity) = table::identity(table).await? else {
            return Ok(Self::unreadable(table.name().to_owned()));
        };
        let state = match table::completion(table).await? {
            Some(Completion { documents, chunks }) => TableState::Complete { documents, chunks },
            None => TableState::Incomplete,
        };
        Ok(Self {
            name: table.name().to_owned(),
            state,
            differences: identity.differences(settings),
        })
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
                write!(formatter, "{documents} documents, {chunks} chunks")
            }
            Self::Incomplete => formatter.write_str("incomplete"),
            Self::Unreadable => formatter.write_str("unreadable"),
        }
    }
}

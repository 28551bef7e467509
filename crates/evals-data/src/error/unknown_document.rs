//! A question that names a document which the corpus does not have.

use std::fmt;

use evals_messages::nearest;

use super::place::Place;

/// A question that names a document which the corpus does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDocument {
    /// The id that names no document.
    pub id: String,
    /// The question's id.
    pub question: String,
    /// The row that names the document.
    pub place: Option<Place>,
    /// Documents of the corpus with a similar id.
    pub nearest: Vec<String>,
}

impl fmt::Display for UnknownDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        write!(
            formatter,
            "question `{}` names `{}`{}",
            self.question,
            self.id,
            nearest::did_you_mean(&self.nearest)
        )
    }
}

//! The page on which people review the questions of a test set.

use serde::Serialize;

use super::template::{TemplateError, render};

/// The page of a set, at [`Link::review`](super::Link::review). Its script asks the server for the questions one by one.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewingPage {
    /// The folder of the set.
    pub name: String,
    /// The reviewer's name to begin with; may be empty.
    pub author: String,
    /// How many questions the set has.
    pub questions: usize,
    /// How many questions a sample has unless the reviewer chooses another number.
    pub size: usize,
}

impl ReviewingPage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("reviewing", self)
    }
}

//! The page on which people review the questions of a test set, or grade the passages of a pool.

use serde::Serialize;

use super::template::{TemplateError, render};

/// What people decide about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reviewed {
    /// Questions of a test set: keep, edit or drop.
    Questions,
    /// Passages of a pool: a grade from 0 to 3.
    Passages,
}

/// The page, at [`Link::review`](super::Link::review). Its script asks the server for what to decide about one by one.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewingPage {
    /// What people decide about.
    pub of: Reviewed,
    /// The folder of the set, or the dataset of the pool.
    pub name: String,
    /// The reviewer's name to begin with; may be empty.
    pub author: String,
    /// How many questions there are.
    pub questions: usize,
    /// How many questions to draw unless the reviewer chooses another number.
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

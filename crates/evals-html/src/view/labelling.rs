//! The page on which people label the answers of a run without seeing what the judge said.

use serde::Serialize;

use super::template::{TemplateError, render};

/// The labelling page of a run. Its script asks the server for the answers one by one, so the page itself tells nothing of them.
#[derive(Clone, Debug, Serialize)]
pub struct LabellingPage {
    /// The name of the run's folder.
    pub name: String,
    /// The address of the run's page.
    pub link: String,
    /// The address that lists the answers to label.
    pub queue: String,
    /// The address that shows one answer.
    pub answer: String,
    /// The address that shows the agreement with the judge.
    pub agreement: String,
    /// The address that takes labels.
    pub labels: String,
    /// The labeller's name to begin with; may be empty.
    pub labeller: String,
    /// The measure that labels are compared with; `None` if the run has no judge.
    pub measure: Option<String>,
    /// Names and addresses of the same page for each judge of the run, if it has several, and whether it is this page.
    pub measures: Vec<(String, String, bool)>,
    /// How many answers there are to label.
    pub answers: usize,
    /// How many of them to label unless the labeller chooses another number.
    pub size: usize,
    /// Why there is less to see than usual, such as a run without a judge.
    pub notice: Option<String>,
}

impl LabellingPage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("labelling", self)
    }
}

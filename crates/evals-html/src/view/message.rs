//! A page of one message: why a page cannot be shown.

use serde::Serialize;

use super::template::{TemplateError, render};

/// A page of one message.
#[derive(Clone, Debug, Serialize)]
pub struct MessagePage {
    /// The way from the page [`up`](super::up) to the list of runs.
    pub up: String,
    /// The title, such as `No such run`.
    pub title: String,
    /// What is wrong, and how to mend it.
    pub sentence: String,
}

impl MessagePage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("message", self)
    }
}

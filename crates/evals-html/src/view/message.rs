//! The pages of one sentence or less: why a page cannot be shown, and where the reader goes instead.

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

/// A page that goes on to another address at once, without scripts. Nothing on it is loaded.
#[derive(Clone, Debug, Serialize)]
pub struct ForwardPage {
    /// The address.
    pub address: String,
}

impl ForwardPage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("forward", self)
    }
}

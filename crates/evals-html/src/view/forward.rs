//! A page that goes on to another address at once.

use serde::Serialize;

use super::template::{TemplateError, render};

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

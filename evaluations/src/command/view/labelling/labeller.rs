//! Who labels, as requests of the page name them.

use serde::Deserialize;

use super::super::failure::PageFailure;
use crate::annotations::checked_labeller;

/// The name of a labeller, not checked yet.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Labeller(String);

impl Labeller {
    /// The name without white space around it. An empty name and one that is too long are errors.
    pub(super) fn name(&self) -> Result<&str, PageFailure> {
        checked_labeller(&self.0).map_err(|error| PageFailure::bad_request(error.to_string()))
    }
}

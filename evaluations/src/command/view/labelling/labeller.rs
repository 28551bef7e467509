//! Who labels, as requests of the page name them.

use serde::Deserialize;

use super::super::failure::PageFailure;

/// The longest name, in characters.
const LONGEST: usize = 100;

/// The name of a labeller, not checked yet.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Labeller(String);

impl Labeller {
    /// The name without white space around it. An empty name and one that is too long are errors.
    pub(super) fn name(&self) -> Result<&str, PageFailure> {
        let name = self.0.trim();
        if name.is_empty() {
            return Err(PageFailure::bad_request(
                "Say who labels: fill in your name.",
            ));
        }
        if name.chars().count() > LONGEST {
            let sentence = format!("The name is longer than {LONGEST} characters.");
            return Err(PageFailure::bad_request(sentence));
        }
        Ok(name)
    }
}

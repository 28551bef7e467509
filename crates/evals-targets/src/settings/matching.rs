//! How the documents of a reply are matched to those of the corpus.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the documents of a reply are matched to those of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MatchSettings {
    /// `auto`, `id`, `rule` or `text`. The default is `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<MatchBy>,
    /// The rule: how the corpus id follows from the id in the reply. `last path segment`, or a regular expression whose first group,
    /// or else whole match, is the corpus id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// By text: the least share of a passage's 8-word shingles that its document has to contain, more than 0 and at most 1. The
    /// default is 0.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// The criterion that decides which document of the corpus a document of a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchBy {
    /// Its id if the corpus has it, else the rule, else its text.
    Auto,
    /// Its id, as it is.
    Id,
    /// Its id, changed by a rule.
    Rule,
    /// Its text.
    Text,
}

impl MatchSettings {
    /// The criterion, with the default if the settings do not name one.
    pub fn by(&self) -> MatchBy {
        self.by.unwrap_or(MatchBy::Auto)
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

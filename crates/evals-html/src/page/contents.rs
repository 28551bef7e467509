//! What a page tells its script about itself.

use serde::Serialize;

/// What the page holds, as its script reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The version of the file's format. The page carries its script, so the two always agree; other readers look at it.
    pub format: u32,
    /// The title of the page.
    pub title: String,
    /// The number of cases.
    pub cases: usize,
    /// The number of passages in the file.
    pub passages: usize,
    /// How often a document of a ranking lacks a passage because the file would have become too large.
    pub passages_left_out: usize,
    /// Whether the file holds texts.
    pub texts: Texts,
    /// The names of the two sides of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<Sides>,
}

impl Contents {
    /// The version of the format that this library writes.
    pub const FORMAT: u32 = 1;
}

/// Whether a page holds texts of the corpus, the dataset and the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Texts {
    /// It does.
    #[default]
    Kept,
    /// It does not, so that it can be shared.
    Omitted,
}

/// The names of the two sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sides {
    /// The run that is compared with.
    pub before: String,
    /// The newer run.
    pub after: String,
}

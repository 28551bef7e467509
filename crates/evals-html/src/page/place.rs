//! Where a page is read.

use serde::Serialize;

/// Where a page is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In a file, which links to nothing outside.
    #[default]
    File,
    /// In the local viewer. Links above the page lead to the list of runs, to the trends, and to these pages.
    Viewer(Vec<PlaceLink>),
}

/// A link above a page in the local viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceLink {
    /// What the reader sees.
    pub title: String,
    /// Where it leads.
    pub address: String,
}

impl Place {
    /// The links of a page in the local viewer beside those of every page; `None` in a file.
    pub(super) fn links(&self) -> Option<&[PlaceLink]> {
        match self {
            Self::File => None,
            Self::Viewer(links) => Some(links),
        }
    }
}

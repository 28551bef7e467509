//! Where a page is read.

use serde::Serialize;

/// Where a page is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In a file, which links to nothing outside.
    #[default]
    File,
    /// In the local viewer. Links above the page lead to the list of runs, to the trends, and to further pages.
    Viewer {
        /// The way from the page [`up`](crate::view::up) to the list of runs.
        up: String,
        /// The further pages.
        links: Vec<PlaceLink>,
    },
}

/// A link above a page in the local viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceLink {
    /// What the reader sees.
    pub title: String,
    /// Where it leads, from the list of runs.
    pub address: String,
}

impl Place {
    /// The way up and the further links of a page in the local viewer; `None` in a file.
    pub(super) fn viewer(&self) -> Option<(&str, &[PlaceLink])> {
        match self {
            Self::File => None,
            Self::Viewer { up, links } => Some((up, links)),
        }
    }
}

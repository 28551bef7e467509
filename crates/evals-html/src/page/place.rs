//! Where a page is read.

/// Where a page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In a file, which links to nothing outside.
    #[default]
    File,
    /// In the local viewer, where links above the page lead to the viewer's own pages.
    Viewer,
}

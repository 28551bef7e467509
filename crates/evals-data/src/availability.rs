//! Whether a dataset can be read at once or needs a download.

use serde::Serialize;

use crate::hub::{Hub, Repository};
use crate::manifest::{Manifest, Source};

/// Whether a dataset can be read at once or needs a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// Nothing: the tool contains it.
    Bundled,
    /// Nothing: its files are the user's own, on disk.
    Local,
    /// Nothing: its files are in the hub cache.
    Cached,
    /// A download from the hub.
    Remote,
}

impl Manifest {
    /// Whether this dataset can be read at once or needs a download. Looks at names in the cache only, and never uses the network.
    pub fn availability(&self, hub: &Hub) -> Availability {
        let of_source = |source: &Source| match source {
            Source::Bundled { .. } | Source::Nothing => Availability::Bundled,
            Source::Path { .. } => Availability::Local,
            Source::Hub {
                repo,
                revision,
                files,
            } if hub.is_cached(&Repository::dataset(repo), revision, files) => Availability::Cached,
            Source::Hub { .. } => Availability::Remote,
        };
        // The table that needs the most decides.
        self.sources()
            .map(of_source)
            .max()
            .unwrap_or(Availability::Remote)
    }
}

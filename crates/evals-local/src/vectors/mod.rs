//! From the vectors of a text's tokens to the vectors that are compared: pooling, projection, normalisation.

mod dense;
mod pooling;

use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;

pub(crate) use dense::{Dense, Subject};
pub(crate) use pooling::normalize;

/// Linear maps applied to vectors one after another. Most models have none.
#[derive(Debug)]
pub(crate) struct Projection {
    maps: Vec<Dense>,
    /// Length of the vectors that it returns.
    pub(crate) width: usize,
    /// One digest for each map that has files of its own.
    pub(crate) digests: Vec<String>,
}

impl Projection {
    /// Loads the modules in these subfolders, for vectors of `width` values.
    pub(crate) fn load(
        folder: &Folder,
        paths: &[String],
        width: usize,
        subject: Subject,
    ) -> Result<Self, LocalError> {
        let mut projection = Self {
            maps: Vec::new(),
            width,
            digests: Vec::new(),
        };
        for path in paths {
            let module = folder.subfolder(path)?;
            let map = Dense::load(&module, projection.width, subject)?;
            projection.width = map.outputs();
            projection.maps.push(map);
            projection.digests.push(Dense::digest(&module)?);
        }
        Ok(projection)
    }

    /// A single map whose weights are among those of the encoder.
    pub(crate) fn single(map: Dense) -> Self {
        Self {
            width: map.outputs(),
            maps: vec![map],
            digests: Vec::new(),
        }
    }

    /// Maps each row.
    pub(crate) fn apply(&self, rows: Vec<f32>, scratch: &mut Scratch) -> Vec<f32> {
        self.maps
            .iter()
            .fold(rows, |rows, map| map.apply(&rows, scratch))
    }
}

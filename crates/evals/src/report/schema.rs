//! The version of the report's JSON schema.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the report's JSON schema that this build writes and reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct SchemaVersion;

impl SchemaVersion {
    /// The number in the file.
    pub const NUMBER: u32 = 1;
}

impl From<SchemaVersion> for u32 {
    fn from(_: SchemaVersion) -> Self {
        SchemaVersion::NUMBER
    }
}

/// A build with another schema version wrote the report.
#[derive(Debug, Error)]
#[error(
    "report has schema version {found}, but this build reads version {}",
    SchemaVersion::NUMBER
)]
pub struct UnknownSchemaVersion {
    found: u32,
}

impl TryFrom<u32> for SchemaVersion {
    type Error = UnknownSchemaVersion;

    fn try_from(found: u32) -> Result<Self, UnknownSchemaVersion> {
        if found == Self::NUMBER {
            Ok(Self)
        } else {
            Err(UnknownSchemaVersion { found })
        }
    }
}

//! Where the results of a run come from.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

/// Where the results of a run come from.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "OriginMembers")]
pub enum Origin {
    /// The run asked the system.
    #[default]
    Run,
    /// The runs of all shards.
    Merge(Merge),
    /// The answers of another run, and the shards that it was merged from.
    Rejudgement(Rejudgement, Option<Merge>),
}

/// The shards that a run was merged from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The number of shards.
    pub of: u32,
    /// The runs that were merged.
    pub shards: Vec<MergedShard>,
}

/// The run of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergedShard {
    /// The name of its folder.
    pub run: String,
    /// Its number, from 1.
    pub shard: u32,
    /// How many cases it had.
    pub cases: usize,
    /// When it started, in UTC.
    pub started: Option<String>,
    /// The command that started it.
    pub command_line: Vec<String>,
}

/// A run whose answers were judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejudgement {
    /// The run whose answers were judged again.
    #[serde(flatten)]
    pub source: StoredSource,
    /// The run that its answers were compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<StoredSource>,
}

/// A run and its report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSource {
    /// The name of its folder.
    pub run: String,
    /// SHA-256 of its report, in hexadecimal.
    #[serde(default)]
    pub report: String,
}

/// The members of a record that say where its results come from.
#[derive(Deserialize)]
struct OriginMembers {
    #[serde(default)]
    merged: Option<Merge>,
    #[serde(default)]
    rejudged: Option<Rejudgement>,
}

impl From<OriginMembers> for Origin {
    fn from(members: OriginMembers) -> Self {
        match (members.rejudged, members.merged) {
            (Some(rejudged), merged) => Self::Rejudgement(rejudged, merged),
            (None, Some(merged)) => Self::Merge(merged),
            (None, None) => Self::Run,
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rejudged, merged) = match self {
            Self::Run => (None, None),
            Self::Merge(merged) => (None, Some(merged)),
            Self::Rejudgement(rejudged, merged) => (Some(rejudged), merged.as_ref()),
        };
        let mut members = serializer.serialize_map(None)?;
        if let Some(merged) = merged {
            members.serialize_entry("merged", merged)?;
        }
        if let Some(rejudged) = rejudged {
            members.serialize_entry("rejudged", rejudged)?;
        }
        members.end()
    }
}

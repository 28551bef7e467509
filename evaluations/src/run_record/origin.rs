//! Where the results of a run come from.

use serde::{Deserialize, Serialize};

/// Where the results of a run come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "OriginMembers", into = "OriginMembers")]
pub(crate) enum Origin {
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
pub(crate) struct Merge {
    /// The number of shards.
    pub(crate) of: u32,
    pub(crate) shards: Vec<MergedShard>,
}

/// The run of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MergedShard {
    /// The name of its folder.
    pub(crate) run: String,
    /// Its number, from 1.
    pub(crate) shard: u32,
    pub(crate) cases: usize,
    pub(crate) started: Option<String>,
    pub(crate) command_line: Vec<String>,
}

/// A run whose answers were judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rejudgement {
    #[serde(flatten)]
    pub(crate) source: StoredSource,
    /// The run that its answers were compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<StoredSource>,
}

/// A run and its report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSource {
    /// The name of its folder.
    pub(crate) run: String,
    /// SHA-256 of its report, in hexadecimal.
    #[serde(default)]
    pub(crate) report: String,
}

/// The members of a record that say where its results come from.
#[derive(Serialize, Deserialize)]
struct OriginMembers {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merged: Option<Merge>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

impl From<Origin> for OriginMembers {
    fn from(origin: Origin) -> Self {
        let (rejudged, merged) = match origin {
            Origin::Run => (None, None),
            Origin::Merge(merged) => (None, Some(merged)),
            Origin::Rejudgement(rejudged, merged) => (Some(rejudged), merged),
        };
        Self { merged, rejudged }
    }
}

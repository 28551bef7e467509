//! The trait of targets, and how reports name them.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Reply, Request, TargetError};

/// A system under test.
#[async_trait]
pub trait Target: Debug + Send + Sync {
    /// The identity of the system under test, as reports and manifests name it.
    fn identity(&self) -> &TargetIdentity;

    /// Asks one question. Several are asked at the same time, at most as many as the run's concurrency.
    async fn ask(&self, request: &Request) -> Result<Reply, TargetError>;

    /// Warnings for the user before a run of these cases: for a file of replies, ids that are missing or that no case has. None by
    /// default.
    fn warnings(&self, _cases: &BTreeSet<&str>) -> Vec<String> {
        Vec::new()
    }

    /// Ends everything that the target started, such as processes. No request follows. Dropping a target has the same effect, but
    /// waits for nothing.
    async fn close(&self) {}
}

/// The identity of a system under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetIdentity {
    /// The kind of target: `http`, `exec`, `chat`, `outputs`, `trec` or `fn`.
    pub kind: String,
    /// The target as the user named it, without credentials.
    pub name: String,
    /// The version that the user gave with `--target-version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Everything else that its replies depend on, such as templates and the digest of a file of outputs. It becomes part of a
    /// run's manifest, so it holds no credentials: a header's value is written as `${NAME}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

/// As users name targets, followed by the version: `exec:python my_rag.py @2.1`.
impl fmt::Display for TargetIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = format!("{}:", self.kind);
        // A service's name is its address.
        let is_whole = self.kind == "http" || self.name.starts_with(&scheme);
        let scheme = if is_whole { "" } else { &scheme };
        write!(formatter, "{scheme}{}", self.name)?;
        match &self.version {
            Some(version) => write!(formatter, " @{version}"),
            None => Ok(()),
        }
    }
}

impl TargetIdentity {
    /// Whether the replies come out of a file, so that nobody is asked and nothing is paid.
    pub fn is_file(&self) -> bool {
        matches!(self.kind.as_str(), "outputs" | "trec")
    }

    /// A target of this kind and name, without a version and parameters.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            version: None,
            parameters: Map::new(),
        }
    }
}

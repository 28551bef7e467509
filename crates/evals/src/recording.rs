//! What a task notes down while it runs: stage timings, metrics, attributes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The service time of one stage of a task, such as a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Names the stage.
    pub stage: String,
    /// How long the stage took, without queueing and retries.
    #[serde(rename = "seconds", with = "crate::seconds")]
    pub duration: Duration,
    /// Whether the stage's result came from a cache. Its duration is then that of the original call, and is aggregated
    /// apart from the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// Everything that one run of a task noted down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Stage timings, in the order they were recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// Named numbers, such as token counts.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        serialize_with = "crate::finite::serialize_all"
    )]
    pub metrics: BTreeMap<String, f64>,
    /// Anything else worth keeping.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, serde_json::Value>,
}

impl Recording {
    /// A recording without entries.
    pub const EMPTY: &Self = &Self {
        timings: Vec::new(),
        metrics: BTreeMap::new(),
        attributes: BTreeMap::new(),
    };
}

//! Repetitions that are missing from values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The repetitions without a value in cases that have one from their other repetitions.
///
/// The value of such a case is the mean over fewer repetitions than were run, though the case counts as any other. Each list
/// holds, for the measures that this happened to, how many repetitions are missing by reason. Labels need no list: their
/// exclusions count every repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingRepetitions {
    /// Of scores.
    #[serde(with = "crate::in_order")]
    pub scores: Vec<(String, BTreeMap<String, usize>)>,
    /// Of assertions.
    #[serde(with = "crate::in_order")]
    pub assertions: Vec<(String, BTreeMap<String, usize>)>,
    /// Of metrics.
    #[serde(with = "crate::in_order")]
    pub metrics: Vec<(String, BTreeMap<String, usize>)>,
}

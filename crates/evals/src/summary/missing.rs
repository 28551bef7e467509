//! Missing repetitions in cases that have a value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Repetitions without a value, in cases that have a value from other repetitions.
///
/// The value of such a case is the mean over fewer repetitions, but the case counts as any other. Each list holds the
/// affected measures with the number of missing repetitions, by reason. Labels need no list: their exclusions count every
/// repetition.
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

//! The settings of vector search, before an index is known.

mod kind;

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use kind::VectorSearchKind;

/// How a search finds the vectors nearest to a question, and the parameters of an approximate search. The default of a parameter depends on
/// the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VectorSearch {
    /// `exact`, `ivf-flat`, `ivf-sq`, `ivf-pq`, `ivf-rq`, `hnsw-flat`, `hnsw-sq` or `hnsw-pq`.
    #[serde(rename = "type")]
    pub kind: VectorSearchKind,
    /// Partitions that the vectors are divided into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<NonZeroU32>,
    /// Codes of a product-quantized vector. Divides its dimension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_vectors: Option<NonZeroU32>,
    /// Bits of each code: 4 or 8 in `pq`, and for each component in `rq`, 1 to 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<NonZeroU32>,
    /// Neighbours of each vector in a graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<NonZeroU32>,
    /// Candidates for the neighbours of a vector while a graph is built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ef_construction: Option<NonZeroU32>,
    /// Partitions that a search reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<NonZeroU32>,
    /// Candidates that a search of a graph keeps; at least as many as the chunks that it returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ef: Option<NonZeroU32>,
    /// To return k chunks, a search compares `refine` × k candidates again by their uncompressed vectors. 0 leaves this step out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<u32>,
}

/// A parameter that a search cannot have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{fault}")]
pub struct VectorSearchError {
    /// The name of the parameter, such as `partitions`.
    pub parameter: &'static str,
    fault: String,
}

impl VectorSearchError {
    /// The error of a parameter.
    pub fn new(parameter: &'static str, fault: impl Into<String>) -> Self {
        Self {
            parameter,
            fault: fault.into(),
        }
    }
}

/// The most neighbours of a vector in a graph, and candidates for them.
const MOST_NEIGHBOURS: u32 = 1024;
/// The most partitions. Training compares each partition with each vector of a sample of 256 vectors for each partition.
const MOST_PARTITIONS: u32 = 65_536;
/// The largest `ef`, and the largest `refine`.
const MOST_CANDIDATES: u32 = 100_000;

impl VectorSearch {
    /// Whether a search compares the question with every vector.
    pub fn is_exact(&self) -> bool {
        self.kind == VectorSearchKind::Exact
    }

    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the parameters that can be checked before an index is known: whether the kind has them, and their range.
    pub fn check(&self) -> Result<(), VectorSearchError> {
        let kind = self.kind;
        let set = self.values();
        if let Some((parameter, _)) = set
            .iter()
            .find(|(parameter, value)| value.is_some() && !kind.has(parameter))
        {
            let parameters = kind.parameters().iter().map(|it| format!("`{it}`"));
            let parameters: Vec<String> = parameters.collect();
            let has = match parameters.as_slice() {
                [] => "no parameters".to_owned(),
                all => all.join(", "),
            };
            return Err(VectorSearchError::new(
                parameter,
                format!("`{kind}` does not have this parameter; it has {has}"),
            ));
        }
        for (parameter, value) in set {
            let (least, most) = limits(kind, parameter);
            if value.is_some_and(|value| !(least..=most).contains(&value)) {
                return Err(VectorSearchError::new(
                    parameter,
                    format!("must be from {least} to {most}"),
                ));
            }
        }
        if kind.is_product_quantized() && self.bits.is_some_and(|it| ![4, 8].contains(&it.get())) {
            return Err(VectorSearchError::new(
                "bits",
                format!("`{kind}` has 4 or 8"),
            ));
        }
        Ok(())
    }

    /// The parameters by name, in the order of the documentation.
    fn values(&self) -> [(&'static str, Option<u32>); 8] {
        [
            ("partitions", self.partitions.map(NonZeroU32::get)),
            ("sub_vectors", self.sub_vectors.map(NonZeroU32::get)),
            ("bits", self.bits.map(NonZeroU32::get)),
            ("m", self.m.map(NonZeroU32::get)),
            ("ef_construction", self.ef_construction.map(NonZeroU32::get)),
            ("probes", self.probes.map(NonZeroU32::get)),
            ("ef", self.ef.map(NonZeroU32::get)),
            ("refine", self.refine),
        ]
    }
}

fn limits(kind: VectorSearchKind, parameter: &str) -> (u32, u32) {
    match parameter {
        "partitions" | "probes" => (1, MOST_PARTITIONS),
        "sub_vectors" => (1, 65_536),
        "bits" if kind == VectorSearchKind::IvfRq => (1, 9),
        "bits" => (4, 8),
        "m" => (2, MOST_NEIGHBOURS),
        "ef_construction" => (2, MOST_NEIGHBOURS * 16),
        "refine" => (0, 1000),
        _ => (1, MOST_CANDIDATES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(yaml: serde_json::Value) -> String {
        let settings: VectorSearch = serde_json::from_value(yaml).unwrap();
        let error = settings.check().unwrap_err();
        format!("{}: {error}", error.parameter)
    }

    #[test]
    fn a_parameter_of_another_kind_is_refused_with_those_of_this_kind() {
        assert_eq!(
            message(serde_json::json!({"type": "ivf-flat", "m": 8})),
            "m: `ivf-flat` does not have this parameter; it has `partitions`, `probes`"
        );
        assert_eq!(
            message(serde_json::json!({"probes": 8})),
            "probes: `exact` does not have this parameter; it has no parameters"
        );
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_the_range() {
        assert_eq!(
            message(serde_json::json!({"type": "ivf-rq", "bits": 10})),
            "bits: must be from 1 to 9"
        );
        assert_eq!(
            message(serde_json::json!({"type": "ivf-pq", "bits": 5})),
            "bits: `ivf-pq` has 4 or 8"
        );
        assert_eq!(
            message(serde_json::json!({"type": "hnsw-sq", "m": 1})),
            "m: must be from 2 to 1024"
        );
    }

    #[test]
    fn exact_search_is_the_default_and_valid() {
        assert!(VectorSearch::default().is_exact());
        assert_eq!(VectorSearch::default().check(), Ok(()));
        let refined = serde_json::json!({"type": "ivf-pq", "refine": 0, "bits": 4});
        let refined: VectorSearch = serde_json::from_value(refined).unwrap();
        assert_eq!(refined.check(), Ok(()));
    }
}

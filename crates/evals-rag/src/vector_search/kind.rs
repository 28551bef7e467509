//! The kinds of vector search, and the parameters that each of them has.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a search finds the vectors nearest to a question.
///
/// All kinds but the first are indexes of LanceDB. The vectors are divided into partitions, and a search reads the partitions whose centres are
/// nearest to the question (IVF). Within a partition, it compares the question with each vector, or follows a graph of neighbours (HNSW). An
/// index holds the vectors as they are (flat), with one byte for each component (SQ), or as codes of product (PQ) or `RaBitQ` (RQ) quantization.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorSearchKind {
    /// Compares the question with every vector.
    #[default]
    Exact,
    /// Partitions of vectors.
    IvfFlat,
    /// Partitions of vectors with one byte for each component.
    IvfSq,
    /// Partitions of product-quantized vectors.
    IvfPq,
    /// Partitions of vectors quantized by `RaBitQ`.
    IvfRq,
    /// Graphs of vectors.
    HnswFlat,
    /// Graphs of vectors with one byte for each component.
    HnswSq,
    /// Graphs of product-quantized vectors.
    HnswPq,
}

impl VectorSearchKind {
    /// All kinds, exact search first.
    pub const ALL: [Self; 8] = [
        Self::Exact,
        Self::IvfFlat,
        Self::IvfSq,
        Self::IvfPq,
        Self::IvfRq,
        Self::HnswFlat,
        Self::HnswSq,
        Self::HnswPq,
    ];

    /// The name of the kind in settings, such as `ivf-pq`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::IvfFlat => "ivf-flat",
            Self::IvfSq => "ivf-sq",
            Self::IvfPq => "ivf-pq",
            Self::IvfRq => "ivf-rq",
            Self::HnswFlat => "hnsw-flat",
            Self::HnswSq => "hnsw-sq",
            Self::HnswPq => "hnsw-pq",
        }
    }

    /// The names of the parameters that the kind has.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Exact => &[],
            Self::IvfFlat => &["partitions", "probes"],
            Self::IvfSq => &["partitions", "probes", "refine"],
            Self::IvfPq => &["partitions", "sub_vectors", "bits", "probes", "refine"],
            Self::IvfRq => &["partitions", "bits", "probes", "refine"],
            Self::HnswFlat => &["partitions", "m", "ef_construction", "probes", "ef"],
            Self::HnswSq => &[
                "partitions",
                "m",
                "ef_construction",
                "probes",
                "ef",
                "refine",
            ],
            Self::HnswPq => &[
                "partitions",
                "sub_vectors",
                "bits",
                "m",
                "ef_construction",
                "probes",
                "ef",
                "refine",
            ],
        }
    }

    /// Whether the kind has a parameter.
    pub fn has(self, parameter: &str) -> bool {
        self.parameters().contains(&parameter)
    }

    /// Whether a search follows a graph of neighbours.
    pub fn is_graph(self) -> bool {
        self.has("m")
    }

    /// Whether an index holds codes of product quantization.
    pub fn is_product_quantized(self) -> bool {
        self.has("sub_vectors")
    }
}

impl fmt::Display for VectorSearchKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_settings() {
        for kind in VectorSearchKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}

//! An approximate search of one index, with a value for each parameter.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use evals_rag::{VectorSearch, VectorSearchError, VectorSearchKind};

/// The fewest vectors for each partition that the engine needs to train a product-quantized index.
const VECTORS_OF_A_PARTITION: u32 = 256;
/// The vectors of one graph. The engine divides larger tables into several graphs.
const VECTORS_OF_A_GRAPH: usize = 1 << 20;
/// By default, a search reads at least so many partitions, or all. A tenth of a small number of partitions finds too little.
const FEWEST_USUAL_PROBES: u32 = 20;
/// The most partitions of the default.
const MOST_USUAL_PARTITIONS: u32 = 4096;

/// An approximate search of one index, with a value for each parameter that its kind has.
///
/// The defaults:
///
/// * `partitions`: the square root of the number of chunks, at most 4,096; with graphs, one for each 1,048,576 chunks. With product
///   quantization, at most one for each 256 chunks, because the engine does not train more.
/// * `sub_vectors`: the dimension divided by 16; by 8 if it is not a multiple of 16, or else 1. That is the engine's default.
/// * `bits`: 8 for product quantization, 5 for `RaBitQ`.
/// * `m`: 20, `ef_construction`: 300, which are the engine's defaults.
/// * `probes`: a tenth of the partitions, rounded up, and at least 20; with graphs, all of them.
/// * `ef`: 100.
/// * `refine`: 10 for product quantization and `RaBitQ`, 2 for scalar quantization.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Approximation {
    /// The index that is searched.
    #[serde(flatten)]
    pub built: VectorIndex,
    /// Partitions that a search reads.
    pub probes: u32,
    /// Candidates that a search of a graph keeps; at least as many as the chunks that it returns. `None` without graphs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ef: Option<u32>,
    /// To return k chunks, a search compares `refine` × k candidates again by their uncompressed vectors. 0 leaves this step out. `None` for
    /// an index that holds the uncompressed vectors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refine: Option<u32>,
}

/// The parameters that build an index of vectors. Searches that differ in the other parameters share the index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VectorIndex {
    /// How the vectors are indexed. Never exact.
    #[serde(rename = "type")]
    pub kind: VectorSearchKind,
    /// Partitions that the vectors are divided into.
    pub partitions: u32,
    /// Codes of a vector; `None` without product quantization.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_vectors: Option<u32>,
    /// Bits of a code; `None` without product quantization and `RaBitQ`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bits: Option<u32>,
    /// Neighbours of each vector; `None` without graphs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub m: Option<u32>,
    /// Candidates for the neighbours; `None` without graphs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ef_construction: Option<u32>,
}

impl Approximation {
    /// The approximate search of an index with this many chunks and dimensions; `None` for exact search. Fails if the kind or the index cannot
    /// have a parameter.
    ///
    /// ```
    /// use evals_index::Approximation;
    /// use evals_rag::{VectorSearch, VectorSearchKind};
    ///
    /// let settings = VectorSearch { kind: VectorSearchKind::IvfPq, ..VectorSearch::default() };
    /// let search = Approximation::of(&settings, 5183, 384)?.expect("it is not exact");
    /// assert_eq!(search.to_string(), "ivf-pq: partitions 20, sub_vectors 24, bits 8, probes 20, refine 10");
    /// # Ok::<(), evals_rag::VectorSearchError>(())
    /// ```
    pub fn of(
        settings: &VectorSearch,
        chunks: usize,
        dimension: usize,
    ) -> Result<Option<Self>, VectorSearchError> {
        settings.check()?;
        if settings.is_exact() {
            return Ok(None);
        }
        let built = VectorIndex::of(settings, chunks, dimension)?;
        let kind = built.kind;
        let usual = if kind.is_graph() {
            built.partitions
        } else {
            let share = built.partitions.div_ceil(10);
            share.max(FEWEST_USUAL_PROBES).min(built.partitions)
        };
        let probes = settings.probes.map_or(usual, NonZeroU32::get);
        if probes > built.partitions {
            return Err(VectorSearchError::new(
                "probes",
                format!("the index has no more partitions than {}", built.partitions),
            ));
        }
        let refine = match kind {
            VectorSearchKind::IvfSq | VectorSearchKind::HnswSq => 2,
            _ => 10,
        };
        Ok(Some(Self {
            probes,
            ef: (kind.is_graph()).then(|| settings.ef.map_or(100, NonZeroU32::get)),
            refine: (kind.has("refine")).then(|| settings.refine.unwrap_or(refine)),
            built,
        }))
    }

    /// The settings that give this search, with every parameter.
    pub fn settings(&self) -> VectorSearch {
        let VectorIndex {
            kind,
            partitions,
            sub_vectors,
            bits,
            m,
            ef_construction,
        } = self.built;
        VectorSearch {
            kind,
            partitions: NonZeroU32::new(partitions),
            sub_vectors: sub_vectors.and_then(NonZeroU32::new),
            bits: bits.and_then(NonZeroU32::new),
            m: m.and_then(NonZeroU32::new),
            ef_construction: ef_construction.and_then(NonZeroU32::new),
            probes: NonZeroU32::new(self.probes),
            ef: self.ef.and_then(NonZeroU32::new),
            refine: self.refine,
        }
    }

    /// The parameters of a search by name, without the parameters of the index.
    pub fn search_parameters(&self) -> Vec<(&'static str, u32)> {
        let all = [
            ("probes", Some(self.probes)),
            ("ef", self.ef),
            ("refine", self.refine),
        ];
        named(all)
    }

    /// The factor `refine`; `None` if a search does not compare uncompressed vectors.
    pub(crate) fn refinement(&self) -> Option<u32> {
        self.refine.filter(|times| *times > 0)
    }

    /// The candidates of a search of a graph for `limit` chunks. The engine refuses fewer candidates than `limit`.
    pub(crate) fn candidates(&self, limit: usize) -> Option<usize> {
        let wanted = limit.saturating_mul(self.refinement().unwrap_or(1) as usize);
        Some(wanted.max(self.ef? as usize))
    }
}

impl VectorIndex {
    fn of(
        settings: &VectorSearch,
        chunks: usize,
        dimension: usize,
    ) -> Result<Self, VectorSearchError> {
        let kind = settings.kind;
        let bits = match kind {
            VectorSearchKind::IvfRq => Some(5),
            _ => kind.is_product_quantized().then_some(8),
        };
        let bits = bits.map(|usual| settings.bits.map_or(usual, NonZeroU32::get));
        let sub_vectors = sub_vectors(settings, dimension, bits)?;
        if kind.is_product_quantized()
            && let Some(codes) = bits.map(|bits| 1_usize << bits)
            && chunks < codes
        {
            return Err(VectorSearchError::new(
                "type",
                format!(
                    "the engine needs at least {codes} chunks to train `{kind}`, and the index has {chunks}"
                ),
            ));
        }
        let graph = |value: Option<NonZeroU32>, usual| {
            kind.is_graph()
                .then(|| value.map_or(usual, NonZeroU32::get))
        };
        Ok(Self {
            kind,
            partitions: partitions(settings, chunks)?,
            sub_vectors,
            bits,
            m: graph(settings.m, 20),
            ef_construction: graph(settings.ef_construction, 300),
        })
    }

    /// The parameters by name.
    pub fn parameters(&self) -> Vec<(&'static str, u32)> {
        named([
            ("partitions", Some(self.partitions)),
            ("sub_vectors", self.sub_vectors),
            ("bits", self.bits),
            ("m", self.m),
            ("ef_construction", self.ef_construction),
        ])
    }
}

/// The partitions of the settings, or the default. Without this check, the engine would silently train fewer partitions if the index has too
/// few chunks.
fn partitions(settings: &VectorSearch, chunks: usize) -> Result<u32, VectorSearchError> {
    let kind = settings.kind;
    let chunks = u32::try_from(chunks).unwrap_or(u32::MAX);
    let most = if kind.is_product_quantized() {
        chunks / VECTORS_OF_A_PARTITION
    } else {
        chunks
    };
    let most = most.max(1);
    if let Some(partitions) = settings.partitions.map(NonZeroU32::get) {
        if partitions > most {
            return Err(VectorSearchError::new(
                "partitions",
                format!("`{kind}` has at most {most} for the {chunks} chunks of the index"),
            ));
        }
        return Ok(partitions);
    }
    let usual = if kind.is_graph() {
        u32::try_from((chunks as usize).div_ceil(VECTORS_OF_A_GRAPH)).unwrap_or(u32::MAX)
    } else {
        chunks.isqrt().min(MOST_USUAL_PARTITIONS)
    };
    Ok(usual.clamp(1, most))
}

fn sub_vectors(
    settings: &VectorSearch,
    dimension: usize,
    bits: Option<u32>,
) -> Result<Option<u32>, VectorSearchError> {
    if !settings.kind.is_product_quantized() {
        return Ok(None);
    }
    let dimension = u32::try_from(dimension).unwrap_or(u32::MAX);
    let usual = [16, 8]
        .into_iter()
        .find(|width| dimension.is_multiple_of(*width))
        .map_or(1, |width| dimension / width);
    let codes = settings.sub_vectors.map_or(usual, NonZeroU32::get);
    let divides = codes <= dimension && dimension.is_multiple_of(codes);
    if !divides {
        return Err(VectorSearchError::new(
            "sub_vectors",
            format!("{codes} does not divide the {dimension} dimensions of the vectors"),
        ));
    }
    if bits == Some(4) && !codes.is_multiple_of(2) {
        return Err(VectorSearchError::new(
            "sub_vectors",
            format!("codes of 4 bits have an even number of sub-vectors, not {codes}"),
        ));
    }
    Ok(Some(codes))
}

fn named<const N: usize>(values: [(&'static str, Option<u32>); N]) -> Vec<(&'static str, u32)> {
    let set = values.into_iter();
    set.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

impl fmt::Display for Approximation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.built)?;
        for (name, value) in self.search_parameters() {
            write!(formatter, ", {name} {value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for VectorIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind)?;
        let mut gap = ": ";
        for (name, value) in self.parameters() {
            write!(formatter, "{gap}{name} {value}")?;
            gap = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: serde_json::Value, chunks: usize) -> Result<String, String> {
        let settings: VectorSearch = serde_json::from_value(json).unwrap();
        match Approximation::of(&settings, chunks, 384) {
            Ok(search) => Ok(search.map_or("exact".to_owned(), |it| it.to_string())),
            Err(error) => Err(format!("{}: {error}", error.parameter)),
        }
    }

    #[test]
    fn defaults_follow_the_size_of_the_index() {
        let usual = |kind: &str, chunks| of(serde_json::json!({"type": kind}), chunks).unwrap();
        assert_eq!(usual("exact", 10), "exact");
        assert_eq!(
            usual("ivf-flat", 5183),
            "ivf-flat: partitions 71, probes 20"
        );
        assert_eq!(
            usual("ivf-pq", 1_000_000),
            "ivf-pq: partitions 1000, sub_vectors 24, bits 8, probes 100, refine 10"
        );
        assert_eq!(
            usual("hnsw-sq", 3_000_000),
            "hnsw-sq: partitions 3, m 20, ef_construction 300, probes 3, ef 100, refine 2"
        );
        assert_eq!(
            usual("ivf-rq", 0),
            "ivf-rq: partitions 1, bits 5, probes 1, refine 10"
        );
    }

    #[test]
    fn what_an_index_cannot_have_is_refused() {
        let refused = |json, chunks| of(json, chunks).unwrap_err();
        assert_eq!(
            refused(
                serde_json::json!({"type": "ivf-pq", "partitions": 72}),
                5183
            ),
            "partitions: `ivf-pq` has at most 20 for the 5183 chunks of the index"
        );
        assert_eq!(
            refused(
                serde_json::json!({"type": "ivf-flat", "partitions": 4, "probes": 5}),
                5183
            ),
            "probes: the index has no more partitions than 4"
        );
        assert_eq!(
            refused(serde_json::json!({"type": "hnsw-pq"}), 255),
            "type: the engine needs at least 256 chunks to train `hnsw-pq`, and the index has 255"
        );
        assert_eq!(
            refused(
                serde_json::json!({"type": "ivf-pq", "sub_vectors": 25}),
                5183
            ),
            "sub_vectors: 25 does not divide the 384 dimensions of the vectors"
        );
    }

    #[test]
    fn the_settings_of_a_search_give_it_again() {
        for kind in VectorSearchKind::ALL {
            let settings = VectorSearch {
                kind,
                ..VectorSearch::default()
            };
            let Some(search) = Approximation::of(&settings, 5183, 384).unwrap() else {
                continue;
            };
            let again = Approximation::of(&search.settings(), 5183, 384).unwrap();
            assert_eq!(again.as_ref(), Some(&search));
            let json = serde_json::to_string(&search).unwrap();
            assert_eq!(
                serde_json::from_str::<Approximation>(&json).unwrap(),
                search
            );
        }
    }

    #[test]
    fn a_graph_has_at_least_as_many_candidates_as_it_has_to_find() {
        let settings = VectorSearch {
            kind: VectorSearchKind::HnswSq,
            ..VectorSearch::default()
        };
        let search = Approximation::of(&settings, 5183, 384).unwrap().unwrap();
        assert_eq!(search.candidates(10), Some(100));
        assert_eq!(search.candidates(70), Some(140), "refined twice");
    }
}

//! How a table that another program wrote is searched.

use std::num::{NonZeroU32, NonZeroUsize};

use lancedb::DistanceType;
use serde::Deserialize;

use crate::search::SearchOptions;

/// How a table is searched, as the settings of a target write it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForeignSearch {
    /// What is compared. By default vectors, or words in a table without vectors.
    pub mode: Option<ForeignMode>,
    /// A condition over the table's columns that rows have to meet, in the engine's SQL.
    pub filter: Option<String>,
    /// How vectors are compared. By default as the searched index does, or by cosine without one.
    pub distance: Option<ForeignDistance>,
    /// Whether the table's index of the vectors is searched. By default every vector is compared.
    pub index: bool,
    /// Partitions of the index to search; `None` is the engine's default, as in the next two.
    pub nprobes: Option<NonZeroUsize>,
    /// Candidates in each graph of the index.
    pub ef: Option<NonZeroUsize>,
    /// How many times the rows to compare again with whole vectors.
    pub refine_factor: Option<NonZeroU32>,
    /// How many rows each of the two searches contributes to a hybrid one. Default [`SearchOptions::CANDIDATES`].
    pub candidates: NonZeroUsize,
    /// The constant of the reciprocal rank fusion. Default 60.
    pub rrf_k: NonZeroU32,
}

impl Default for ForeignSearch {
    fn default() -> Self {
        Self {
            mode: None,
            filter: None,
            distance: None,
            index: false,
            nprobes: None,
            ef: None,
            refine_factor: None,
            candidates: SearchOptions::CANDIDATES,
            rrf_k: NonZeroU32::new(60).expect("60 is not 0"),
        }
    }
}

/// What a search compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignMode {
    /// Vectors.
    Vector,
    /// Words, by BM25 in the table's full-text index.
    Keyword,
    /// Both, fused by ranks.
    Hybrid,
}

/// How two vectors are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignDistance {
    /// By the cosine of their angle.
    #[default]
    Cosine,
    /// By the square of their distance.
    L2,
    /// By their dot product.
    Dot,
}

impl ForeignSearch {
    /// The first parameter that only the search of an index has, if it is set without one.
    pub fn idle_parameter(&self) -> Option<&'static str> {
        let of_index = [
            ("nprobes", self.nprobes.is_some()),
            ("ef", self.ef.is_some()),
            ("refine_factor", self.refine_factor.is_some()),
        ];
        let mut set = of_index
            .into_iter()
            .filter(|(_, is_set)| *is_set && !self.index);
        set.next().map(|(name, _)| name)
    }
}

impl ForeignDistance {
    /// The engine's name for it.
    pub(super) fn engine(self) -> DistanceType {
        match self {
            Self::Cosine => DistanceType::Cosine,
            Self::L2 => DistanceType::L2,
            Self::Dot => DistanceType::Dot,
        }
    }

    /// The distance with the engine's name; `None` for one that floating-point vectors do not have.
    pub(super) fn of_engine(distance: DistanceType) -> Option<Self> {
        let all = [Self::Cosine, Self::L2, Self::Dot];
        all.into_iter().find(|it| it.engine() == distance)
    }

    /// The score of a distance, which is higher for nearer vectors.
    pub(super) fn score(self, distance: f32) -> f32 {
        match self {
            Self::Cosine | Self::Dot => 1.0 - distance,
            Self::L2 => -distance,
        }
    }
}

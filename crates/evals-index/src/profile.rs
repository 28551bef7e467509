//! Search profiles: the ways to search an index, their parameters and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A way to search an index.
///
/// Written and read as `unranked`, `bm25`, `semantic`, `hybrid` (reciprocal rank fusion), `hybrid-linear` and `hybrid-log-bm25`.
/// A parameter with another value than the default follows the name: `hybrid-rrf-20`, `hybrid-linear-0.3`.
///
/// ```
/// use evals_index::{Fusion, Profile};
///
/// assert_eq!("hybrid".parse(), Ok(Profile::Hybrid(Fusion::Rrf { k: 60 })));
/// assert_eq!(Profile::Hybrid(Fusion::Linear { weight: 0.3 }).to_string(), "hybrid-linear-0.3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Profile {
    /// The documents in the order of the index, the same for every question: a baseline for rankings. Scores are 1/rank and decrease
    /// strictly.
    Unranked,
    /// Full-text search. The score is BM25's; see [`FullText`](crate::FullText).
    Bm25,
    /// Exact search for the nearest embeddings. The score is the cosine similarity, 1 − the engine's cosine distance.
    Semantic,
    /// Both searches, fused.
    Hybrid(Fusion),
}

/// A name that is not a profile's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no search profile `{0}`: there are `unranked`, `bm25`, `semantic`, `hybrid`, `hybrid-rrf-K`, `hybrid-linear`, `hybrid-linear-WEIGHT` and `hybrid-log-bm25`"
)]
pub struct UnknownProfile(String);

impl Profile {
    /// All profiles, each with its default parameters.
    pub fn all() -> [Self; 6] {
        [
            Self::Unranked,
            Self::Bm25,
            Self::Semantic,
            Self::Hybrid(Fusion::default()),
            Self::Hybrid(Fusion::Linear {
                weight: Fusion::DEFAULT_WEIGHT,
            }),
            Self::Hybrid(Fusion::LogBm25),
        ]
    }

    /// Whether the profile compares embeddings, which the index must then have.
    pub fn needs_embeddings(self) -> bool {
        matches!(self, Self::Semantic | Self::Hybrid(_))
    }

    /// Whether the profile searches the full-text index.
    pub(crate) fn needs_full_text(self) -> bool {
        matches!(self, Self::Bm25 | Self::Hybrid(_))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unranked => formatter.write_str("unranked"),
            Self::Bm25 => formatter.write_str("bm25"),
            Self::Semantic => formatter.write_str("semantic"),
            Self::Hybrid(fusion) if *fusion == Fusion::default() => formatter.write_str("hybrid"),
            Self::Hybrid(Fusion::Rrf { k }) => write!(formatter, "hybrid-rrf-{k}"),
            Self::Hybrid(Fusion::Linear { weight }) if *weight == Fusion::DEFAULT_WEIGHT => {
                formatter.write_str("hybrid-linear")
            }
            Self::Hybrid(Fusion::Linear { weight }) => write!(formatter, "hybrid-linear-{weight}"),
            Self::Hybrid(Fusion::LogBm25) => formatter.write_str("hybrid-log-bm25"),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let profile = match name {
            "unranked" => Some(Self::Unranked),
            "bm25" => Some(Self::Bm25),
            "semantic" => Some(Self::Semantic),
            "hybrid" => Some(Self::Hybrid(Fusion::default())),
            _ => name
                .strip_prefix("hybrid-")
                .and_then(fusion)
                .map(Self::Hybrid),
        };
        profile.ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

fn fusion(name: &str) -> Option<Fusion> {
    match name {
        "rrf" => Some(Fusion::default()),
        "linear" => Some(Fusion::Linear {
            weight: Fusion::DEFAULT_WEIGHT,
        }),
        "log-bm25" => Some(Fusion::LogBm25),
        _ => {
            let fusion = match name.split_once('-')? {
                ("rrf", k) => Fusion::Rrf { k: k.parse().ok()? },
                ("linear", weight) => Fusion::Linear {
                    weight: weight.parse().ok()?,
                },
                _ => return None,
            };
            fusion.is_valid().then_some(fusion)
        }
    }
}

/// How the two rankings of a hybrid search become one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fusion {
    /// Reciprocal rank fusion: Σ 1 / (k + rank), ranks from 1.
    ///
    /// Source: Cormack, Clarke and Büttcher, *Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods*,
    /// SIGIR 2009, where k = 60 was found to be near the best.
    Rrf {
        /// At least 1, default 60. The larger it is, the less the first ranks stand out.
        #[serde(default = "default_k")]
        k: u32,
    },
    /// Convex combination of min-max normalised scores: weight · semantic + (1 − weight) · lexical.
    ///
    /// Each search's scores are mapped to 0 … 1 over the chunks that it returned for the question. Equal scores all become 1, and a
    /// chunk that a search did not return gets 0 from it. Source: Bruch, Gai and Ingber, *An Analysis of Fusion Functions for Hybrid
    /// Retrieval*, ACM TOIS 42, 2023.
    Linear {
        /// Share of the semantic score, 0 to 1. Default 0.5.
        #[serde(default = "default_weight")]
        weight: f64,
    },
    /// closeness + log10(1 + bm25), with closeness = 1 / (1 + cosine distance).
    ///
    /// A term is dropped if its search did not return the chunk, and the logarithm also if the BM25 score is not above 0.
    /// Closeness is defined as in Vespa's rank feature of that name; the logarithm brings BM25, which has no upper bound, to the
    /// same order of magnitude without looking at the other results. A plain log10(bm25) would be negative for scores below 1,
    /// and a match would lower a chunk's score.
    LogBm25,
}

fn default_k() -> u32 {
    Fusion::DEFAULT_K
}

fn default_weight() -> f64 {
    Fusion::DEFAULT_WEIGHT
}

impl Default for Fusion {
    fn default() -> Self {
        Self::Rrf { k: Self::DEFAULT_K }
    }
}

impl Fusion {
    /// Cormack's k.
    pub const DEFAULT_K: u32 = 60;
    /// Both searches have the same weight.
    pub const DEFAULT_WEIGHT: f64 = 0.5;

    /// Whether the parameters are valid: `k` is at least 1, and `weight` is in 0 … 1.
    pub fn is_valid(self) -> bool {
        match self {
            Self::Linear { weight } => (0.0..=1.0).contains(&weight),
            Self::Rrf { k } => k > 0,
            Self::LogBm25 => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let others = [
            Profile::Hybrid(Fusion::Rrf { k: 20 }),
            Profile::Hybrid(Fusion::Linear { weight: 0.25 }),
        ];
        let names: Vec<_> = Profile::all()
            .into_iter()
            .chain(others)
            .map(|profile| {
                let name = profile.to_string();
                assert_eq!(name.parse(), Ok(profile));
                name
            })
            .collect();
        assert_eq!(
            names,
            [
                "unranked",
                "bm25",
                "semantic",
                "hybrid",
                "hybrid-linear",
                "hybrid-log-bm25",
                "hybrid-rrf-20",
                "hybrid-linear-0.25"
            ]
        );
        assert_eq!("hybrid-rrf".parse(), Ok(Profile::Hybrid(Fusion::default())));
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "BM25",
            "hybrid-",
            "hybrid-rrf-",
            "hybrid-rrf--1",
            "hybrid-rrf-0",
            "hybrid-linear-2",
            "hybrid-linear-NaN",
            "splade",
        ] {
            assert!(name.parse::<Profile>().is_err(), "`{name}`");
        }
        let message = "splade".parse::<Profile>().unwrap_err().to_string();
        assert!(message.starts_with("no search profile `splade`: there are `unranked`, `bm25`"));
    }

    #[test]
    fn settings_name_the_method() {
        let read = |json| serde_json::from_str::<Fusion>(json);
        assert_eq!(read(r#"{"method":"rrf"}"#).unwrap(), Fusion::default());
        assert_eq!(
            read(r#"{"method":"linear","weight":0.25}"#).unwrap(),
            Fusion::Linear { weight: 0.25 }
        );
        assert_eq!(read(r#"{"method":"log-bm25"}"#).unwrap(), Fusion::LogBm25);
        assert!(read(r#"{"method":"rrf","weight":0.25}"#).is_err());
        assert!(!Fusion::Linear { weight: 1.5 }.is_valid());
        assert!(!Fusion::Rrf { k: 0 }.is_valid());
        assert!(Fusion::Rrf { k: 1 }.is_valid());
    }
}

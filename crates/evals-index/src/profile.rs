use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::Fusion;

/// A way to search an index.
///
/// Written and read as `unranked`, `bm25`, `semantic`, `hybrid` (reciprocal rank fusion), `hybrid-linear` and `hybrid-log-bm25`.
/// A parameter that is not the default follows: `hybrid-rrf-20`, `hybrid-linear-0.3`.
///
/// ```
/// use evals_index::{Fusion, Profile};
///
/// assert_eq!("hybrid".parse(), Ok(Profile::Hybrid(Fusion::Rrf { k: 60 })));
/// assert_eq!(Profile::Hybrid(Fusion::Linear { weight: 0.3 }).to_string(), "hybrid-linear-0.3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Profile {
    /// The documents in the order of the index, the same for every question: what a ranking has to beat. Scores are 1/rank, and fall strictly.
    Unranked,
    /// Full-text search; the score is BM25's, see [`FullText`](crate::FullText).
    Bm25,
    /// Exact search of the nearest embeddings; the score is the cosine similarity, 1 − the engine's cosine distance.
    Semantic,
    /// Both searches, fused.
    Hybrid(Fusion),
}

/// A name that no profile has.
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

    /// Whether the profile compares embeddings, so that the index has to have them.
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
}

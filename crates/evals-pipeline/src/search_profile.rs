//! Search profiles and their names in the command line and the settings.

use std::fmt;

use evals_index::{Profile, UnknownProfile};
use evals_messages::nearest;
use evals_settings::RERANK;

/// A search of the index, and whether its results are reranked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SearchProfile {
    pub(crate) base: Profile,
    pub(crate) rerank: bool,
}

/// A name that is not a search profile.
#[derive(Debug, thiserror::Error)]
#[error(
    "{unknown}, each also with the suffix `{RERANK}`, and `all`{}",
    nearest::did_you_mean(nearest)
)]
pub(crate) struct UnknownSearchProfile {
    unknown: UnknownProfile,
    nearest: Option<String>,
}

impl UnknownSearchProfile {
    /// The error for `name`, which the index does not know.
    pub(crate) fn new(name: &str, unknown: UnknownProfile) -> Self {
        let mut names: Vec<String> = Profile::all().iter().map(ToString::to_string).collect();
        names.push("all".to_owned());
        let reranked: Vec<String> = names.iter().map(|name| name.clone() + RERANK).collect();
        names.extend(reranked);
        let nearest = nearest::of(name, names.iter().map(String::as_str));
        Self {
            nearest: nearest.map(str::to_owned),
            unknown,
        }
    }
}

impl SearchProfile {
    /// The same profile with its results reranked.
    pub(crate) fn reranked(self) -> Self {
        Self {
            rerank: true,
            ..self
        }
    }
}

impl From<Profile> for SearchProfile {
    fn from(base: Profile) -> Self {
        Self {
            base,
            rerank: false,
        }
    }
}

impl fmt::Display for SearchProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.rerank { RERANK } else { "" };
        write!(formatter, "{}{suffix}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        let base = name.strip_suffix(RERANK).unwrap_or(name);
        let unknown = base.parse::<Profile>().unwrap_err();
        UnknownSearchProfile::new(name, unknown).to_string()
    }

    #[test]
    fn a_misspelt_name_lists_the_profiles_and_the_nearest_one() {
        assert_eq!(
            message("hybrd"),
            "no search profile `hybrd`: there are `unranked`, `bm25`, `semantic`, `hybrid`, `hybrid-rrf-K`, `hybrid-linear`, \
             `hybrid-linear-WEIGHT` and `hybrid-log-bm25`, each also with the suffix `+rerank`, and `all`; did you mean `hybrid`?"
        );
        assert!(message("bm52+rerank").ends_with("; did you mean `bm25+rerank`?"));
        assert!(message("bm25+rernk").ends_with("; did you mean `bm25+rerank`?"));
        assert!(message("splade").ends_with(", and `all`"));
    }
}

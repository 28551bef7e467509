//! Why a run cannot be scored.

use thiserror::Error;

use super::rows::File;
use crate::trec::ParseError;

/// Why a run cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScoringError {
    /// A line, or a document of a JSON file, is invalid. Of several, it is the first one.
    #[error("cannot read the {file}")]
    Invalid {
        /// The file.
        file: File,
        /// What is wrong, and where.
        #[source]
        error: ParseError,
    },
    /// No query counts: the run ranks documents for other queries than those that are judged.
    #[error(
        "no query has both judgements and rankings: the judgements have {judged} queries{}, the rankings {ranked}{}; check that both \
         files belong to the same collection",
        such_as(first_judged.as_deref()),
        such_as(first_ranked.as_deref())
    )]
    NoCommonQuery {
        /// The number of queries with judgements.
        judged: usize,
        /// The first of them.
        first_judged: Option<String>,
        /// The number of queries with rankings.
        ranked: usize,
        /// The first of them.
        first_ranked: Option<String>,
    },
}

fn such_as(query: Option<&str>) -> String {
    query.map_or_else(String::new, |query| format!(" such as `{query}`"))
}

//! What changes the values of all measures.

use std::num::NonZeroUsize;

use crate::measures::MinimumGrade;
use crate::{Queries, TrecEval};

/// Options of [`score`](super::score()). The defaults are those of `trec_eval`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Which queries count: `-c` of `trec_eval` for [`Queries::Judged`].
    pub queries: Queries,
    /// The lowest relevant grade of measures that do not set their own: `-l`. Default: 1.
    pub relevant_from: MinimumGrade,
    /// Looks at the best documents of each query only: `-M`. Default: all.
    pub max_documents: Option<NonZeroUsize>,
    /// Takes documents without a judgement, or with a negative grade, out of each ranking: `-J`. It happens after
    /// `max_documents`.
    pub judged_only: bool,
    /// The number of documents in the collection, which the fourth coefficient of `utility` needs: `-N`. Default: 0.
    pub collection_size: u32,
    /// Whose rules decide where versions of `trec_eval` differ.
    pub version: TrecEval,
}

//! The share of retrieved documents that has a judgement.

use std::num::NonZeroUsize;

use crate::Undefined;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

/// `Judged` and `Judged@k`: the share of retrieved documents that has a judgement, of any grade.
///
/// ```text
/// Judged@k = (judged documents down to rank k) / min(k, documents retrieved)
/// ```
///
/// It shows how far the other measures can be trusted: a system that finds unjudged documents
/// scores low without being bad. Equals `Judged@k` of ir-measures, apart from ties, which
/// ir-measures breaks by ascending id here. Undefined for an empty ranking.
///
/// Source: ir-measures, `providers/judged_provider.py`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Judged {
    /// Looks at the best k documents only.
    pub cutoff: Option<NonZeroUsize>,
}

impl Judged {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let top = ranking.top(self.cutoff);
        if top.is_empty() {
            return Err(Undefined::EmptyRanking);
        }
        let judged = top.iter().filter(|grade| grade.is_some()).count();
        Ok(share(judged, top.len()))
    }
}

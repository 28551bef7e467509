//! Measures of the retrieved documents as a set, whatever their order.

use super::MinimumGrade;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `SetP`: the share of relevant documents among the retrieved ones.
///
/// Equals `set_P` of `trec_eval`. Undefined for an empty ranking; 0 without relevant documents.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetPrecision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl SetPrecision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let retrieved = ranking.retrieved()?.get();
        Ok(share(ranking.relevant_retrieved(self.rel, None), retrieved))
    }
}

/// `SetRelP`: [`SetPrecision`] as a share of the highest one that a set of this size could have.
///
/// ```text
/// SetRelP = relevant retrieved / min(retrieved, relevant)
/// ```
///
/// Equals `set_relative_P` of `trec_eval` and `SetP(relative=True)` of ir-measures. Undefined without relevant documents and
/// for an empty ranking.
///
/// Source: `trec_eval`, `m_set_rel_P.c`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetRelativePrecision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl SetRelativePrecision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let possible = ranking.relevant(self.rel)?.min(ranking.retrieved()?).get();
        Ok(share(ranking.relevant_retrieved(self.rel, None), possible))
    }
}

/// `SetR`: the share of the relevant documents that was retrieved.
///
/// Equals `set_recall` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetRecall {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl SetRecall {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?.get();
        Ok(share(ranking.relevant_retrieved(self.rel, None), relevant))
    }
}

/// `SetF`: the weighted harmonic mean of [`SetPrecision`] P and [`SetRecall`] R.
///
/// ```text
/// SetF = (β + 1) · P · R / (β · P + R)
/// ```
///
/// `beta` is the weight of R as in `set_F` of `trec_eval` and in ir-measures, not its square root as in the literature's
/// F-β. Undefined without relevant documents; 0 if none was retrieved.
///
/// Source: `trec_eval`, `m_set_F.c`, after van Rijsbergen, *Information Retrieval* (1979), chapter 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetF {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The weight of recall, not negative. 1 weighs both equally.
    pub beta: Decimal,
}

impl SetF {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?.get();
        let found = ranking.relevant_retrieved(self.rel, None);
        if found == 0 {
            return Ok(0.0);
        }
        let precision = share(found, ranking.retrieved()?.get());
        let recall = share(found, relevant);
        let beta = self.beta.get();
        Ok((beta + 1.0) * precision * recall / (beta * precision + recall))
    }
}

/// `SetAP`: [`SetPrecision`] times [`SetRecall`].
///
/// Equals `set_map` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_set_map.c`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetAp {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl SetAp {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?.get();
        let found = as_f64(ranking.relevant_retrieved(self.rel, None));
        Ok(match ranking.retrieved() {
            Err(_) => 0.0,
            Ok(retrieved) => found * found / (as_f64(retrieved.get()) * as_f64(relevant)),
        })
    }
}

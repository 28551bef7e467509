//! What can be reported of a run: measures, counts and others.

use std::fmt;
use std::str::FromStr;

use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;
use crate::measures::{self, Gains, MinimumGrade};
use crate::notation::TREC_EVAL_PERSISTENCE;
use crate::{Decimal, Measure, ParseMeasureError, Undefined};

/// One thing to report: a measure, or what `trec_eval` and ir-measures report beside measures.
///
/// Parses from a measure in any notation and from the names below, and displays as the canonical name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Statistic {
    /// The arithmetic mean of a measure.
    Mean(Measure),
    /// `gm_map`: the geometric mean of `AP`, in which values below 0.00001 count as 0.00001. It punishes a query that fails
    /// completely.
    GeometricMap(MinimumGrade),
    /// `gm_bpref`: the same of `Bpref`.
    GeometricBpref(MinimumGrade),
    /// A count, of which the sum is reported.
    Count(Count),
    /// `utility`: a sum of costs and benefits.
    Utility(Utility),
    /// `rbp_resid`: how much higher `RBP` could be if all unjudged documents were of the highest gain.
    RbpResidual {
        /// The probability of going on.
        persistence: Decimal,
    },
    /// `yaap`: log((1 + s) / (1 + R - s)), where s is the sum in average precision, and R the number of relevant documents.
    Yaap {
        /// The lowest relevant grade.
        rel: MinimumGrade,
    },
    /// `dcg`: discounted cumulative gain.
    Dcg(Gains),
    /// `ideal_dcg`: discounted cumulative gain of the ideal ranking.
    IdealDcg(Gains),
    /// `relstring`: the grades of the first documents as a text, for queries only. Grades above 9 are `>`, unjudged documents
    /// `-`, negative grades `.`.
    Grades {
        /// How many documents, 10 by default.
        documents: u16,
    },
    /// `runid`: the tag in the last line of the run, for all queries only.
    RunId,
}

/// A number of queries or documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Count {
    /// `num_q`, `NumQ`: queries. Reported for all queries only.
    Queries,
    /// `num_ret`, `NumRet`: retrieved documents.
    Retrieved,
    /// `num_rel`, `NumRel`: relevant documents.
    Relevant(MinimumGrade),
    /// `num_rel_ret`, `NumRet(rel=1)`: relevant documents that were retrieved.
    RelevantRetrieved(MinimumGrade),
    /// `num_nonrel_judged_ret`: retrieved documents that are judged and not relevant.
    NotRelevantRetrieved(MinimumGrade),
}

/// `utility`: the sum of documents times coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utility {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The values of a document that is relevant and retrieved, retrieved only, relevant only, and neither. Default: 1, -1, 0
    /// and 0. The last one needs [`Options::collection_size`](super::Options::collection_size).
    pub coefficients: [Decimal; 4],
}

impl Default for Utility {
    fn default() -> Self {
        Self {
            rel: MinimumGrade::default(),
            coefficients: [1.0, -1.0, 0.0, 0.0].map(Decimal::constant),
        }
    }
}

impl Statistic {
    /// The same statistic with this lowest relevant grade, unless it has another one than the default.
    #[must_use]
    pub fn relevant_from(mut self, lowest: MinimumGrade) -> Self {
        if let Self::Mean(measure) = &mut self {
            *measure = measure.relevant_from(lowest);
        } else if let Some(rel) = self.rel_mut() {
            *rel = rel.or(lowest);
        }
        self
    }

    /// Whether a lower mean is better, as for the share of unjudged documents.
    pub fn is_lower_better(&self) -> bool {
        matches!(self, Self::Mean(measure) if measure.is_lower_better())
    }

    /// The lowest relevant grade; `None` if the statistic does not set one.
    pub(super) fn minimum_grade(mut self) -> Option<MinimumGrade> {
        match self {
            Self::Mean(measure) => measure.rel,
            _ => self.rel_mut().copied(),
        }
    }

    fn rel_mut(&mut self) -> Option<&mut MinimumGrade> {
        match self {
            Self::GeometricMap(rel)
            | Self::GeometricBpref(rel)
            | Self::Count(
                Count::Relevant(rel)
                | Count::RelevantRetrieved(rel)
                | Count::NotRelevantRetrieved(rel),
            )
            | Self::Utility(Utility { rel, .. })
            | Self::Yaap { rel } => Some(rel),
            _ => None,
        }
    }

    /// The value for one query. Texts and what has no value for a query are 0.
    pub(super) fn value(
        &self,
        ranking: &GradedRanking,
        collection_size: u32,
    ) -> Result<f64, Undefined> {
        match *self {
            Self::Mean(measure) => measure.score_graded(ranking),
            Self::GeometricMap(rel) => measures::average_precision(ranking, rel, None),
            Self::GeometricBpref(rel) => measures::bpref(ranking, rel),
            Self::Count(count) => Ok(as_f64(count.of(ranking))),
            Self::Utility(utility) => Ok(utility.of(ranking, collection_size)),
            Self::RbpResidual { persistence } => Ok(rbp_residual(ranking, persistence.get())),
            Self::Yaap { rel } => {
                let relevant = as_f64(relevant(ranking, rel));
                let ranks = (1..).zip(ranking.relevant_ranks(rel));
                let sum = ranks.fold(0.0, |sum, (found, rank)| sum + as_f64(found) / as_f64(rank));
                Ok(((1.0 + sum) / (1.0 + relevant - sum)).ln())
            }
            Self::Dcg(gains) => Ok(measures::dcg(ranking.gains(&gains, None))),
            Self::IdealDcg(gains) => {
                let ideal = ranking.ideal_gains(&gains).unwrap_or_default();
                Ok(measures::dcg(ideal.into_iter()))
            }
            Self::Grades { .. } | Self::RunId => Ok(0.0),
        }
    }
}

impl Count {
    fn of(self, ranking: &GradedRanking) -> usize {
        match self {
            Self::Queries => 1,
            Self::Retrieved => ranking.grades.len(),
            Self::Relevant(rel) => relevant(ranking, rel),
            Self::RelevantRetrieved(rel) => ranking.relevant_retrieved(rel, None),
            Self::NotRelevantRetrieved(rel) => {
                let judged = |grade: &&Option<i32>| grade.is_some_and(|grade| grade >= 0);
                let judged = ranking.grades.iter().filter(judged).count();
                judged - ranking.relevant_retrieved(rel, None)
            }
        }
    }
}

impl Utility {
    fn of(&self, ranking: &GradedRanking, collection_size: u32) -> f64 {
        let found = as_f64(ranking.relevant_retrieved(self.rel, None));
        let retrieved = as_f64(ranking.grades.len());
        let relevant = as_f64(relevant(ranking, self.rel));
        let neither = f64::from(collection_size) + found - retrieved - relevant;
        let counts = [found, retrieved - found, relevant - found, neither];
        let pairs = self.coefficients.iter().zip(counts);
        pairs.fold(0.0, |sum, (coefficient, count)| {
            sum + coefficient.get() * count
        })
    }
}

fn relevant(ranking: &GradedRanking, rel: MinimumGrade) -> usize {
    ranking.relevant(rel).map_or(0, Into::into)
}

fn rbp_residual(ranking: &GradedRanking, persistence: f64) -> f64 {
    let (mut weight, mut sum, mut unjudged) = (1.0, 0.0, false);
    for grade in &ranking.grades {
        if grade.is_none_or(|grade| grade < 0) {
            unjudged = true;
            sum += weight;
        }
        weight *= persistence;
    }
    // trec_eval has no residual where all documents are judged, not even for those that were not retrieved.
    if unjudged {
        weight + (1.0 - persistence) * sum
    } else {
        0.0
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |f: &mut fmt::Formatter<'_>, name: &str, rel: MinimumGrade| {
            if rel == MinimumGrade::default() {
                f.write_str(name)
            } else {
                write!(f, "{name}(rel={rel})")
            }
        };
        match self {
            Self::Mean(measure) => measure.fmt(f),
            Self::GeometricMap(rel) => named(f, "gm_map", *rel),
            Self::GeometricBpref(rel) => named(f, "gm_bpref", *rel),
            Self::Count(Count::Queries) => f.write_str("NumQ"),
            Self::Count(Count::Retrieved) => f.write_str("NumRet"),
            Self::Count(Count::Relevant(rel)) => named(f, "NumRel", *rel),
            Self::Count(Count::RelevantRetrieved(rel)) => write!(f, "NumRet(rel={rel})"),
            Self::Count(Count::NotRelevantRetrieved(rel)) => {
                named(f, "num_nonrel_judged_ret", *rel)
            }
            Self::Utility(utility) => {
                named(f, "utility", utility.rel)?;
                if utility.coefficients == Utility::default().coefficients {
                    return Ok(());
                }
                let [both, retrieved, relevant, neither] = utility.coefficients;
                write!(f, ".{both},{retrieved},{relevant},{neither}")
            }
            Self::RbpResidual { persistence } => write!(f, "rbp_resid.p={persistence}"),
            Self::Yaap { rel } => named(f, "yaap", *rel),
            Self::Dcg(gains) | Self::IdealDcg(gains) => {
                f.write_str(if matches!(self, Self::Dcg(_)) {
                    "dcg"
                } else {
                    "ideal_dcg"
                })?;
                for (index, (grade, gain)) in gains.iter().enumerate() {
                    write!(f, "{}{grade}={gain}", if index == 0 { "." } else { "," })?;
                }
                Ok(())
            }
            Self::Grades { documents } => write!(f, "relstring.{documents}"),
            Self::RunId => f.write_str("runid"),
        }
    }
}

impl FromStr for Statistic {
    type Err = ParseMeasureError;

    /// Reads a measure in any notation, or the name of another statistic without parameters.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rel = MinimumGrade::default();
        Ok(match text.trim() {
            "gm_map" => Self::GeometricMap(rel),
            "gm_bpref" => Self::GeometricBpref(rel),
            "num_q" | "NumQ" => Self::Count(Count::Queries),
            "num_ret" | "NumRet" => Self::Count(Count::Retrieved),
            "num_rel" | "NumRel" => Self::Count(Count::Relevant(rel)),
            "num_rel_ret" => Self::Count(Count::RelevantRetrieved(rel)),
            "num_nonrel_judged_ret" => Self::Count(Count::NotRelevantRetrieved(rel)),
            "utility" => Self::Utility(Utility::default()),
            "rbp_resid" => Self::RbpResidual {
                persistence: TREC_EVAL_PERSISTENCE,
            },
            "yaap" => Self::Yaap { rel },
            "dcg" => Self::Dcg(Gains::default()),
            "ideal_dcg" => Self::IdealDcg(Gains::default()),
            "relstring" => Self::Grades { documents: 10 },
            "runid" => Self::RunId,
            text => match rel_of(text) {
                Some(("NumRet", rel)) => Self::Count(Count::RelevantRetrieved(rel)),
                Some(("NumRel", rel)) => Self::Count(Count::Relevant(rel)),
                _ => Self::Mean(text.parse()?),
            },
        })
    }
}

/// Splits `NumRet(rel=2)`.
fn rel_of(text: &str) -> Option<(&str, MinimumGrade)> {
    let (name, rest) = text.split_once("(rel=")?;
    let grade = rest.strip_suffix(')')?.parse().ok()?;
    Some((name, MinimumGrade::new(grade)))
}

//! How many documents the replies of a run held.

use std::collections::BTreeMap;

use evals_metrics::{as_f64, quantile};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::counts::MatchRecord;

/// How many documents the replies of a run held, question by question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Returned {
    /// Questions whose reply has documents, if only an empty list.
    pub questions: usize,
    /// Distinct documents of a reply.
    pub documents: Spread,
    /// Passages of a reply: its documents, repeated ones included.
    pub passages: Spread,
}

/// The spread of a count over questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The middle count, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest count.
    pub least: usize,
    /// The largest count.
    pub most: usize,
}

impl Returned {
    /// Reads the attributes of a run's cases. `None` if they do not say.
    pub fn of<'a>(cases: impl IntoIterator<Item = &'a BTreeMap<String, Value>>) -> Option<Self> {
        let records = cases.into_iter().filter_map(|attributes| {
            let record = MatchRecord::deserialize(attributes.get(MatchRecord::ATTRIBUTE)?).ok()?;
            // Records of older versions do not count distinct documents.
            let is_known = record.distinct > 0 || record.documents() == 0;
            is_known.then(|| (record.distinct, record.documents()))
        });
        Self::counted(records)
    }

    /// The spread of the documents and passages of each reply. `None` without replies.
    pub fn counted(replies: impl IntoIterator<Item = (usize, usize)>) -> Option<Self> {
        let (documents, passages): (Vec<usize>, Vec<usize>) = replies.into_iter().unzip();
        Some(Self {
            questions: documents.len(),
            documents: Spread::of(documents)?,
            passages: Spread::of(passages)?,
        })
    }
}

impl Spread {
    /// The spread of these counts; `None` without any.
    pub fn of(mut counts: Vec<usize>) -> Option<Self> {
        counts.sort_unstable();
        let numbers: Vec<f64> = counts.iter().copied().map(as_f64).collect();
        Some(Self {
            median: quantile(&numbers, 0.5)?,
            least: *counts.first()?,
            most: *counts.last()?,
        })
    }
}

//! The main measure of a run, for lists of runs.

use evals::Summary;
use evals_metrics::{Interval, Mean};
use evals_rag::qa::Equivalence;
use evals_rag::retrieval;

use crate::run_record::{Benchmark, RunRecord};

/// The main measure of a run with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The measure, as the summary names it.
    pub measure: String,
    /// The name of the measure's mean, as tables show it.
    pub title: String,
    /// Its mean.
    pub value: f64,
    /// The interval of the mean, if it has one.
    pub interval: Option<Interval>,
    /// How many values it is the mean of, and how many have none.
    pub n: usize,
    /// How many cases have no value.
    pub excluded: usize,
    /// Whether all assertions of a dataset file are counted together.
    pub is_pooled: bool,
}

impl Headline {
    /// The first measure of a retrieval run, the share of equivalent answers of a question answering run, the pass rate of a dataset file or else its
    /// first score. `None` if it has no value.
    pub fn of(record: Option<&RunRecord>, summary: &Summary) -> Option<Self> {
        if record.is_some_and(|it| it.benchmark == Benchmark::Qa) {
            let mut accuracies = summary.accuracy.iter();
            let (_, accuracy) = accuracies.find(|(name, _)| name == Equivalence::OUTCOME)?;
            return Self::of_mean(Equivalence::OUTCOME, "equivalent", &accuracy.scored);
        }
        let pooled = summary.pass_rate.as_ref();
        if let Some((value, n)) = pooled.and_then(|rate| Some((rate.value?, rate.n))) {
            return Some(Self {
                measure: "passed".to_owned(),
                title: "all assertions".to_owned(),
                value,
                interval: None,
                n,
                excluded: 0,
                is_pooled: true,
            });
        }
        let mut scores = summary.scores.iter();
        let measured = record.and_then(|it| it.measured.as_ref());
        let (name, mean) = match measured.and_then(|it| it.measures.first()) {
            Some(headline) => scores.find(|(name, _)| name == headline)?,
            None => scores.next()?,
        };
        let title = retrieval::mean_title(name).unwrap_or_else(|| name.clone());
        Self::of_mean(name, &title, mean)
    }

    fn of_mean(measure: &str, title: &str, mean: &Mean) -> Option<Self> {
        Some(Self {
            measure: measure.to_owned(),
            title: title.to_owned(),
            value: mean.value?,
            interval: mean.interval,
            n: mean.n,
            excluded: mean.excluded.values().sum(),
            is_pooled: false,
        })
    }
}

//! The aggregates of a report.

mod accuracy;
mod column;
mod index;
mod latency;
mod missing;
mod shown;
mod source;
mod tally;
mod values;

use std::collections::BTreeMap;
use std::time::Duration;

use evals_metrics::{Bootstrap, Mean, Percentiles};
use serde::{Deserialize, Serialize};

use crate::{Domain, Report, ValueKind};
use latency::Latencies;
use tally::Tally;

pub use accuracy::Accuracy;
pub(crate) use column::Values;
pub use missing::MissingRepetitions;
pub use source::MeasureSource;

/// The aggregates of one report.
///
/// A measure's value for a case is the mean over the case's repetitions, so `n` counts cases and repetitions never pass for
/// more samples. A case without a value is left out of the mean and counted under its reason: `task failed`,
/// `evaluator failed`, or why the measure is undefined for it. A failed task is left out of every measure that is about its
/// case, and a failed evaluator out of those of its measures that are; which ones that are, evaluators may
/// [declare](crate::Evaluator::concerns). Of one that does not, these are all measures that it returned for other cases; if it
/// never returned anything, it is listed among the scores under its own name. A case for which an evaluator returned neither outcome nor
/// failure does not count at all. Where only some repetitions of a case have no value they are counted as
/// [`missing_repetitions`](Self::missing_repetitions).
///
/// A measure is what one evaluator says under one name; a name that is taken by another evaluator's gets `_2`.
///
/// In JSON, lists of named values are objects in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the experiment.
    pub name: String,
    /// Name of the dataset.
    pub dataset: String,
    /// How often each case was to be run.
    pub repeat: u32,
    /// How many runs of cases were finished, failed ones included.
    pub finished: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many evaluators failed, over all cases.
    pub evaluator_failures: usize,
    /// Whether a cancellation or a stop ended the run early.
    pub interrupted: bool,
    /// How many runs of cases were not run for that reason.
    pub not_run: usize,
    /// Why the run was stopped, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Wall time of the whole run.
    #[serde(rename = "seconds", with = "crate::seconds")]
    pub duration: Duration,
    /// Mean of each score, in the order in which the cases first show them.
    #[serde(with = "crate::in_order")]
    pub scores: Vec<(String, Mean)>,
    /// Pass rate of each assertion, in the same order.
    #[serde(with = "crate::in_order")]
    pub assertions: Vec<(String, Mean)>,
    /// Each pass rate with its bounds if failures had passed or failed, in the same order.
    #[serde(default, with = "crate::in_order")]
    pub accuracy: Vec<(String, Accuracy)>,
    /// Pass rate over all assertions of all runs of cases together, where that [means anything](Report::pools_assertions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<PassRate>,
    /// How often each label was given, in the same order.
    #[serde(with = "crate::in_order")]
    pub labels: Vec<(String, LabelShares)>,
    /// Mean of each metric that the task recorded, in the order of their names.
    #[serde(with = "crate::in_order")]
    pub metrics: Vec<(String, Mean)>,
    /// Service time of each stage in seconds. Finished stages of failed cases count; results from a cache do not.
    #[serde(with = "crate::in_order")]
    pub timings: Vec<(String, Percentiles)>,
    /// Original service time in seconds of stages whose result came from a cache.
    #[serde(with = "crate::in_order")]
    pub cached_timings: Vec<(String, Percentiles)>,
    /// Time of the whole task in seconds, over the cases that did not fail and took nothing from a cache.
    pub task_time: Percentiles,
    /// The evaluator behind each score, assertion and label, by the measure's title.
    #[serde(default, with = "crate::in_order")]
    pub sources: Vec<(String, MeasureSource)>,
    /// Repetitions without a value, in cases that have one.
    #[serde(default)]
    pub missing_repetitions: MissingRepetitions,
}

/// A share of passed assertions. Repetitions count one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassRate {
    /// The share from 0 to 1, or `None` where nothing was asserted.
    pub value: Option<f64>,
    /// How many assertions passed.
    pub passed: usize,
    /// How many assertions there were.
    pub n: usize,
    /// How many are missing, by reason.
    #[serde(default)]
    pub excluded: BTreeMap<String, usize>,
}

/// How often each label was given. Repetitions count one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelShares {
    /// Each label with its count, in the order of the labels.
    pub counts: BTreeMap<String, usize>,
    /// The sum of the counts.
    pub n: usize,
    /// How many runs of cases have no label, by reason.
    pub excluded: BTreeMap<String, usize>,
}

impl LabelShares {
    /// The share of a label from 0 to 1, or `None` where no label was given at all.
    pub fn share(&self, label: &str) -> Option<f64> {
        ratio(self.counts.get(label).copied().unwrap_or(0), self.n)
    }
}

impl Summary {
    /// Where a title stands among those of the run, if its evaluator is known.
    pub(crate) fn place(&self, title: &str) -> Option<usize> {
        let mut titles = self.sources.iter().map(|(title, _)| title);
        titles.position(|candidate| candidate == title)
    }

    /// What tables call the mean of a score: its title, unless its domain [has another name](Domain::mean_title).
    pub(crate) fn mean_title<'s>(&'s self, score: &'s str) -> &'s str {
        let mut sources = self.sources.iter();
        let source = sources.find(|(title, _)| title == score);
        let named = source.and_then(|(_, source)| source.mean_title.as_deref());
        named.unwrap_or(score)
    }

    /// How many runs of cases succeeded per second of wall time; `None` when none did or no time passed, or when stages came
    /// from a cache: the rate would then be that of the cache.
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.duration.as_secs_f64();
        let succeeded = self.finished.saturating_sub(self.failed);
        (succeeded > 0 && seconds > 0.0 && self.cached_timings.is_empty())
            .then(|| count(succeeded) / seconds)
    }
}

impl<D: Domain> Report<D> {
    /// Aggregates the cases; intervals are drawn as `bootstrap` says and are the same for the same seed.
    pub fn summary(&self, bootstrap: &Bootstrap) -> Summary {
        let tally = Tally::of(&self.cases);
        let latencies = Latencies::of(&self.cases);
        let accuracy = tally.accuracy(bootstrap);
        let scored =
            |(name, accuracy): &(String, Accuracy)| (name.clone(), accuracy.scored.clone());
        Summary {
            name: self.name.clone(),
            dataset: self.dataset.clone(),
            repeat: self.repeat,
            finished: self.cases.len(),
            failed: self
                .cases
                .iter()
                .filter(|case| case.result.failure().is_some())
                .count(),
            evaluator_failures: self
                .cases
                .iter()
                .map(|case| case.evaluator_failures.len())
                .sum(),
            interrupted: self.interrupted,
            not_run: self.not_run,
            stopped: self.stopped.clone(),
            duration: self.duration,
            pass_rate: self.pools_assertions.then(|| tally.pass_rate()),
            scores: tally.scores(bootstrap),
            assertions: accuracy.iter().map(scored).collect(),
            accuracy,
            labels: tally.labels(),
            metrics: tally.metrics(bootstrap),
            timings: latencies.fresh(),
            cached_timings: latencies.cached(),
            task_time: latencies.task(),
            sources: tally
                .sources()
                .into_iter()
                .map(|(title, source)| {
                    let mean_title = D::mean_title(&title);
                    (
                        title,
                        MeasureSource {
                            mean_title,
                            ..source
                        },
                    )
                })
                .collect(),
            missing_repetitions: MissingRepetitions {
                scores: tally.missing(ValueKind::Score),
                assertions: tally.missing(ValueKind::Assertion),
                metrics: tally.missing_metrics(),
            },
        }
    }
}

/// A share, or `None` of nothing.
fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| count(part) / count(whole))
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

//! The summary of a report: means, intervals and exclusions over all cases.

mod accuracy;
mod averaging;
mod column;
mod groups;
mod index;
mod labels;
mod latency;
mod shown;
mod tally;
mod values;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use evals_messages::visible::single_line;
use evals_metrics::{Bootstrap, Mean, Percentiles, as_f64};
use serde::{Deserialize, Serialize};

pub use accuracy::Accuracy;
pub(crate) use averaging::Averaging;
pub(crate) use column::{Gap, Values};
pub use groups::{Group, GroupMean, Groups};
pub use labels::LabelShares;
pub use values::MeasureValues;
pub(crate) use values::{BINS, Histograms, by_bin};

use crate::clusters::CaseClusters;
use crate::{
    ClusterCounts, DesignEffect, Direction, Domain, EvaluatorOrigin, Report, Unit, number,
};
use latency::Latencies;
use tally::Tally;

/// The aggregates of one report.
///
/// A measure's value for a case is the mean over the case's repetitions, so `n` counts cases, and repetitions are not extra
/// samples. A mean excludes a case without a value and counts it under its reason: `task failed`, `evaluator failed`, or why
/// the measure is undefined. A failed task is excluded from every measure that applies to its case, and a failed evaluator
/// from its own measures that apply to the case. Evaluators may [declare](crate::Evaluator::concerns) which measures apply.
/// For an evaluator that does not, all measures apply that it returned for other cases; if it never returned anything, it is
/// listed among the scores under its own name. A case does not count at all for an evaluator that returned neither outcome
/// nor failure. If only some repetitions of a case have no value, they count as
/// [`missing_repetitions`](Self::missing_repetitions).
///
/// A measure is all outcomes of one evaluator with one name. If another evaluator already uses the name, it gets `_2`.
///
/// In JSON, lists of named values are objects in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the experiment.
    pub name: String,
    /// Name of the dataset.
    pub dataset: String,
    /// How often each case should run.
    pub repeat: u32,
    /// How many runs of cases were finished, failed ones included.
    pub finished: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many evaluators failed, over all cases.
    pub evaluator_failures: usize,
    /// The evaluators that failed in all of their cases, and so returned nothing. A case belongs to an evaluator that returned an
    /// outcome or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_evaluators: Vec<String>,
    /// Whether a cancellation or a stop ended the run early.
    pub interrupted: bool,
    /// How many planned runs of cases did not happen.
    pub not_run: usize,
    /// Why the run was stopped, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Wall time of the whole run.
    #[serde(rename = "seconds", with = "crate::json::seconds")]
    pub duration: Duration,
    /// Mean of each score, in the order in which the cases first show them.
    #[serde(with = "crate::json::in_order")]
    pub scores: Vec<(String, Mean)>,
    /// Pass rate of each assertion, in the same order.
    #[serde(with = "crate::json::in_order")]
    pub assertions: Vec<(String, Mean)>,
    /// Each pass rate with its bounds if cases failed, in the same order.
    #[serde(default, with = "crate::json::in_order")]
    pub accuracy: Vec<(String, Accuracy)>,
    /// Pass rate over all assertions of all runs of cases together, if the dataset [pools them](Report::pools_assertions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<PassRate>,
    /// How often each label was given, in the same order.
    #[serde(with = "crate::json::in_order")]
    pub labels: Vec<(String, LabelShares)>,
    /// Mean of each metric that the task recorded, in the order of their names.
    #[serde(with = "crate::json::in_order")]
    pub metrics: Vec<(String, Mean)>,
    /// Service time of each stage in seconds. Finished stages of failed cases count; results from a cache do not.
    #[serde(with = "crate::json::in_order")]
    pub timings: Vec<(String, Percentiles)>,
    /// Original service time in seconds of stages whose result came from a cache.
    #[serde(with = "crate::json::in_order")]
    pub cached_timings: Vec<(String, Percentiles)>,
    /// Time of the whole task in seconds, over the cases that succeeded without cached stages.
    pub task_time: Percentiles,
    /// The evaluator behind each score, assertion and label, by the measure's title.
    #[serde(default, with = "crate::json::in_order")]
    pub sources: Vec<(String, MeasureSource)>,
    /// Repetitions without a value, in cases that have one.
    #[serde(default)]
    pub missing_repetitions: MissingRepetitions,
    /// The clusters of the cases. `None` if none are declared, and few cases share a relevant document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterCounts>,
    /// The measures in each group of cases, if asked for: see [`grouped`](Self::grouped).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Groups>,
}

/// A share of passed assertions. Repetitions count one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassRate {
    /// The share from 0 to 1, or `None` without assertions.
    pub value: Option<f64>,
    /// How many assertions passed.
    pub passed: usize,
    /// The number of assertions.
    pub n: usize,
    /// How many are missing, by reason.
    #[serde(default)]
    pub excluded: BTreeMap<String, usize>,
}

impl Summary {
    /// The summary without the pass rates that [say nothing](Domain::says_nothing), for tables that people read, and a note that names them.
    pub fn without_usual<D: Domain>(&self) -> (Cow<'_, Self>, Option<String>) {
        let is_usual = |(name, mean): &(String, Mean)| {
            mean.value.is_some_and(|value| D::says_nothing(name, value))
        };
        let usual = self.assertions.iter().filter(|it| is_usual(it));
        let usual: Vec<String> = usual
            .map(|(name, mean)| {
                let value = mean.value.map(number::score).unwrap_or_default();
                format!("{} {value}", single_line(name))
            })
            .collect();
        if usual.is_empty() {
            return (Cow::Borrowed(self), None);
        }
        let mut shown = self.clone();
        shown.assertions.retain(|it| !is_usual(it));
        let note = format!("not shown, the same in every case: {}", usual.join(", "));
        (Cow::Owned(shown), Some(note))
    }

    /// The position of a title in the run, if its evaluator is known.
    pub(crate) fn place(&self, title: &str) -> Option<usize> {
        let mut titles = self.sources.iter().map(|(title, _)| title);
        titles.position(|candidate| candidate == title)
    }

    /// The name of a score's mean in tables: its title, unless its domain [has another name](Domain::mean_title).
    pub(crate) fn mean_title<'s>(&'s self, score: &'s str) -> &'s str {
        let mut sources = self.sources.iter();
        let source = sources.find(|(title, _)| title == score);
        let named = source.and_then(|(_, source)| source.mean_title.as_deref());
        named.unwrap_or(score)
    }

    /// How many runs of cases succeeded per second of wall time. `None` if none succeeded, no time passed, or some were not
    /// [timed](crate::CaseReport::is_timed): with stages from a cache, the rate would measure the cache.
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.duration.as_secs_f64();
        let succeeded = self.finished.saturating_sub(self.failed);
        let all_timed = self.cached_timings.is_empty() && self.task_time.n == succeeded;
        (succeeded > 0 && seconds > 0.0 && all_timed).then(|| as_f64(succeeded) / seconds)
    }
}

impl<D: Domain> Report<D> {
    /// Aggregates the cases. Intervals use the settings of `bootstrap`; equal seeds give equal intervals.
    pub fn summary(&self, bootstrap: &Bootstrap) -> Summary {
        let tally = Tally::of(&self.cases);
        let latencies = Latencies::of(&self.cases);
        let clusters = CaseClusters::of(self);
        let averaging = Averaging {
            bootstrap,
            clusters: clusters.as_ref(),
        };
        let mut sources = tally.sources();
        for (title, source) in &mut sources {
            source.mean_title = D::mean_title(title);
        }
        let accuracy = tally.each(Unit::PassRate, |column| column.accuracy(&averaging));
        let means = |unit| tally.each(unit, |column| column.mean(unit, &averaging));
        let scored = |(name, it): &(String, Accuracy)| (name.clone(), it.scored.clone());
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
            failed_evaluators: shown::failed_evaluators(&self.cases),
            interrupted: self.interrupted,
            not_run: self.not_run,
            stopped: self.stopped.clone(),
            duration: self.duration,
            pass_rate: self.pools_assertions.then(|| tally.pass_rate()),
            scores: means(Unit::Score),
            assertions: accuracy.iter().map(scored).collect(),
            accuracy,
            labels: tally
                .labels()
                .map(|(title, of_cases)| (title, LabelShares::over(of_cases.values())))
                .collect(),
            metrics: means(Unit::Metric),
            timings: latencies.fresh,
            cached_timings: latencies.cached,
            task_time: latencies.task,
            sources,
            missing_repetitions: MissingRepetitions {
                scores: tally.missing(Unit::Score),
                assertions: tally.missing(Unit::PassRate),
                metrics: tally.missing(Unit::Metric),
            },
            clusters: ClusterCounts::of(self).map(|counts| ClusterCounts {
                design_effect: design_effect(&tally, clusters.as_ref()),
                ..counts
            }),
            groups: Vec::new(),
        }
    }
}

/// What the clusters cost the first measure: authors return the most important one first.
fn design_effect(tally: &Tally<'_>, clusters: Option<&CaseClusters<'_>>) -> Option<DesignEffect> {
    let (_, first) = tally.measures().find(|(unit, _)| *unit != Unit::Metric)?;
    clusters?.design_effect(&first.title, first.values())
}

/// A share, or `None` if the whole is 0.
fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| as_f64(part) / as_f64(whole))
}

/// Repetitions without a value, in cases that have a value from other repetitions.
///
/// The value of such a case is the mean over fewer repetitions, but the case counts as any other. Each list holds the
/// affected measures with the number of missing repetitions, by reason. Labels need no list: their exclusions count every
/// repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingRepetitions {
    /// Of scores.
    #[serde(with = "crate::json::in_order")]
    pub scores: Vec<(String, BTreeMap<String, usize>)>,
    /// Of assertions.
    #[serde(with = "crate::json::in_order")]
    pub assertions: Vec<(String, BTreeMap<String, usize>)>,
    /// Of metrics.
    #[serde(with = "crate::json::in_order")]
    pub metrics: Vec<(String, BTreeMap<String, usize>)>,
}

/// The evaluator behind a measure's title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureSource {
    /// Name of the evaluator.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    pub origin: EvaluatorOrigin,
    /// The name that the evaluator gave the measure: the title, unless another evaluator's measure had it first. For an
    /// evaluator that never returned anything, its own name.
    pub outcome: String,
    /// Which direction of the measure is better. Unknown if the evaluator's cases disagree.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
    /// The name of the mean in tables, where it differs from the title; see
    /// [`Domain::mean_title`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
}

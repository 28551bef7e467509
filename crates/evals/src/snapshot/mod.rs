//! The numbers of a report, without its texts: what a gate needs, and what a committed baseline holds.

mod case;
mod measure;

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::{Bootstrap, Percentiles};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use case::{CaseValue, SnapshotCase};
pub use measure::SnapshotMeasure;

use crate::clusters::CaseClusters;
use crate::{CaseId, ClusterCounts, Domain, Report, Summary};
pub(crate) use case::differing;
use evals_metrics::as_f64;

use case::content;

/// The numbers of a report: the value of each case for each measure, percentiles of latencies, and counts of failures.
///
/// It holds no text of the cases but their ids, so it may be published where questions and answers may not. What a case is about is
/// held as digests. A digest does not protect a text that somebody can guess: who guesses it can confirm the guess.
///
/// Equal reports give equal snapshots. The order of the cases in the report makes no difference: they are held in the order of their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The name of the report's run, for people.
    pub title: String,
    /// The name of the dataset.
    pub dataset: String,
    /// How often each case should run.
    pub repeat: u32,
    /// How many runs of cases were finished, failed ones included.
    pub finished: usize,
    /// How many of them have a task or an evaluator that failed.
    pub failed: usize,
    /// How many planned runs of cases did not happen.
    pub not_run: usize,
    /// The cost of the run in USD, if the caller knows it; see [`costing`](Self::costing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Whether the run calls models that may cost something, so that an unknown cost is worth a word.
    #[serde(default)]
    pub records_cost: bool,
    /// What data the run read and who judged it, as far as the caller knows; see [`identified`](Self::identified).
    #[serde(default)]
    pub identity: Identity,
    /// Seconds that each stage took, without results from a cache.
    #[serde(with = "crate::json::in_order")]
    pub timings: Vec<(String, Percentiles)>,
    /// Seconds that the whole task took, over cases that succeeded without cached stages.
    pub task_time: Percentiles,
    /// The clusters of the cases; see [`Summary::clusters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterCounts>,
    /// The scores, assertions and metrics.
    pub measures: Vec<SnapshotMeasure>,
    /// The cases in the order of their ids. Each has a value for each measure.
    pub cases: Vec<SnapshotCase>,
}

/// What data a run read and who judged it. Null where it is not known which data, or where no judge was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The dataset: revisions and digests of its files.
    pub dataset: Value,
    /// The judge of each measure, by the measure's name: its models, prompts and parameters. No judge decides a measure that is missing.
    /// [`UNKNOWN`](Self::UNKNOWN), for one measure or for all, if the run asked a judge and does not record which.
    pub judge: Value,
}

impl Identity {
    /// The judge of a measure or a run without a record of it.
    pub const UNKNOWN: &str = "unknown";
}

impl Snapshot {
    /// The numbers of a report. The value of a case is the mean over its repetitions.
    pub fn of<D: Domain>(title: &str, report: &Report<D>, summary: &Summary) -> Self {
        let found = report.measure_values();
        let sources: BTreeMap<&str, _> = summary
            .sources
            .iter()
            .map(|(title, source)| (title.as_str(), source))
            .collect();
        let measures = found.iter().map(|values| {
            let source = sources.get(values.title.as_str()).copied();
            SnapshotMeasure::new(values, source)
        });
        let contents: BTreeMap<&CaseId, String> = report
            .cases
            .iter()
            .map(|case| (&case.id, content(case)))
            .collect();
        let clusters = CaseClusters::of(report);
        let cases = contents.into_iter().map(|(id, content)| SnapshotCase {
            id: id.clone(),
            content,
            cluster: clusters.as_ref().map(|clusters| clusters.get(id)),
            values: found
                .iter()
                .map(|measure| CaseValue::of(measure, id))
                .collect(),
        });
        Self {
            title: title.to_owned(),
            dataset: report.dataset.clone(),
            repeat: report.repeat,
            finished: report.cases.len(),
            failed: report.cases.iter().filter(|case| case.is_broken()).count(),
            not_run: report.not_run,
            cost: None,
            records_cost: false,
            identity: Identity::default(),
            timings: summary.timings.clone(),
            task_time: summary.task_time,
            clusters: summary.clusters.clone(),
            measures: measures.collect(),
            cases: cases.collect(),
        }
    }

    /// The numbers of each repetition by itself, in their order. A case that a repetition did not finish is not in its snapshot.
    pub fn of_repetitions<D: Domain>(
        title: &str,
        report: &Report<D>,
        bootstrap: &Bootstrap,
    ) -> Vec<Self> {
        let repetitions: BTreeSet<u32> = report.cases.iter().map(|case| case.repeat).collect();
        let one = |repetition: &u32| {
            let cases = report
                .cases
                .iter()
                .filter(|case| case.repeat == *repetition);
            let mut part = Report::running(&report.name, &report.dataset, 1, 0);
            part.cases = cases.cloned().collect();
            part.cluster.clone_from(&report.cluster);
            let report = part;
            Self::of(title, &report, &report.summary(bootstrap))
        };
        repetitions.iter().map(one).collect()
    }

    /// Sets the cost of the run in USD; `None` if a price is unknown.
    #[must_use]
    pub fn costing(self, cost: Option<f64>) -> Self {
        Self {
            cost,
            records_cost: true,
            ..self
        }
    }

    /// Sets what data the run read and who judged it.
    #[must_use]
    pub fn identified(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// The same with every case alone, so that the clusters of the other side of a comparison hold.
    #[must_use]
    pub fn without_clusters(mut self) -> Self {
        self.clusters = None;
        for case in &mut self.cases {
            case.cluster = None;
        }
        self
    }

    /// What is wrong with a snapshot from a file, if anything: a case without an id or that occurs twice, cases out of order, a number
    /// that is not finite, or a case with more or fewer values than there are measures.
    pub fn fault(&self) -> Option<String> {
        let mut titles = BTreeSet::new();
        for measure in &self.measures {
            if !titles.insert((measure.title.as_str(), measure.unit as u8)) {
                return Some(format!("the measure `{}` is there twice", measure.title));
            }
        }
        for pair in self.cases.windows(2) {
            if pair[0].id >= pair[1].id {
                let (one, other) = (&pair[0].id, &pair[1].id);
                return Some(format!(
                    "case `{other}` follows case `{one}`, but cases are in the order of their ids"
                ));
            }
        }
        for case in &self.cases {
            let id = &case.id;
            if case.values.len() != self.measures.len() {
                let (values, measures) = (case.values.len(), self.measures.len());
                return Some(format!(
                    "case `{id}` has {values} values, and there are {measures} measures"
                ));
            }
            let mut numbers = case.values.iter().filter_map(|value| value.number());
            if let Some(number) = numbers.find(|number| !number.is_finite()) {
                return Some(format!("case `{id}` has the value {number}"));
            }
        }
        let wrong_cost = self.cost.filter(|cost| !cost.is_finite() || *cost < 0.0);
        wrong_cost.map(|cost| format!("the cost is {cost}"))
    }

    /// Each measure with its mean over the cases that have a value, and their number.
    pub fn means(&self) -> impl Iterator<Item = (&SnapshotMeasure, Option<f64>, usize)> {
        let measures = self.measures.iter().enumerate();
        measures.map(|(place, measure)| {
            let numbers = self.numbers(place);
            let n = numbers.len();
            let mean = (n > 0).then(|| numbers.iter().sum::<f64>() / as_f64(n));
            (measure, mean, n)
        })
    }

    /// How many tasks failed, as far as the values of cases show it. With repetitions, or without measures, they do not, and failed evaluators
    /// count too.
    pub(crate) fn failed_tasks(&self) -> usize {
        if self.repeat > 1 || self.measures.is_empty() {
            return self.failed;
        }
        let is_failed = |case: &&SnapshotCase| case.values.contains(&CaseValue::TaskFailed);
        self.cases.iter().filter(is_failed).count()
    }

    /// The values of the measure at a position, by case.
    pub(crate) fn column(
        &self,
        position: usize,
    ) -> impl Iterator<Item = (&SnapshotCase, CaseValue)> {
        let cases = self.cases.iter();
        cases.filter_map(move |case| Some((case, *case.values.get(position)?)))
    }

    /// The number of each case's cluster, by case; `None` if the run declares no clusters.
    pub(crate) fn cluster_numbers(&self) -> Option<BTreeMap<&CaseId, usize>> {
        let cases = self.cases.iter();
        cases.map(|case| Some((&case.id, case.cluster?))).collect()
    }

    /// The numbers of the measure at a position.
    pub(crate) fn numbers(&self, position: usize) -> Vec<f64> {
        let column = self.column(position);
        column.filter_map(|(_, value)| value.number()).collect()
    }
}

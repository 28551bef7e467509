//! Histories: the finished runs of one dataset, benchmark and profile that read the same files and asked the same questions.

use evals_metrics::Percentiles;

use super::predecessor::is_of_kind;
use super::run::StoredRun;
use super::stored_trend::StoredTrend;
use super::trend::Break;
use crate::run_record::RunRecord;

/// Runs whose measures can be joined to a line, oldest first.
#[derive(Debug)]
pub struct History<'r> {
    runs: Vec<&'r StoredRun>,
}

impl<'r> History<'r> {
    /// The histories of `runs`, oldest first; those with the newest runs come last.
    pub fn all(runs: &'r [StoredRun]) -> Vec<Self> {
        let mut histories: Vec<Self> = Vec::new();
        for run in runs {
            let known = histories
                .iter()
                .position(|history| are_joined(history.first(), run));
            let mut history = match known {
                Some(place) => histories.remove(place),
                None => Self { runs: Vec::new() },
            };
            history.runs.push(run);
            histories.push(history);
        }
        histories
    }

    fn first(&self) -> &'r StoredRun {
        self.runs[0]
    }

    /// What the runs have in common.
    pub fn record(&self) -> &'r RunRecord {
        &self.first().record
    }

    /// Identifies the files of the dataset.
    pub fn data(&self) -> String {
        self.first().configuration().data_digest()
    }

    /// The latencies of a case over the runs that have them, named as rules of a gate name them. A file of replies has no latency worth
    /// the name.
    pub fn latencies(&self) -> [(&'static str, Vec<f64>); 2] {
        let of = |pick: fn(&Percentiles) -> Option<f64>| {
            let asked = self.runs.iter().filter(|run| !run.record.is_of_file());
            asked
                .filter_map(|run| pick(&run.results().summary.as_ref()?.task_time))
                .collect()
        };
        [
            ("latency.p50", of(|times| times.p50)),
            ("latency.p95", of(|times| times.p95)),
        ]
    }

    /// The measures over all runs.
    pub fn trend(&self) -> StoredTrend<'r> {
        StoredTrend::of_all(self.runs.clone())
    }

    /// The measures over the newest runs, as many as a drawing has room for.
    pub fn drawing(&self) -> StoredTrend<'r> {
        StoredTrend::of(self.runs.clone())
    }
}

/// Whether a line joins two runs.
fn are_joined(one: &StoredRun, other: &StoredRun) -> bool {
    is_of_kind(&one.record, &other.record) && Break::between(one, other).is_none()
}

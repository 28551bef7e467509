//! Service times by stage.

use evals_metrics::Percentiles;

use crate::{CaseReport, Domain};

/// The service times of a report. Stages are in the order in which the cases first show them, cached or not.
#[derive(Debug)]
pub(super) struct Latencies {
    pub(super) fresh: Vec<(String, Percentiles)>,
    pub(super) cached: Vec<(String, Percentiles)>,
    /// The whole task.
    pub(super) task: Percentiles,
}

impl Latencies {
    pub(super) fn of<D: Domain>(cases: &[CaseReport<D>]) -> Self {
        // The seconds of each stage: fresh ones, and those from a cache.
        let mut stages: Vec<(&str, [Vec<f64>; 2])> = Vec::new();
        for timing in cases.iter().flat_map(|case| &case.timings) {
            // Tasks have few stages, so a linear search is the fastest.
            let known = stages.iter().position(|(name, _)| *name == timing.stage);
            let place = known.unwrap_or_else(|| {
                stages.push((&timing.stage, Default::default()));
                stages.len() - 1
            });
            let seconds = timing.duration.as_secs_f64();
            stages[place].1[usize::from(timing.cached)].push(seconds);
        }
        let [fresh, cached] = [0, 1].map(|kind| {
            let timed = stages
                .iter()
                .filter(|(_, seconds)| !seconds[kind].is_empty());
            let timed = timed.map(|(name, seconds)| {
                let times = Percentiles::of(seconds[kind].iter().copied());
                ((*name).to_owned(), times)
            });
            timed.collect()
        });
        let timed = cases.iter().filter(|case| case.is_timed());
        Self {
            fresh,
            cached,
            task: Percentiles::of(timed.map(|case| case.duration.as_secs_f64())),
        }
    }
}

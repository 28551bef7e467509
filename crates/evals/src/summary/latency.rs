//! Service times by stage.

use evals_metrics::Percentiles;

use crate::{CaseReport, Domain};

/// Samples in seconds, by stage in first-seen order.
#[derive(Debug, Default)]
struct Stages(Vec<(String, Vec<f64>)>);

impl Stages {
    fn add(&mut self, stage: &str, seconds: f64) {
        // Tasks have a handful of stages, for which a search from the front is quickest.
        match self.0.iter_mut().find(|(name, _)| name == stage) {
            Some((_, samples)) => samples.push(seconds),
            None => self.0.push((stage.to_owned(), vec![seconds])),
        }
    }

    fn percentiles(&self) -> Vec<(String, Percentiles)> {
        self.0
            .iter()
            .map(|(stage, samples)| (stage.clone(), Percentiles::of(samples.iter().copied())))
            .collect()
    }
}

/// All timings of a report.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    fresh: Stages,
    cached: Stages,
    task: Vec<f64>,
}

impl Latencies {
    pub(super) fn of<D: Domain>(cases: &[CaseReport<D>]) -> Self {
        let mut latencies = Self::default();
        for case in cases {
            latencies.add(case);
        }
        latencies
    }

    fn add<D: Domain>(&mut self, case: &CaseReport<D>) {
        for timing in &case.timings {
            let stages = if timing.cached {
                &mut self.cached
            } else {
                &mut self.fresh
            };
            stages.add(&timing.stage, timing.duration.as_secs_f64());
        }
        if case.result.output().is_some() && !case.timings.iter().any(|timing| timing.cached) {
            self.task.push(case.duration.as_secs_f64());
        }
    }

    pub(super) fn fresh(&self) -> Vec<(String, Percentiles)> {
        self.fresh.percentiles()
    }

    pub(super) fn cached(&self) -> Vec<(String, Percentiles)> {
        self.cached.percentiles()
    }

    pub(super) fn task(&self) -> Percentiles {
        Percentiles::of(self.task.iter().copied())
    }
}

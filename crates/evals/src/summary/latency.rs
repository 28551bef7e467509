//! Service times by stage.

use evals_metrics::Percentiles;

use crate::{CaseReport, Domain, Timing};

/// The samples of one stage, in seconds.
#[derive(Debug)]
struct Stage<'a> {
    name: &'a str,
    fresh: Vec<f64>,
    cached: Vec<f64>,
}

/// All timings of a report; stages in the order in which the cases first show them, cached or not.
#[derive(Debug, Default)]
pub(super) struct Latencies<'a> {
    stages: Vec<Stage<'a>>,
    task: Vec<f64>,
}

impl<'a> Latencies<'a> {
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut latencies = Self::default();
        for case in cases {
            for timing in &case.timings {
                latencies.add(timing);
            }
            if case.is_timed() {
                latencies.task.push(case.duration.as_secs_f64());
            }
        }
        latencies
    }

    fn add(&mut self, timing: &'a Timing) {
        let stage = self.stage(&timing.stage);
        let samples = if timing.cached {
            &mut stage.cached
        } else {
            &mut stage.fresh
        };
        samples.push(timing.duration.as_secs_f64());
    }

    /// Tasks have few stages, so a linear search is the fastest.
    fn stage(&mut self, name: &'a str) -> &mut Stage<'a> {
        let known = self.stages.iter().position(|stage| stage.name == name);
        let position = known.unwrap_or_else(|| {
            self.stages.push(Stage {
                name,
                fresh: Vec::new(),
                cached: Vec::new(),
            });
            self.stages.len() - 1
        });
        &mut self.stages[position]
    }

    pub(super) fn fresh(&self) -> Vec<(String, Percentiles)> {
        self.percentiles(|stage| &stage.fresh[..])
    }

    pub(super) fn cached(&self) -> Vec<(String, Percentiles)> {
        self.percentiles(|stage| &stage.cached[..])
    }

    fn percentiles<'s>(
        &'s self,
        samples: fn(&'s Stage<'a>) -> &'s [f64],
    ) -> Vec<(String, Percentiles)> {
        let stages = self.stages.iter().map(|stage| (stage.name, samples(stage)));
        let timed = stages.filter(|(_, samples)| !samples.is_empty());
        timed
            .map(|(name, samples)| (name.to_owned(), percentiles(samples)))
            .collect()
    }

    pub(super) fn task(&self) -> Percentiles {
        percentiles(&self.task)
    }
}

fn percentiles(samples: &[f64]) -> Percentiles {
    Percentiles::of(samples.iter().copied())
}

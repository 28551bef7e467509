//! The times of the stages of a search.

use std::future::Future;
use std::time::{Duration, Instant};

use evals_rag::StageTiming;

use super::cache::{Cached, Embedded};

/// The times of the stages of one search. A stage that runs several times is one entry with the sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Timings(Vec<StageTiming>);

impl Timings {
    /// Adds a run of `stage`. The stage counts as cached if all of its runs were.
    pub(super) fn add(&mut self, stage: &str, duration: Duration, cached: bool) {
        match self.0.iter_mut().find(|timing| timing.stage == stage) {
            Some(timing) => {
                timing.duration += duration;
                timing.cached &= cached;
            }
            None => self.0.push(StageTiming {
                stage: stage.to_owned(),
                duration,
                cached,
            }),
        }
    }

    /// Adds the embedding of the question.
    pub(super) fn add_embedding(&mut self, embedded: &Cached<Embedded>) {
        let Embedded {
            duration, stored, ..
        } = *embedded.value;
        self.add("embed", duration, embedded.hit || stored);
    }

    /// Runs `work` as a stage that is never cached.
    pub(super) async fn measure<T>(&mut self, stage: &str, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let result = work.await;
        self.add(stage, started.elapsed(), false);
        result
    }

    /// The stages in the order in which they first ran.
    pub(super) fn into_stages(self) -> Vec<StageTiming> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_runs_of_a_stage() {
        let mut timings = Timings::default();
        timings.add("bm25", Duration::from_millis(2), true);
        timings.add("fuse", Duration::from_millis(1), false);
        timings.add("bm25", Duration::from_millis(3), false);
        let stages: Vec<_> = timings
            .into_stages()
            .into_iter()
            .map(|timing| (timing.stage, timing.duration.as_millis(), timing.cached))
            .collect();
        assert_eq!(
            stages,
            [("bm25".to_owned(), 5, false), ("fuse".to_owned(), 1, false)]
        );
    }
}

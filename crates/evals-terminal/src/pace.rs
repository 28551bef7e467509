//! How long the rest of the cases will take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evals::CaseId;

/// The weight of the earlier cases when a case ends: about the last twenty decide.
const MEMORY: f64 = 0.9;

/// A run of a case: its id and its repetition.
type Run = (CaseId, u32);

/// The pace of the cases that this process runs. Cases of an earlier session do not count.
///
/// Cases whose replies come from a recording take no time. So the most recent cases have the largest weights: after twenty cases that take
/// time, those from the recording hardly count. The pace follows from the time of each case and not from the pauses between their ends,
/// because cases that run at the same time often end together.
#[derive(Debug, Default)]
struct Pace {
    /// When each case that is running began.
    running: BTreeMap<Run, Instant>,
    /// The most cases that ran at the same time.
    most: usize,
    /// The weighted sum of the seconds of the cases that ended, and the sum of the weights.
    seconds: f64,
    weights: f64,
}

impl Pace {
    fn start(&mut self, run: Run, now: Instant) {
        self.running.insert(run, now);
        self.most = self.most.max(self.running.len());
    }

    fn end(&mut self, run: &Run, now: Instant) {
        if let Some(began) = self.running.remove(run) {
            let seconds = now.duration_since(began).as_secs_f64();
            self.seconds = self.seconds * MEMORY + seconds;
            self.weights = self.weights * MEMORY + 1.0;
        }
    }

    /// The time for so many cases, of which some may be running; 0 while it is unknown.
    fn left(&self, cases: u64, now: Instant) -> Duration {
        let lanes = u64::try_from(self.most).unwrap_or(u64::MAX).min(cases);
        if self.weights == 0.0 || lanes == 0 {
            return Duration::ZERO;
        }
        // When cases become slower, those that are running show it first.
        let seconds = (self.seconds / self.weights).max(self.mean_age(now));
        let seconds = seconds * float(cases) / float(lanes);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// The mean of the seconds for which the running cases have run.
    fn mean_age(&self, now: Instant) -> f64 {
        let began = self.running.values();
        let ages: Duration = began.map(|began| now.duration_since(*began)).sum();
        let count = u64::try_from(self.running.len().max(1)).unwrap_or(u64::MAX);
        ages.as_secs_f64() / float(count)
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate of a time")]
fn float(count: u64) -> f64 {
    count as f64
}

/// A pace that a bar and its observer share.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedPace(Arc<Mutex<Pace>>);

impl SharedPace {
    pub(super) fn start(&self, case: &CaseId, repeat: u32) {
        self.with(|pace| pace.start((case.clone(), repeat), Instant::now()));
    }

    pub(super) fn end(&self, case: &CaseId, repeat: u32) {
        self.with(|pace| pace.end(&(case.clone(), repeat), Instant::now()));
    }

    /// The time for so many cases; 0 while it is unknown.
    pub(super) fn left(&self, cases: u64) -> Duration {
        self.with(|pace| pace.left(cases, Instant::now()))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Pace) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUARTER: Duration = Duration::from_millis(250);

    fn run(number: u32) -> Run {
        (CaseId::new("case"), number)
    }

    /// Runs cases that take this long each, so many at a time, and returns when the last one ended.
    fn work(
        pace: &mut Pace,
        mut now: Instant,
        groups: u32,
        at_once: u32,
        each: Duration,
    ) -> Instant {
        for _ in 0..groups {
            (0..at_once).for_each(|number| pace.start(run(number), now));
            now += each;
            (0..at_once).for_each(|number| pace.end(&run(number), now));
        }
        now
    }

    fn assert_about(left: Duration, seconds: f64) {
        let left = left.as_secs_f64();
        assert!((left - seconds).abs() < seconds * 0.15, "{left} s");
    }

    #[test]
    fn the_rest_takes_as_long_as_the_cases_of_this_process() {
        let mut pace = Pace::default();
        let start = Instant::now();
        assert_eq!(pace.left(120, start), Duration::ZERO);
        // An earlier session finished 80 of 200 cases.
        let now = work(&mut pace, start, 9, 1, QUARTER);
        assert_about(pace.left(111, now), 27.75);
        assert_eq!(pace.left(0, now), Duration::ZERO);
    }

    #[test]
    fn cases_that_run_at_the_same_time_share_the_time() {
        let mut pace = Pace::default();
        let now = work(&mut pace, Instant::now(), 3, 8, QUARTER);
        assert_about(pace.left(80, now), 2.5);
        // The last cases still take the time of one.
        assert_about(pace.left(3, now), 0.25);
    }

    #[test]
    fn replies_of_a_recording_count_less_and_less() {
        let mut pace = Pace::default();
        let now = work(&mut pace, Instant::now(), 80, 1, Duration::ZERO);
        let now = work(&mut pace, now, 20, 1, QUARTER);
        assert_about(pace.left(100, now), 25.0);
    }

    #[test]
    fn a_case_that_runs_longer_than_the_others_shows_that_they_became_slower() {
        let mut pace = Pace::default();
        let now = work(&mut pace, Instant::now(), 80, 1, Duration::ZERO);
        pace.start(run(1), now);
        assert_about(pace.left(10, now + 4 * QUARTER), 10.0);
    }
}

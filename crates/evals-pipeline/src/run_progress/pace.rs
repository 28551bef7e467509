//! The pace of a run: how many cases finish in a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The pace is measured over this time before now, because it changes: servers slow down, and caches run out.
const WINDOW: Duration = Duration::from_mins(1);

/// The fewest cases in the window. It grows for a run of slow cases.
const LEAST: usize = 10;

/// The cases of a run that finished last.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The run's wall time at the end of each of these cases.
    ends: VecDeque<Duration>,
    /// The wall time at the end of the last case, and when that was noticed.
    last: Option<(Duration, Instant)>,
    /// Whether earlier cases were dropped from the front.
    is_cut: bool,
}

impl Pace {
    /// Adds a case that took `duration` and ended at the wall time `end` of the run.
    pub(super) fn add(&mut self, end: Duration, duration: Duration, now: Instant) {
        // It was copied from an earlier run, whose failed cases this one repeats.
        if end < duration {
            return;
        }
        let last = self.last.map_or(end, |(last, _)| last.max(end));
        self.last = Some((last, now));
        self.ends.push_back(end);
        while self.ends.len() > LEAST + 1
            && self
                .ends
                .front()
                .is_some_and(|first| last.saturating_sub(*first) > WINDOW)
        {
            self.ends.pop_front();
            self.is_cut = true;
        }
    }

    /// Cases per second; `None` before the first case.
    pub(super) fn rate(&self, now: Instant) -> Option<f64> {
        let (last, noticed) = self.last?;
        let time = last + now.saturating_duration_since(noticed);
        let start = match self.ends.front() {
            Some(first) if self.is_cut => *first,
            _ => Duration::ZERO,
        };
        let ended = self.ends.iter().filter(|end| **end > start).count();
        let seconds = time.saturating_sub(start).as_secs_f64();
        (ended > 0 && seconds > 0.0).then(|| count(ended) / seconds)
    }

    /// The time for further cases at this pace.
    pub(super) fn time_for(&self, cases: usize, now: Instant) -> Option<Duration> {
        let seconds = count(cases) / self.rate(now)?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// A pace, given in cases per second, in the unit in which it is above 1 if there is one.
pub(super) fn printed_pace(per_second: f64) -> String {
    if per_second >= 0.95 {
        format!("{per_second:.1} per second")
    } else {
        format!("{:.1} per minute", per_second * 60.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn pace(ends: impl IntoIterator<Item = u64>, now: Instant) -> Pace {
        let mut pace = Pace::default();
        for end in ends {
            pace.add(seconds(end), Duration::ZERO, now);
        }
        pace
    }

    fn rate(pace: &Pace, now: Instant) -> String {
        format!("{:.6}", pace.rate(now).unwrap())
    }

    #[test]
    fn a_run_without_a_case_has_no_pace() {
        let now = Instant::now();
        assert_eq!(Pace::default().rate(now), None);
        assert_eq!(Pace::default().time_for(3, now), None);
    }

    #[test]
    fn few_cases_count_from_the_start() {
        let now = Instant::now();
        let pace = pace([600, 1_200, 1_800], now);
        assert_eq!(rate(&pace, now), "0.001667");
        assert_eq!(pace.time_for(2, now), Some(seconds(1_200)));
    }

    #[test]
    fn the_last_minute_counts() {
        let now = Instant::now();
        // One case a second for 100 s, then four for 100 s.
        let slow = 1..=100;
        let fast = (404..=800).map(|quarter| quarter / 4);
        let pace = pace(slow.chain(fast), now);
        assert!((pace.rate(now).unwrap() - 4.0).abs() < 0.1, "{pace:?}");
    }

    #[test]
    fn a_run_of_slow_cases_has_the_pace_of_the_last_ten() {
        let now = Instant::now();
        let pace = pace((1..=40).map(|case| case * 100), now);
        assert_eq!(rate(&pace, now), "0.010000");
    }

    #[test]
    fn the_pace_falls_while_no_case_finishes() {
        let now = Instant::now();
        let pace = pace([1, 2, 3, 4], now);
        assert_eq!(rate(&pace, now), "1.000000");
        assert_eq!(rate(&pace, now + seconds(4)), "0.500000");
    }

    #[test]
    fn cases_copied_from_an_earlier_run_do_not_count() {
        let now = Instant::now();
        let mut pace = Pace::default();
        for _ in 0..200 {
            pace.add(Duration::from_millis(3), seconds(2), now);
        }
        assert_eq!(pace.rate(now), None);
        pace.add(seconds(5), seconds(2), now);
        assert_eq!(rate(&pace, now), "0.200000");
    }
}

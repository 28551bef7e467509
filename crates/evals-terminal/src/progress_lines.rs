//! Progress in a pipe or a file: a line now and then for each bar that a terminal would draw.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use evals_settings::redaction::printable;
use indicatif::{DecimalBytes, HumanDuration, ProgressBar, WeakProgressBar};

use crate::pace::SharedPace;

/// Time between two lines of work that goes on.
const INTERVAL: Duration = Duration::from_mins(1);
/// Time between two lines of work that stands still, such as cases that wait for a batch.
const IDLE_INTERVAL: Duration = Duration::from_mins(10);

/// What the numbers of a bar count.
#[derive(Debug, Clone)]
pub(super) enum Unit {
    /// Questions or chunks.
    Items,
    /// The same. They may all end at once, so that the time left is unknown.
    ItemsWithoutTimeLeft,
    /// Cases, with the pace of those that this process runs: an earlier session may have finished the others.
    Cases(SharedPace),
    Bytes,
}

impl Unit {
    /// The time left, or 0 while it is unknown. `eta` is the estimate of the bar.
    pub(super) fn left(&self, done: u64, all: Option<u64>, eta: Duration) -> Duration {
        match self {
            Self::Items | Self::Bytes => eta,
            Self::ItemsWithoutTimeLeft => Duration::ZERO,
            Self::Cases(pace) => pace.left(all.unwrap_or_default().saturating_sub(done)),
        }
    }
}

/// The bars of a process without a terminal, and the thread that prints their lines. Short work prints none.
#[derive(Default)]
pub(crate) struct ProgressLines {
    bars: Mutex<Vec<Watched>>,
}

struct Watched {
    bar: WeakProgressBar,
    unit: Unit,
    /// When the bar was registered or had its last line.
    printed: Instant,
    /// Number and message of the last line.
    last: (u64, String),
}

impl ProgressLines {
    /// Starts the thread. It ends with the last reference.
    pub(crate) fn start() -> Arc<Self> {
        let lines = Arc::new(Self::default());
        let weak = Arc::downgrade(&lines);
        // Without a thread there are no lines, as with `--no-progress`.
        let _ = thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || print_all(&weak));
        lines
    }

    pub(super) fn watch(&self, bar: &ProgressBar, unit: Unit) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        bars.push(Watched {
            bar: bar.downgrade(),
            unit,
            printed: Instant::now(),
            last: (0, String::new()),
        });
    }

    /// The lines that are due.
    fn due(&self, now: Instant) -> Vec<String> {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        bars.retain(|watched| watched.bar.upgrade().is_some());
        bars.iter_mut().filter_map(|bar| bar.due(now)).collect()
    }
}

impl fmt::Debug for ProgressLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProgressLines")
            .finish_non_exhaustive()
    }
}

impl Watched {
    fn due(&mut self, now: Instant) -> Option<String> {
        let bar = self.bar.upgrade()?;
        if bar.is_finished() {
            return None;
        }
        let state = (bar.position(), bar.message());
        let interval = if state == self.last {
            IDLE_INTERVAL
        } else {
            INTERVAL
        };
        if now.duration_since(self.printed) < interval {
            return None;
        }
        self.printed = now;
        self.last = state;
        Some(self.line(&bar))
    }

    fn line(&self, bar: &ProgressBar) -> String {
        let (done, message) = &self.last;
        let share = bar.length().map(|all| match self.unit {
            Unit::Bytes => format!("{} of {}", DecimalBytes(*done), DecimalBytes(all)),
            Unit::Items | Unit::ItemsWithoutTimeLeft | Unit::Cases(_) => format!("{done} of {all}"),
        });
        let left = self.unit.left(*done, bar.length(), bar.eta());
        let times = times(bar.elapsed(), *done, bar.length(), left);
        let parts = [share, Some(message.clone()), Some(times)];
        let parts: Vec<String> = parts
            .into_iter()
            .flatten()
            .filter(|it| !it.is_empty())
            .collect();
        printable(&format!("{}: {}", bar.prefix(), parts.join(", ")))
    }
}

fn print_all(lines: &Weak<ProgressLines>) {
    loop {
        thread::sleep(INTERVAL / 4);
        let Some(lines) = lines.upgrade() else {
            return;
        };
        for line in lines.due(Instant::now()) {
            // If stderr is closed, there is no place to report that.
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
    }
}

/// The times in words. The remaining time is unknown until something is done.
pub(super) fn times(elapsed: Duration, done: u64, all: Option<u64>, left: Duration) -> String {
    let elapsed = format!("{} elapsed", spoken(elapsed));
    let is_known = done > 0 && all.is_some_and(|all| done < all) && !left.is_zero();
    if is_known {
        format!("{elapsed}, about {} left", spoken(left))
    } else {
        elapsed
    }
}

/// A duration in its largest unit.
pub fn spoken(duration: Duration) -> String {
    format!("{:#}", HumanDuration(duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn after(minutes: u64) -> Duration {
        Duration::from_secs(60 * minutes)
    }

    #[test]
    fn a_bar_that_moves_has_a_line_each_minute_and_an_idle_one_every_ten() {
        let lines = ProgressLines::default();
        let bar = ProgressBar::hidden().with_prefix("answering");
        bar.set_length(300);
        lines.watch(&bar, Unit::ItemsWithoutTimeLeft);
        let start = Instant::now();
        bar.set_position(20);
        assert!(lines.due(start + after(1) / 2).is_empty());
        assert_eq!(
            lines.due(start + after(1)),
            ["answering: 20 of 300, 0s elapsed"]
        );
        assert!(lines.due(start + after(10)).is_empty());
        bar.set_position(21);
        assert_eq!(lines.due(start + after(10)).len(), 1);
        assert_eq!(lines.due(start + after(20)).len(), 1);
    }

    #[test]
    fn lines_have_bytes_and_messages_and_end_with_the_bar() {
        let lines = ProgressLines::default();
        let download = ProgressBar::hidden().with_prefix("corpus.parquet");
        download.set_length(2_000_000);
        download.set_position(500_000);
        lines.watch(&download, Unit::Bytes);
        let spinner = ProgressBar::hidden().with_prefix("measuring");
        spinner.set_message("3/45 ivf-flat");
        lines.watch(&spinner, Unit::Items);
        let due = lines.due(Instant::now() + after(1));
        assert!(
            due[0].starts_with("corpus.parquet: 500.00 kB of 2.00 MB, "),
            "{due:?}"
        );
        assert_eq!(due[1], "measuring: 3/45 ivf-flat, 0s elapsed");
        download.finish_and_clear();
        drop(spinner);
        assert!(lines.due(Instant::now() + after(30)).is_empty());
    }

    #[test]
    fn the_remaining_time_is_unknown_until_something_is_done() {
        let [nothing, twelve, forty] = [0, 12, 40].map(Duration::from_secs);
        assert_eq!(times(twelve, 0, Some(40), nothing), "12s elapsed");
        assert_eq!(times(twelve, 0, Some(40), forty), "12s elapsed");
        assert_eq!(times(twelve, 3, None, forty), "12s elapsed");
        assert_eq!(times(twelve, 40, Some(40), forty), "12s elapsed");
        assert_eq!(
            times(twelve, 3, Some(40), forty),
            "12s elapsed, about 40s left"
        );
    }
}

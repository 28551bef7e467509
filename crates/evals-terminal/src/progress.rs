//! Progress bars, driven by the events of the libraries. In a pipe or a file, lines stand for them.

use std::fmt::Write;
use std::time::Duration;

use evals::{Domain, Event, Observer};
use evals_settings::redaction::printable;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::pace::SharedPace;
use crate::printer::Printer;
use crate::progress_lines::{Unit, times};

pub use crate::progress_lines::spoken;

/// The interval at which an idle bar is redrawn, so that its clock keeps running.
const TICK: Duration = Duration::from_millis(250);

/// The progress bar of a run's cases.
#[derive(Debug)]
pub struct CaseBar {
    bar: ProgressBar,
    pace: SharedPace,
}

impl CaseBar {
    /// A bar with this label, in which the cases of the events that it observes count.
    pub fn new(printer: &Printer, label: &str) -> Self {
        let pace = SharedPace::default();
        let template = "{prefix:<16} {wide_bar} {pos}/{len} {time}";
        Self::of(printer, label, template, (Unit::Cases(pace.clone()), pace))
    }

    /// The same, without the time left if the cases wait for batches: then they may all finish at once.
    pub fn of_batches(printer: &Printer, label: &str, waits_for_batches: bool) -> Self {
        if !waits_for_batches {
            return Self::new(printer, label);
        }
        let template = "{prefix:<16} {wide_bar} {pos}/{len} {elapsed} elapsed";
        let unit = Unit::ItemsWithoutTimeLeft;
        Self::of(printer, label, template, (unit, SharedPace::default()))
    }

    fn of(
        printer: &Printer,
        label: &str,
        template: &str,
        (unit, pace): (Unit, SharedPace),
    ) -> Self {
        let bar = add(printer, label, template, Some(unit));
        bar.enable_steady_tick(TICK);
        Self { bar, pace }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl<D: Domain> Observer<D> for CaseBar {
    fn on_event(&self, event: Event<'_, D>) {
        match event {
            Event::Started { total, resumed, .. } => {
                self.bar.set_length(total as u64);
                self.bar.set_position(resumed as u64);
            }
            Event::CaseStarted { case, repeat } => self.pace.start(&case.id, repeat),
            Event::CaseFinished { report, .. } => {
                self.pace.end(&report.id, report.repeat);
                self.bar.inc(1);
            }
            _ => {}
        }
    }
}

/// A bar of items that is there while there is work, and says what is done with them. It starts hidden.
pub fn of_items(printer: &Printer, label: &str) -> ProgressBar {
    let template = "{prefix:<16} {wide_bar} {pos}/{len} {msg}";
    let bar = add(printer, label, template, Some(Unit::Items));
    bar.finish_and_clear();
    bar
}

/// A progress bar of bytes.
pub fn bytes(printer: &Printer, label: &str, total: u64) -> ProgressBar {
    let bar = add(
        printer,
        label,
        "{prefix} {wide_bar} {bytes}/{total_bytes} {time}",
        Some(Unit::Bytes),
    );
    bar.set_length(total);
    bar.enable_steady_tick(TICK);
    bar
}

/// A spinner for work of unknown length.
pub fn open_ended(printer: &Printer, label: &str) -> ProgressBar {
    spinner(printer, label, Some(Unit::Items))
}

/// The same for a terminal only: the caller prints lines in a pipe or a file by itself.
pub fn terminal_only(printer: &Printer, label: &str) -> ProgressBar {
    spinner(printer, label, None)
}

fn spinner(printer: &Printer, label: &str, lines: Option<Unit>) -> ProgressBar {
    let template = "{prefix:<16} {spinner} {wide_msg} {elapsed:>4}";
    let bar = add(printer, label, template, lines);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Adds a bar. `lines` says what its numbers count if it has lines in a pipe or a file.
fn add(printer: &Printer, label: &str, template: &str, lines: Option<Unit>) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    let unit = lines.clone().unwrap_or(Unit::Items);
    let style = style.with_key("time", move |state: &ProgressState, out: &mut dyn Write| {
        let left = unit.left(state.pos(), state.len(), state.eta());
        let time = times(state.elapsed(), state.pos(), state.len(), left);
        // Failing to draw a bar must not stop the work.
        let _ = out.write_str(&time);
    });
    let style = if printer.stdout().unicode {
        style
    } else {
        style.progress_chars("=> ").tick_chars("-\\|/ ")
    };
    // Once added, every change is drawn, so the style is set before: otherwise a bar of 0/0 would flash up.
    let bar = ProgressBar::no_length()
        .with_style(style)
        .with_prefix(printable(label));
    let bar = printer.progress().add(bar);
    if let (Some(unit), Some(lines)) = (lines, printer.progress_lines()) {
        lines.watch(&bar, unit);
    }
    bar
}

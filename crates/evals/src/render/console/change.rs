//! Prints a change for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::change::{self, CORRECTED, INTERVAL};
use super::drawing::Spread;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use super::{Drawings, Page};
use crate::{Change, Direction, MeasureChange, Unit, Verdict};

/// The columns that a narrow page drops first, before the interval. The verdict says what a p value would.
const LEAST: [&str; 5] = ["Better and Worse", "p", CORRECTED, "Before", "After"];

/// The title of the drawings, with zero in its middle.
const AXIS: &str = " worse|better";

impl<W: Write> Page<W> {
    pub(super) fn change(&mut self, change: &Change) -> io::Result<()> {
        for (what, report) in [("before", &change.before), ("after", &change.after)] {
            let title = format!("{what}: {}", single_line(&report.title));
            self.wrapped(Style::Bold, &title)?;
        }
        for difference in &change.made_by {
            self.wrapped(Style::Dim, &format!("  {}", single_line(difference)))?;
        }
        if !change.measures.is_empty() {
            self.table(&self.fitting_table(change))?;
        }
        for note in change::notes(change, self.glyphs) {
            self.wrapped(Style::Dim, &note)?;
        }
        self.changed_groups(&change.groups)?;
        for (heading, cases) in change::cases(change) {
            writeln!(self.out)?;
            self.line(Style::Bold, &heading)?;
            for lines in cases {
                for (place, line) in lines.iter().enumerate() {
                    let indent = if place == 0 { "  " } else { "    " };
                    self.message(&format!("{indent}{line}"))?;
                }
            }
        }
        Ok(())
    }

    /// The table, with drawings of the intervals if all columns fit the page with them.
    fn fitting_table(&self, change: &Change) -> ConsoleTable {
        let drawn = self.table_of_changes(change, self.console.drawings);
        if drawn.natural_width() <= usize::from(self.console.width) {
            return drawn;
        }
        self.table_of_changes(change, Drawings::Off)
    }

    fn table_of_changes(&self, change: &Change, drawings: Drawings) -> ConsoleTable {
        let titles = change::titles(change);
        let mut columns: Vec<ConsoleColumn> = titles
            .into_iter()
            .map(|title| {
                let is_text = matches!(title, "Measure" | "Verdict");
                let align = if is_text { Align::Left } else { Align::Right };
                ConsoleColumn::new(title, align)
            })
            .collect();
        let draws = drawings == Drawings::On;
        // The drawing first, so that the interval stands before it.
        if draws {
            columns.insert(INTERVAL, ConsoleColumn::new(AXIS, Align::Left));
        }
        let interval = change::interval_title(change);
        columns.insert(INTERVAL, ConsoleColumn::new(interval.as_str(), Align::Left));
        let mut table =
            ConsoleTable::new(columns).dropping([&LEAST[..], &[interval.as_str()]].concat());
        let end = furthest(change);
        for (row, measure) in change::rows(change, self.glyphs)
            .into_iter()
            .zip(&change.measures)
        {
            let is_clear = matches!(row.verdict, Verdict::Better | Verdict::Worse);
            let entry = |text| {
                if is_clear {
                    ConsoleCell::bold(text)
                } else {
                    ConsoleCell::plain(text)
                }
            };
            let mut entries: Vec<ConsoleCell> = row.cells.into_iter().map(entry).collect();
            if draws {
                let drawing = spread(measure)
                    .map(|spread| self.console.symbols.spread(spread, end, AXIS.len()));
                entries.insert(INTERVAL, entry(drawing.unwrap_or_default()));
            }
            entries.insert(INTERVAL, ConsoleCell::dim(row.interval));
            table.push(entries);
        }
        table
    }
}

/// The change of a measure, turned so that better is on the right. `None` where neither direction is better, and for metrics, whose units
/// have no common scale.
fn spread(change: &MeasureChange) -> Option<Spread> {
    let sign = match change.better {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Unknown => return None,
    };
    let found = change.difference.as_ref()?;
    if !matches!(change.unit, Unit::Score | Unit::PassRate) {
        return None;
    }
    let interval = found.interval.as_ref().map(|interval| {
        let [one, other] = [sign * interval.low, sign * interval.high];
        (one.min(other), one.max(other))
    });
    Some(Spread {
        value: sign * found.difference,
        interval,
    })
}

/// The greatest distance from zero that any drawing has to show.
fn furthest(change: &Change) -> f64 {
    let spreads = change.measures.iter().filter_map(spread);
    let ends = spreads.flat_map(|spread| {
        let (low, high) = spread.interval.unwrap_or((spread.value, spread.value));
        [low, high, spread.value]
    });
    ends.map(f64::abs).fold(0.0, f64::max)
}

//! Prints a change for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::change::{self, INTERVAL};
use super::drawing::Spread;
use super::paint::Style;
use super::table::{Align, Column, Entry, Table};
use super::{Drawings, Page};
use crate::{Change, Direction, MeasureChange, Unit, Verdict};

/// The columns that a narrow page drops first; the remaining ones hold the essentials.
const LEAST: [&str; 4] = ["Better", "Worse", "Before", "After"];

/// The title of the drawings, with zero in its middle.
const AXIS: &str = " worse|better";

/// The columns that show where the true change may be.
#[derive(Clone, Copy, Debug)]
struct Layout {
    intervals: bool,
    drawings: bool,
}

impl Layout {
    /// From the one with most columns to the one with least. Drawings leave before intervals, and stand in for them where only a
    /// drawing has room.
    const WIDEST_FIRST: [Self; 4] = [
        Self {
            intervals: true,
            drawings: true,
        },
        Self {
            intervals: true,
            drawings: false,
        },
        Self {
            intervals: false,
            drawings: true,
        },
        Self::NARROWEST,
    ];

    const NARROWEST: Self = Self {
        intervals: false,
        drawings: false,
    };
}

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
        for (heading, lines) in change::cases(change) {
            writeln!(self.out)?;
            self.line(Style::Bold, &heading)?;
            for line in lines {
                self.message(&format!("  {line}"))?;
            }
        }
        Ok(())
    }

    /// The table with the most columns that fits the page, or else the narrowest.
    fn fitting_table(&self, change: &Change) -> Table {
        let width = usize::from(self.console.width);
        let draws = self.console.drawings == Drawings::On;
        let layouts = Layout::WIDEST_FIRST.into_iter();
        let mut tables = layouts
            .filter(|layout| draws || !layout.drawings)
            .map(|layout| self.table_of_changes(change, layout));
        let fitting = tables.find(|table| table.natural_width() <= width);
        fitting.unwrap_or_else(|| self.table_of_changes(change, Layout::NARROWEST))
    }

    fn table_of_changes(&self, change: &Change, shown: Layout) -> Table {
        let mut columns: Vec<Column> = change::titles(change)
            .into_iter()
            .map(|title| {
                let is_text = matches!(title, "Measure" | "Verdict");
                let align = if is_text { Align::Left } else { Align::Right };
                Column::new(title, align)
            })
            .collect();
        // The drawing first, so that the interval stands before it.
        if shown.drawings {
            columns.insert(INTERVAL, Column::new(AXIS, Align::Left));
        }
        let interval = change::interval_title(change);
        if shown.intervals {
            columns.insert(INTERVAL, Column::new(interval.as_str(), Align::Left));
        }
        let end = furthest(change);
        let mut table = Table::new(columns).dropping(&LEAST);
        if !shown.intervals {
            table = table.without(interval);
        }
        for (row, measure) in change::rows(change, self.glyphs)
            .into_iter()
            .zip(&change.measures)
        {
            let is_clear = matches!(row.verdict, Verdict::Better | Verdict::Worse);
            let entry = |text| {
                if is_clear {
                    Entry::bold(text)
                } else {
                    Entry::plain(text)
                }
            };
            let mut entries: Vec<Entry> = row.cells.into_iter().map(entry).collect();
            if shown.drawings {
                let drawing = spread(measure)
                    .map(|spread| self.console.symbols.spread(spread, end, AXIS.len()));
                entries.insert(INTERVAL, entry(drawing.unwrap_or_default()));
            }
            if shown.intervals {
                entries.insert(INTERVAL, Entry::dim(row.interval));
            }
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

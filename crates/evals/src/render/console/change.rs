//! Prints a change for a terminal.

use std::io::{self, Write};
use std::mem;

use evals_messages::visible::single_line;

use super::super::grid::Style;
use super::super::{change, groups};
use super::drawing::Spread;
use super::{Drawings, Page};
use crate::{Change, MeasureChange, Unit};

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
        let mut grid = change::grid(change, self.glyphs);
        if self.console.drawings == Drawings::On {
            let end = furthest(change);
            let drawing = |measure| {
                let spread = spread(measure)?;
                Some(self.console.symbols.spread(spread, end, AXIS.len()))
            };
            // After the interval.
            grid.draw(5, AXIS, change::shown(change).map(drawing).collect());
        }
        self.table(grid)?;
        let left_out = mem::take(&mut self.left_out);
        self.notes(change::notes(change, self.glyphs, &left_out))?;
        for groups in &change.groups {
            for table in groups::changes(groups, self.glyphs) {
                self.table(table)?;
            }
        }
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
}

/// The change of a measure, turned so that better is on the right. `None` where neither direction is better, and for metrics, whose units
/// have no common scale.
fn spread(change: &MeasureChange) -> Option<Spread> {
    let sign = change.better.gain()?;
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

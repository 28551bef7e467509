//! The table of pass rates with failures, and their bounds.

use std::iter;

use super::glyphs::Glyphs;
use super::grid::{Align, Grid};
use super::measures::pass_rate_name;
use crate::{Summary, number};

/// Explains the columns.
const LEGEND: &str = "worst: failed cases count against the system; best: in its favour";

/// One row for each assertion that lacks a value in any repetition because of a failure. The measure table is enough for the
/// others.
pub(super) fn grid(summary: &Summary, glyphs: &Glyphs) -> Grid {
    let shares = ["Scored", "Worst", "Best", "Coverage"].map(|it| (it, Align::Right));
    let mut grid = Grid::new(iter::once(("Failures included", Align::Left)).chain(shares));
    let accuracy = summary.accuracy.iter();
    for (name, accuracy) in accuracy.filter(|(_, accuracy)| !accuracy.is_complete()) {
        let shares = [
            accuracy.scored.value,
            accuracy.worst,
            accuracy.best,
            accuracy.coverage,
        ];
        let shares = shares.map(|share| glyphs.shown(share, number::score));
        grid.push(iter::once(pass_rate_name(name)).chain(shares));
    }
    grid.notes.push(LEGEND.to_owned());
    grid
}

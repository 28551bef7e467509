//! The table of measures, with or without drawings.

use super::super::glyphs::Glyphs;
use super::super::measures::{self, MeasureRow};
use super::Symbols;
use super::histograms::{BINS, Histograms};
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use crate::Summary;

/// The title of the bars, an axis as wide as they are.
const BARS: &str = "0        1";
/// The title of the histograms, likewise.
const HISTOGRAMS: &str = "0 cases  1";

/// The drawings of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum DrawnBars<'h> {
    Nothing,
    Bars(Symbols),
    BarsAndHistograms(Symbols, &'h Histograms),
}

impl DrawnBars<'_> {
    fn bar(self, row: &MeasureRow) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Bars(symbols) | Self::BarsAndHistograms(symbols, _) => {
                Some(symbols.bar(row.share?, BARS.len()))
            }
        }
    }

    fn histogram(self, row: &MeasureRow) -> Option<String> {
        let Self::BarsAndHistograms(symbols, histograms) = self else {
            return None;
        };
        symbols.histogram(histograms.get(row.score.as_ref()?)?)
    }
}

/// Lays out the rows.
pub(super) fn of(
    summary: &Summary,
    rows: &[MeasureRow],
    glyphs: &Glyphs,
    drawn: DrawnBars<'_>,
) -> ConsoleTable {
    let confidence = measures::confidence_percent(summary);
    let any_excluded = rows.iter().any(|row| row.excluded > 0);
    let any_missing = rows.iter().any(|row| row.missing > 0);
    let any_bar = rows.iter().any(|row| drawn.bar(row).is_some());
    let any_histogram = rows.iter().any(|row| drawn.histogram(row).is_some());
    let mut columns = vec![
        ConsoleColumn::new("Measure", Align::Left),
        ConsoleColumn::new("Value", Align::Right),
    ];
    columns.extend(any_bar.then(|| ConsoleColumn::new(BARS, Align::Left)));
    columns.extend(
        confidence
            .iter()
            .map(|percent| ConsoleColumn::new(format!("{percent} interval"), Align::Left)),
    );
    columns.extend(any_histogram.then(|| ConsoleColumn::new(HISTOGRAMS, Align::Left)));
    columns.push(ConsoleColumn::new("n", Align::Right));
    columns.extend(any_excluded.then(|| ConsoleColumn::new("Excluded", Align::Right)));
    columns.extend(any_missing.then(|| ConsoleColumn::new("Missing repetitions", Align::Right)));
    // The lines below the table repeat both.
    let mut table = ConsoleTable::new(columns).dropping(["Missing repetitions", "Excluded"]);
    for row in rows {
        let value = row.value.as_deref().unwrap_or(glyphs.undefined);
        let mut entries = vec![
            ConsoleCell::plain(row.name.clone()),
            ConsoleCell::bold(value.to_owned()),
        ];
        entries.extend(any_bar.then(|| ConsoleCell::plain(drawn.bar(row).unwrap_or_default())));
        entries.extend(
            confidence
                .is_some()
                .then(|| ConsoleCell::dim(row.interval.clone().unwrap_or_default())),
        );
        entries.extend(
            any_histogram.then(|| ConsoleCell::plain(drawn.histogram(row).unwrap_or_default())),
        );
        entries.push(ConsoleCell::plain(row.n.to_string()));
        entries.extend(any_excluded.then(|| ConsoleCell::plain(nonzero(row.excluded))));
        entries.extend(any_missing.then(|| ConsoleCell::plain(nonzero(row.missing))));
        table.push(entries);
    }
    table
}

fn nonzero(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}

const _: () = assert!(HISTOGRAMS.len() == BINS, "a bin is a column");

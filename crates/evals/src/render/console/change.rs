//! Prints a change for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::change::{self, INTERVAL, TITLES};
use super::super::glyphs::Glyphs;
use super::Page;
use super::paint::Style;
use super::table::{Align, Column, Entry, Table};
use crate::{Change, Verdict};

/// The columns that a narrow page drops first; the remaining ones hold the essentials.
const LEAST: [&str; 4] = ["Better", "Worse", "Before", "After"];

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
            let whole = table(change, true, self.glyphs);
            if whole.natural_width() <= usize::from(self.console.width) {
                self.table(&whole)?;
            } else {
                self.table(&table(change, false, self.glyphs))?;
                let note = "intervals hidden: not enough room";
                self.wrapped(Style::Dim, note)?;
            }
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
}

fn table(change: &Change, intervals: bool, glyphs: &Glyphs) -> Table {
    let mut columns: Vec<Column> = TITLES
        .iter()
        .map(|title| {
            let is_text = matches!(*title, "Measure" | "Verdict");
            let align = if is_text { Align::Left } else { Align::Right };
            Column::new(*title, align)
        })
        .collect();
    if intervals {
        let title = change::interval_title(change);
        columns.insert(INTERVAL, Column::new(title, Align::Left));
    }
    let mut table = Table::new(columns).dropping(&LEAST);
    for row in change::rows(change, glyphs) {
        let is_clear = matches!(row.verdict, Verdict::Better | Verdict::Worse);
        let entry = |text| {
            if is_clear {
                Entry::bold(text)
            } else {
                Entry::plain(text)
            }
        };
        let mut entries: Vec<Entry> = row.cells.map(entry).into();
        if intervals {
            entries.insert(INTERVAL, Entry::dim(row.interval));
        }
        table.push(entries);
    }
    table
}

//! Prints standings for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::change::CORRECTED;
use super::super::standings::{Section, notes, sections, warnings};
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use super::{Drawings, Page};
use crate::Standings;

/// The columns that a narrow page drops first.
const LEAST: [&str; 6] = [
    "Detectable",
    "d_z",
    "p",
    CORRECTED,
    "Letters",
    "95 % interval",
];

impl<W: Write> Page<W> {
    pub(super) fn standings(&mut self, standings: &Standings) -> io::Result<()> {
        for line in &standings.made_by {
            self.wrapped(Style::Dim, &single_line(line))?;
        }
        for warning in warnings(standings) {
            self.wrapped(Style::Warning, &warning)?;
        }
        for section in sections(standings, self.glyphs) {
            self.section(&section)?;
        }
        writeln!(self.out)?;
        for note in notes(standings, self.glyphs) {
            self.wrapped(Style::Dim, &note)?;
        }
        Ok(())
    }

    fn section(&mut self, section: &Section) -> io::Result<()> {
        writeln!(self.out)?;
        self.wrapped(Style::Bold, &section.heading)?;
        let width = usize::from(self.console.width);
        let drawn = self.table_of_section(section, self.console.drawings);
        let table = if drawn.natural_width() <= width {
            drawn
        } else {
            self.table_of_section(section, Drawings::Off)
        };
        let folded = table
            .folded(width, self.glyphs.ellipsis)
            .filter(|_| section.folds);
        match folded {
            Some(groups) => self.groups(&table, &groups)?,
            None => self.table_at_once(&table)?,
        }
        match &section.note {
            Some(note) => self.wrapped(Style::Dim, note),
            None => Ok(()),
        }
    }

    fn table_of_section(&self, section: &Section, drawings: Drawings) -> ConsoleTable {
        let columns = section.heads.iter().enumerate().map(|(place, head)| {
            let align = match section.texts.contains(&place) {
                true if head.ends_with("interval") => Align::Left,
                true => Align::Label,
                false => Align::Right,
            };
            ConsoleColumn::new(head.as_str(), align)
        });
        let mut columns: Vec<ConsoleColumn> = columns.collect();
        let draws =
            drawings == Drawings::On && section.rows.iter().any(|it| it.histogram.is_some());
        if draws {
            columns.push(ConsoleColumn::new("0 Cases 1", Align::Left));
        }
        let mut table = ConsoleTable::new(columns).dropping(LEAST);
        for row in &section.rows {
            let entry = |text: &String| {
                if row.is_clear {
                    ConsoleCell::bold(text.clone())
                } else {
                    ConsoleCell::plain(text.clone())
                }
            };
            let mut entries: Vec<ConsoleCell> = row.cells.iter().map(entry).collect();
            if draws {
                let bins = row.histogram.as_ref();
                let drawing = bins.and_then(|bins| self.console.symbols.histogram(bins));
                entries.push(ConsoleCell::dim(drawing.unwrap_or_default()));
            }
            table.push(entries);
        }
        table
    }
}

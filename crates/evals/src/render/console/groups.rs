//! Prints the measures of groups for a terminal.

use std::io::{self, Write};

use super::super::change::CORRECTED;
use super::super::groups::{self, GroupTable};
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use crate::{ChangedGroups, Groups};

/// The columns that a narrow page drops first.
const LEAST: [&str; 6] = ["Excluded", "p", CORRECTED, "Before", "After", "Interval"];

impl<W: Write> Page<W> {
    pub(super) fn grouped_means(&mut self, groups: &[Groups]) -> io::Result<()> {
        let tables = groups
            .iter()
            .flat_map(|it| groups::summarised(it, self.glyphs));
        self.group_tables(tables.collect())
    }

    pub(super) fn changed_groups(&mut self, groups: &[ChangedGroups]) -> io::Result<()> {
        let tables = groups
            .iter()
            .flat_map(|it| groups::changes(it, self.glyphs));
        self.group_tables(tables.collect())
    }

    fn group_tables(&mut self, tables: Vec<GroupTable>) -> io::Result<()> {
        for group_table in tables {
            let columns = group_table.titles.iter().enumerate();
            let columns = columns.map(|(place, title)| {
                let is_text = place == 0 || matches!(title.as_str(), "Interval" | "Verdict");
                let align = if is_text { Align::Left } else { Align::Right };
                ConsoleColumn::new(title.as_str(), align)
            });
            let mut table = ConsoleTable::new(columns.collect()).dropping(LEAST);
            for row in group_table.rows {
                let is_clear = row.is_clear;
                let entry = |text| {
                    if is_clear {
                        ConsoleCell::bold(text)
                    } else {
                        ConsoleCell::plain(text)
                    }
                };
                table.push(row.cells.into_iter().map(entry).collect());
            }
            writeln!(self.out)?;
            self.wrapped(Style::Bold, &group_table.heading)?;
            self.table_at_once(&table)?;
            if let Some(note) = &group_table.note {
                self.wrapped(Style::Dim, note)?;
            }
        }
        Ok(())
    }
}

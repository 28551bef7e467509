//! Prints standings for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::standings::{notes, sections, warnings};
use super::paint::Style;
use super::{Drawings, Page};
use crate::Standings;

impl<W: Write> Page<W> {
    pub(super) fn standings(&mut self, standings: &Standings) -> io::Result<()> {
        self.notes(standings.made_by.iter().map(|line| single_line(line)))?;
        for warning in warnings(standings) {
            self.wrapped(Style::Warning, &warning)?;
        }
        let draws = self.console.drawings == Drawings::On;
        let drawn = draws.then_some(self.console.symbols);
        for section in sections(standings, self.glyphs, drawn) {
            self.table(section)?;
        }
        writeln!(self.out)?;
        self.notes(notes(standings, self.glyphs))
    }
}

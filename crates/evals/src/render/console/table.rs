//! A table without borders, a rule under its head.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, TableComponent};
use unicode_width::UnicodeWidthStr as _;

use super::super::glyphs::Glyphs;
use super::{Color, Console};

/// Blanks after every column but the last. The layout adds one more, where a border would stand.
const PADDING: u16 = 1;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Align {
    Left,
    Right,
}

/// The head of a column.
#[derive(Debug)]
pub(super) struct Column {
    title: String,
    align: Align,
}

/// The text of a cell.
#[derive(Debug)]
pub(super) struct Entry {
    text: String,
    attribute: Option<Attribute>,
}

/// Columns and rows, not yet laid out.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Entry>>,
}

impl Column {
    pub(super) fn new(title: impl Into<String>, align: Align) -> Self {
        Self {
            title: title.into(),
            align,
        }
    }
}

impl Entry {
    pub(super) fn plain(text: String) -> Self {
        Self {
            text,
            attribute: None,
        }
    }

    pub(super) fn bold(text: String) -> Self {
        Self {
            text,
            attribute: Some(Attribute::Bold),
        }
    }

    pub(super) fn dim(text: String) -> Self {
        Self {
            text,
            attribute: Some(Attribute::Dim),
        }
    }
}

impl Table {
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, entries: Vec<Entry>) {
        self.rows.push(entries);
    }

    /// The width that the table takes when nothing has to wrap.
    pub(super) fn natural_width(&self) -> usize {
        let table = self.arrange(ContentArrangement::Disabled, Color::Off, Glyphs::UNICODE);
        table.lines().map(|line| line.width()).max().unwrap_or(0)
    }

    pub(super) fn write(
        &self,
        mut out: impl Write,
        console: Console,
        glyphs: &Glyphs,
    ) -> io::Result<()> {
        let mut table = self.arrange(ContentArrangement::Dynamic, console.color, glyphs);
        table.set_width(console.width);
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn arrange(
        &self,
        arrangement: ContentArrangement,
        color: Color,
        glyphs: &Glyphs,
    ) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, glyphs.rule);
        table.set_style(TableComponent::MiddleHeaderIntersections, glyphs.rule);
        table.set_content_arrangement(arrangement);
        // Whether there is a terminal is for the caller to say.
        table.force_no_tty();
        if color == Color::On {
            table.enforce_styling();
            table.style_text_only();
        }
        table.set_header(
            self.columns
                .iter()
                .map(|column| Cell::new(&column.title).add_attribute(Attribute::Bold)),
        );
        for row in &self.rows {
            table.add_row(row.iter().map(Entry::cell));
        }
        for (column, arranged) in self.columns.iter().zip(table.column_iter_mut()) {
            let is_last = arranged.index + 1 == self.columns.len();
            arranged.set_padding((0, if is_last { 0 } else { PADDING }));
            arranged.set_cell_alignment(match column.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        table
    }
}

impl Entry {
    fn cell(&self) -> Cell {
        let cell = Cell::new(&self.text);
        match self.attribute {
            Some(attribute) => cell.add_attribute(attribute),
            None => cell,
        }
    }
}

//! A table without borders, a rule under its head.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, TableComponent};
use unicode_width::UnicodeWidthStr;

use super::super::glyphs::Glyphs;
use super::{Color, Console, wrap};

/// Spaces after every column but the last. The layout adds one more in place of a border.
const PADDING: u16 = 1;

/// The least width of the first column, however narrow the page is.
const LEAST_NAME: usize = 16;

/// The alignment of a column.
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
    /// Titles of the columns to leave out first.
    least: &'static [&'static str],
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
            least: &[],
        }
    }

    /// Sets the columns to leave out before others, in this order.
    pub(super) fn dropping(self, least: &'static [&'static str]) -> Self {
        Self { least, ..self }
    }

    pub(super) fn push(&mut self, entries: Vec<Entry>) {
        self.rows.push(entries);
    }

    /// The width of the whole table.
    pub(super) fn natural_width(&self) -> usize {
        self.width_of(&self.all())
    }

    /// Splits the columns into groups that fit into `width`, each with the first column, which names the row. `None` if any
    /// other column is too wide beside it.
    pub(super) fn folded(&self, width: usize) -> Option<Vec<Vec<usize>>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for column in 1..self.columns.len() {
            let grown = groups
                .last()
                .map(|last| [last.as_slice(), &[column]].concat());
            match grown.filter(|group| self.width_of(group) <= width) {
                Some(group) => *groups.last_mut()? = group,
                None if self.width_of(&[0, column]) <= width => groups.push(vec![0, column]),
                None => return None,
            }
        }
        Some(groups)
    }

    /// Writes as many columns as fit, and returns the titles of the others. No cell is wrapped; the names of rows are cut if
    /// they are too long.
    pub(super) fn write(
        &self,
        out: impl Write,
        console: Console,
        glyphs: &Glyphs,
    ) -> io::Result<Vec<&str>> {
        let width = usize::from(console.width);
        let mut shown = self.all();
        let is_least = |column: &usize, title: &str| self.columns[*column].title == title;
        for title in self.least {
            if self.width_of(&shown) > width {
                shown.retain(|column| !is_least(column, title));
            }
        }
        while shown.len() > 2 && self.width_with_cut_names(&shown) > width {
            shown.pop();
        }
        self.write_columns(&shown, out, console, glyphs)?;
        let left_out = self.all().into_iter().filter(|it| !shown.contains(it));
        Ok(left_out
            .map(|column| self.columns[column].title.as_str())
            .collect())
    }

    /// Writes these columns, with the names of rows cut as far as needed.
    pub(super) fn write_columns(
        &self,
        shown: &[usize],
        mut out: impl Write,
        console: Console,
        glyphs: &Glyphs,
    ) -> io::Result<()> {
        let excess = self
            .width_of(shown)
            .saturating_sub(usize::from(console.width));
        let names = self.names().saturating_sub(excess).max(LEAST_NAME);
        let names = (excess > 0).then_some((names, glyphs.ellipsis));
        for line in self.arrange(shown, names, console.color, glyphs).lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The width of the names of rows.
    fn names(&self) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.first());
        let titles = self.columns.first().map(|column| column.title.width());
        let widest = cells.map(|entry| entry.text.width()).max();
        widest.max(titles).unwrap_or(0)
    }

    fn width_with_cut_names(&self, shown: &[usize]) -> usize {
        let names = self.names();
        self.width_of(shown).saturating_sub(names) + names.min(LEAST_NAME)
    }

    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// The width of these columns as [`arrange`](Self::arrange) lays them out, without laying them out: a table may have thousands of
    /// rows.
    fn width_of(&self, shown: &[usize]) -> usize {
        let widest = |column: &usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(*column));
            let lines = cells.flat_map(|entry| entry.text.lines());
            let cells = lines.map(UnicodeWidthStr::width).max().unwrap_or(0);
            cells.max(self.columns[*column].title.width())
        };
        let columns: usize = shown.iter().map(widest).sum();
        let gaps = shown.len().saturating_sub(1) * (usize::from(PADDING) + 1);
        columns + gaps
    }

    /// Lays the columns out. `names` holds the width that names of rows are cut to, and the mark of a cut.
    fn arrange(
        &self,
        shown: &[usize],
        names: Option<(usize, &str)>,
        color: Color,
        glyphs: &Glyphs,
    ) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, glyphs.rule);
        table.set_style(TableComponent::MiddleHeaderIntersections, glyphs.rule);
        table.set_content_arrangement(ContentArrangement::Disabled);
        // The caller decides whether the output is a terminal.
        table.force_no_tty();
        if color == Color::On {
            table.enforce_styling();
            table.style_text_only();
        }
        let columns = || shown.iter().map(|column| &self.columns[*column]);
        table.set_header(columns().map(|it| Cell::new(&it.title).add_attribute(Attribute::Bold)));
        for row in &self.rows {
            let entries = shown
                .iter()
                .filter_map(|column| Some((column, row.get(*column)?)));
            table.add_row(entries.map(|(column, entry)| match names {
                Some((width, mark)) if *column == 0 => entry.cut(width, mark).cell(),
                _ => entry.cell(),
            }));
        }
        for (column, arranged) in columns().zip(table.column_iter_mut()) {
            let is_last = arranged.index + 1 == shown.len();
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
    fn cut(&self, width: usize, mark: &str) -> Self {
        Self {
            text: wrap::cut(&self.text, width, mark),
            attribute: self.attribute,
        }
    }

    fn cell(&self) -> Cell {
        let cell = Cell::new(&self.text);
        match self.attribute {
            Some(attribute) => cell.add_attribute(attribute),
            None => cell,
        }
    }
}

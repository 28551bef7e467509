//! A table without borders, a rule under its head.

use std::borrow::Cow;
use std::io::{self, Write};
use std::iter;

use super::super::glyphs::Glyphs;
use super::paint::{Paint, Style};
use super::wrap::columns;
use super::{Console, wrap};

/// Spaces between two columns.
const GAP: usize = 2;

/// Between the titles of columns that are left out together.
const AND: &str = " and ";

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
pub(super) struct ConsoleColumn {
    title: String,
    align: Align,
    /// The width of the widest line, of the title or of a cell.
    width: usize,
}

/// The text of a cell.
#[derive(Debug)]
pub(super) struct ConsoleCell {
    text: String,
    style: Style,
}

/// Columns and rows, not yet laid out.
#[derive(Debug)]
pub(super) struct ConsoleTable {
    columns: Vec<ConsoleColumn>,
    rows: Vec<Vec<ConsoleCell>>,
    /// Titles of the columns to leave out first.
    least: Vec<String>,
    /// What the table would have on a wider page.
    without: Option<String>,
}

/// The line about columns that a page has no room for. It says how to see them.
pub fn no_room(titles: &[&str]) -> String {
    format!(
        "no room for {}; widen the terminal or set COLUMNS",
        titles.join(", ")
    )
}

impl ConsoleColumn {
    pub(super) fn new(title: impl Into<String>, align: Align) -> Self {
        let title = title.into();
        Self {
            width: columns(&title),
            title,
            align,
        }
    }
}

impl ConsoleCell {
    pub(super) fn plain(text: String) -> Self {
        Self {
            text,
            style: Style::Plain,
        }
    }

    pub(super) fn bold(text: String) -> Self {
        Self {
            text,
            style: Style::Bold,
        }
    }

    pub(super) fn dim(text: String) -> Self {
        Self {
            text,
            style: Style::Dim,
        }
    }
}

impl ConsoleTable {
    pub(super) fn new(columns: Vec<ConsoleColumn>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            least: Vec::new(),
            without: None,
        }
    }

    /// Names what was left out before the table was laid out.
    pub(super) fn without(self, title: String) -> Self {
        Self {
            without: Some(title),
            ..self
        }
    }

    /// Sets the columns to leave out before others, in this order. Two that say nothing alone are joined by [`AND`].
    pub(super) fn dropping<T: Into<String>>(self, least: impl IntoIterator<Item = T>) -> Self {
        Self {
            least: least.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    pub(super) fn push(&mut self, entries: Vec<ConsoleCell>) {
        for (column, entry) in self.columns.iter_mut().zip(&entries) {
            column.width = column.width.max(widest_line(&entry.text));
        }
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
        for title in &self.least {
            if self.width_of(&shown) > width {
                let is_named =
                    |column: usize| title.split(AND).any(|it| it == self.columns[column].title);
                shown.retain(|column| !is_named(*column));
            }
        }
        while shown.len() > 2 && self.width_with_cut_names(&shown) > width {
            shown.pop();
        }
        self.write_columns(&shown, out, console, glyphs)?;
        let left_out = self.all().into_iter().filter(|it| !shown.contains(it));
        let left_out = left_out.map(|column| self.columns[column].title.as_str());
        Ok(self
            .without
            .as_deref()
            .into_iter()
            .chain(left_out)
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
        let layout = Layout {
            columns: self.layout(shown, names),
            paint: Paint::new(console.color),
        };
        let titles = shown.iter().map(|column| {
            let title = self.columns[*column].title.as_str();
            (Cow::Borrowed(title), Style::Bold)
        });
        layout.write_row(&mut out, &titles.collect::<Vec<_>>())?;
        let rule = iter::repeat_n(glyphs.rule, layout.width());
        writeln!(out, "{}", rule.collect::<String>())?;
        for row in &self.rows {
            let entries = shown
                .iter()
                .filter_map(|column| Some((column, row.get(*column)?)));
            let cells = entries.map(|(column, entry)| {
                let names = names.filter(|_| *column == 0);
                (entry.text_within(names), entry.style)
            });
            layout.write_row(&mut out, &cells.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// The width of the names of rows.
    fn names(&self) -> usize {
        self.columns.first().map_or(0, |column| column.width)
    }

    fn width_with_cut_names(&self, shown: &[usize]) -> usize {
        let names = self.names();
        self.width_of(shown).saturating_sub(names) + names.min(LEAST_NAME)
    }

    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// The width of these columns side by side.
    fn width_of(&self, shown: &[usize]) -> usize {
        let columns = shown.iter().map(|column| self.columns[*column].width);
        columns.sum::<usize>() + shown.len().saturating_sub(1) * GAP
    }

    /// How each shown column is laid out. `names` holds the width that names of rows are cut to, and the mark of a cut.
    fn layout(&self, shown: &[usize], names: Option<(usize, &str)>) -> Vec<(Align, usize)> {
        let width = |index: usize, column: &ConsoleColumn| {
            if index > 0 || names.is_none() {
                return column.width;
            }
            let cells = self.rows.iter().filter_map(|row| row.first());
            let widths = cells.map(|entry| widest_line(&entry.text_within(names)));
            widths.fold(columns(&column.title), usize::max)
        };
        let shown = shown.iter().map(|index| {
            let column = &self.columns[*index];
            // A column without any text has a rule of one character.
            (column.align, width(*index, column).max(1))
        });
        shown.collect()
    }
}

impl ConsoleCell {
    /// The text, cut to a width and marked if there is a limit.
    fn text_within(&self, limit: Option<(usize, &str)>) -> Cow<'_, str> {
        match limit {
            Some((width, mark)) => Cow::Owned(wrap::cut(&self.text, width, mark)),
            None => Cow::Borrowed(&self.text),
        }
    }
}

/// The alignment and width of each column.
struct Layout {
    columns: Vec<(Align, usize)>,
    paint: Paint,
}

impl Layout {
    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(|(_, width)| width).sum();
        columns + self.columns.len().saturating_sub(1) * GAP
    }

    /// Writes a row, over as many lines as its cell with the most lines.
    fn write_row(&self, mut out: impl Write, cells: &[(Cow<'_, str>, Style)]) -> io::Result<()> {
        let lines = cells.iter().map(|(text, _)| text.split('\n').count());
        let mut line = String::new();
        for number in 0..lines.max().unwrap_or(1) {
            line.clear();
            for (column, (text, style)) in cells.iter().enumerate() {
                let text = text.split('\n').nth(number);
                let painted = text.map(|text| self.paint.apply(*style, text));
                let (align, width) = self.columns[column];
                let space = width.saturating_sub(text.map_or(0, columns));
                let (before, after) = match align {
                    Align::Left => (0, space),
                    Align::Right => (space, 0),
                };
                let gap = if column > 0 { GAP } else { 0 };
                line.extend(iter::repeat_n(' ', gap + before));
                line.push_str(&painted.unwrap_or_default());
                line.extend(iter::repeat_n(' ', after));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn widest_line(text: &str) -> usize {
    text.split('\n').map(columns).max().unwrap_or(0)
}

//! A table without borders, a rule under its head.

use std::borrow::Cow;
use std::io::{self, Write};
use std::iter;

use super::super::glyphs::Glyphs;
use super::super::grid::{AND, Align, ColumnHead, Grid, Style};
use super::wrap::columns;
use super::{Color, Console, shorten};

/// Spaces between two columns.
const GAP: usize = 2;

/// The width that labels are not shortened below, however narrow the page is.
const LEAST_LABEL: usize = 16;

/// The width that labels with a remark in brackets are not shortened below: that of most names of measures.
const LEAST_NAME: usize = 24;

/// The head of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Bold, with a rule below it. The first column has labels.
    Ruled,
    /// Like the other rows.
    Plain,
}

/// A table with the width of each column: that of its widest line, in the title or in a cell.
#[derive(Debug)]
pub(super) struct ConsoleTable<'g> {
    grid: &'g Grid,
    widths: Vec<usize>,
    look: Look,
}

/// The line about columns that a page has no room for. It says how to see them.
pub(super) fn no_room(titles: &[&str]) -> String {
    format!(
        "no room for {}; widen the terminal or set COLUMNS",
        titles.join(", ")
    )
}

impl<'g> ConsoleTable<'g> {
    pub(super) fn new(grid: &'g Grid, look: Look) -> Self {
        let titles = grid.columns.iter().map(|column| columns(&column.title));
        let mut widths: Vec<usize> = titles.collect();
        for row in &grid.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = widest_line(&cell.text).max(*width);
            }
        }
        Self { grid, widths, look }
    }

    /// The width of the whole table.
    pub(super) fn natural_width(&self) -> usize {
        side_by_side(self.widths.iter().copied())
    }

    /// Splits the columns into groups that fit into `width`, each with the first column, which names the row; the names are shortened if they
    /// have to be. `None` if any other column is too wide beside them.
    pub(super) fn folded(&self, width: usize, mark: &str) -> Option<Vec<Vec<usize>>> {
        let mut widths = self.widths.clone();
        let whole = folded(&widths, width);
        whole.or_else(|| {
            *widths.first_mut()? = *self.least_widths(mark).first()?;
            folded(&widths, width)
        })
    }

    /// Writes as many columns as fit with their labels shortened, and returns the titles of the others. No cell is wrapped, and no number is
    /// cut.
    pub(super) fn write(
        &self,
        out: impl Write,
        console: Console,
        glyphs: &Glyphs,
    ) -> io::Result<Vec<&str>> {
        let shown = self.fitting(usize::from(console.width), glyphs.ellipsis);
        self.write_columns(&shown, out, console, glyphs)?;
        let left_out = (0..self.grid.columns.len()).filter(|it| !shown.contains(it));
        let left_out = left_out.map(|column| self.grid.columns[column].title.as_str());
        Ok(left_out.collect())
    }

    /// The columns that fit. Where a column makes room for less important ones that went before it, they come back.
    fn fitting(&self, width: usize, mark: &str) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.grid.columns.len()).collect();
        if self.natural_width() <= width {
            return shown;
        }
        let widths = self.least_widths(mark);
        let fits = |shown: &[usize]| side_by_side(shown.iter().map(|it| widths[*it])) <= width;
        let mut dropped: Vec<Vec<usize>> = Vec::new();
        let mut least = self.grid.least.iter();
        while !fits(&shown) {
            let named = |title: &String| {
                let is_named = |column: &usize| {
                    title
                        .split(AND)
                        .any(|it| it == self.grid.columns[*column].title)
                };
                let columns: Vec<usize> = shown.iter().copied().filter(is_named).collect();
                (!columns.is_empty()).then_some(columns)
            };
            let Some(next) = least
                .find_map(named)
                .or_else(|| (shown.len() > 2).then(|| shown[shown.len() - 1..].to_vec()))
            else {
                break;
            };
            shown.retain(|column| !next.contains(column));
            dropped.push(next);
        }
        for columns in dropped.into_iter().rev() {
            let mut more = [shown.clone(), columns].concat();
            more.sort_unstable();
            if fits(&more) {
                shown = more;
            }
        }
        shown
    }

    /// Writes these columns, with labels shortened as far as needed, the widest first.
    pub(super) fn write_columns(
        &self,
        shown: &[usize],
        mut out: impl Write,
        console: Console,
        glyphs: &Glyphs,
    ) -> io::Result<()> {
        let mark = glyphs.ellipsis;
        let widths = self.widths_within(shown, usize::from(console.width), mark);
        let texts = shown.iter().zip(widths);
        let texts = texts.map(|(column, width)| (*column, self.texts(*column, width, mark)));
        let texts: Vec<(usize, Vec<Cow<'_, str>>)> = texts.collect();
        let layout = texts.iter().map(|(column, texts)| {
            let ColumnHead { title, align } = &self.grid.columns[*column];
            let cells = texts.iter().map(|it| widest_line(it));
            // A column without any text has a rule of one character.
            (*align, cells.fold(columns(title).max(1), usize::max))
        });
        let layout = Layout {
            columns: layout.collect(),
            color: console.color,
        };
        let style = match self.look {
            Look::Ruled => Style::Bold,
            Look::Plain => Style::Plain,
        };
        let titles = shown
            .iter()
            .map(|column| (self.grid.columns[*column].title.as_str(), style));
        layout.write_row(&mut out, &titles.collect::<Vec<_>>())?;
        if self.look == Look::Ruled {
            let rule = iter::repeat_n(glyphs.rule, layout.width());
            writeln!(out, "{}", rule.collect::<String>())?;
        }
        for (place, row) in self.grid.rows.iter().enumerate() {
            let cells = texts
                .iter()
                .filter_map(|(column, texts)| Some((&*texts[place], row.get(*column)?.style)));
            layout.write_row(&mut out, &cells.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// The texts of a column's cells, shortened if they are wider than `width`.
    fn texts(&self, column: usize, width: usize, mark: &str) -> Vec<Cow<'_, str>> {
        let texts = self.grid.rows.iter();
        let texts: Vec<&str> = texts
            .map(|row| row.get(column).map_or("", |it| it.text.as_str()))
            .collect();
        if width >= self.widths[column] {
            return texts.into_iter().map(Cow::Borrowed).collect();
        }
        let shortened = shorten::shortened(&texts, width, mark);
        shortened.into_iter().map(Cow::Owned).collect()
    }

    /// The widths at which these columns fit, or the least ones.
    fn widths_within(&self, shown: &[usize], width: usize, mark: &str) -> Vec<usize> {
        let mut wanted: Vec<usize> = shown.iter().map(|it| self.widths[*it]).collect();
        if side_by_side(wanted.iter().copied()) > width {
            let least = self.least_widths(mark);
            let limited = |limit: usize| {
                let columns = shown.iter().zip(&wanted);
                let columns = columns.map(|(it, natural)| limit.max(least[*it]).min(*natural));
                columns.collect::<Vec<_>>()
            };
            let mut limits = (0..width).rev().map(limited);
            let fitting = limits.find(|widths| side_by_side(widths.iter().copied()) <= width);
            wanted = fitting.unwrap_or_else(|| limited(0));
        }
        wanted
    }

    /// How narrow each column can be. Only labels may be shortened, and only as far as they stay distinct.
    fn least_widths(&self, mark: &str) -> Vec<usize> {
        let least = |(place, column): (usize, &ColumnHead)| {
            let is_name = place == 0 && self.look == Look::Ruled;
            let width = self.widths[place];
            if width <= LEAST_LABEL || !(is_name || column.align == Align::Label) {
                return width;
            }
            let texts = self.texts(place, width, mark);
            let texts: Vec<&str> = texts.iter().map(|it| &**it).collect();
            let name = shorten::width_without_ends(&texts, LEAST_NAME, mark);
            shorten::least_width(&texts, name.max(LEAST_LABEL), mark).max(columns(&column.title))
        };
        self.grid.columns.iter().enumerate().map(least).collect()
    }
}

/// Groups of columns of these widths, each with the first.
fn folded(widths: &[usize], width: usize) -> Option<Vec<Vec<usize>>> {
    let fits = |group: &[usize]| side_by_side(group.iter().map(|it| widths[*it])) <= width;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for column in 1..widths.len() {
        let grown = groups
            .last()
            .map(|last| [last.as_slice(), &[column]].concat());
        match grown.filter(|group| fits(group)) {
            Some(group) => *groups.last_mut()? = group,
            None if fits(&[0, column]) => groups.push(vec![0, column]),
            None => return None,
        }
    }
    Some(groups)
}

/// The width of columns of these widths.
fn side_by_side(widths: impl Iterator<Item = usize>) -> usize {
    let with_gaps: usize = widths.map(|width| width + GAP).sum();
    with_gaps.saturating_sub(GAP)
}

/// The alignment and width of each column.
struct Layout {
    columns: Vec<(Align, usize)>,
    color: Color,
}

impl Layout {
    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(|(_, width)| width).sum();
        columns + self.columns.len().saturating_sub(1) * GAP
    }

    /// Writes a row, over as many lines as its cell with the most lines.
    fn write_row(&self, mut out: impl Write, cells: &[(&str, Style)]) -> io::Result<()> {
        let lines = cells.iter().map(|(text, _)| text.split('\n').count());
        let mut line = String::new();
        for number in 0..lines.max().unwrap_or(1) {
            line.clear();
            for (column, (text, style)) in cells.iter().enumerate() {
                let text = text.split('\n').nth(number);
                let painted = text.map(|text| self.color.paint(*style, text));
                let (align, width) = self.columns[column];
                let space = width.saturating_sub(text.map_or(0, columns));
                let (before, after) = match align {
                    Align::Label | Align::Left | Align::Drawing => (0, space),
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

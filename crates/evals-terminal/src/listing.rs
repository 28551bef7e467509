//! Listings: plain tables that fit the terminal.

use std::iter;
use std::path::PathBuf;

use evals::render::tables::Table;
use evals::render::{Console, Names};
use evals_messages::visible;

use crate::link;
use crate::printer::Printer;
use crate::reports::{text, unlimited};

/// Renders rows under a header without lines or wrapping, so that columns are easy to read, to copy and to process. On a terminal, texts are
/// shortened to fit, and a line below names the columns that do not fit even so.
pub fn render(printer: &Printer, header: &[&str], rows: &[Vec<String>]) -> String {
    Layout::of(printer).render(header, rows)
}

/// The layout of a listing on stdout.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'t> {
    console: Console,
    /// Titles of the columns to leave out first, in that order.
    least: &'t [&'t str],
    names: Names,
}

impl<'t> Layout<'t> {
    /// The layout for the stdout of a printer.
    pub fn of(printer: &Printer) -> Self {
        Self {
            console: unlimited(printer),
            least: &[],
            names: Names::Whole,
        }
    }

    /// Leaves out the columns with these titles before others, in that order.
    pub fn dropping(self, least: &'t [&'t str]) -> Self {
        Self { least, ..self }
    }

    /// Shortens the first column as well, which nobody copies into a command.
    pub fn shortening_names(self) -> Self {
        Self {
            names: Names::Shortened,
            ..self
        }
    }

    /// Renders the listing, with no line longer than the limit.
    pub fn render(&self, titles: &[&str], rows: &[Vec<String>]) -> String {
        let table = Table {
            heads: titles.iter().map(ToString::to_string).collect(),
            rows: rows.to_vec(),
            notes: Vec::new(),
        };
        text(|out| self.console.listing(out, &table, self.least, self.names))
            .expect("a buffer takes any text")
    }

    /// The same, with the whole first cell of each row linked to a file, if there is one for the row.
    pub fn render_linked(
        &self,
        titles: &[&str],
        rows: &[Vec<String>],
        files: &[Option<PathBuf>],
    ) -> String {
        let text = self.render(titles, rows);
        let cells = rows.iter().zip(files);
        let cells = cells.map(|(row, file)| Some((visible::line(row.first()?), file.as_ref()?)));
        let cells = iter::once(None).chain(cells).chain(iter::repeat(None));
        text.lines()
            .zip(cells)
            .map(|(line, cell)| {
                let linked = cell.and_then(|(name, file)| {
                    Some(link::to_file(&name, file) + line.strip_prefix(&name)?)
                });
                linked.unwrap_or_else(|| line.to_owned()) + "\n"
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(ToString::to_string).collect()
    }

    fn layout<'t>(width: u16, least: &'t [&'t str]) -> Layout<'t> {
        Layout {
            console: Console {
                width,
                ..Console::default()
            },
            least,
            names: Names::Whole,
        }
    }

    fn listing(width: u16, least: &[&str]) -> String {
        let rows = [row(&["a-long-name", "320", "a description of some length"])];
        layout(width, least).render(&["name", "questions", "description"], &rows)
    }

    #[test]
    fn only_the_first_cell_of_a_row_with_a_file_is_linked() {
        let rows = [row(&["one", "done"]), row(&["second", "done"])];
        let files = [Some(PathBuf::from("/runs/one/report.html")), None];
        assert_eq!(
            layout(80, &[]).render_linked(&["run", "state"], &rows, &files),
            "RUN     STATE\n\x1b]8;;file:///runs/one/report.html\x1b\\one\x1b]8;;\x1b\\     done\nsecond  done\n"
        );
    }

    #[test]
    fn a_narrow_terminal_shortens_texts_before_it_leaves_columns_out() {
        assert_eq!(
            listing(52, &["questions"]),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a description of some length\n"
        );
        assert_eq!(
            listing(42, &["questions"]),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a description of…\n"
        );
        assert_eq!(
            listing(30, &["questions"]),
            "NAME         DESCRIPTION\na-long-name  a description of…\n\
             no room for QUESTIONS; widen\n  the terminal or set COLUMNS\n"
        );
    }

    #[test]
    fn what_one_column_needs_makes_room_for_others() {
        let rows = [row(&["a-name", "12 of 34", "a-dataset", "0.5", "done"])];
        let shown = layout(30, &["count", "dataset", "kind"])
            .render(&["run", "kind", "dataset", "count", "state"], &rows);
        assert!(
            shown.starts_with("RUN     KIND      COUNT  STATE\n"),
            "{shown}"
        );
    }

    #[test]
    fn a_cell_cannot_steer_the_terminal() {
        let rows = [row(&["\u{1b}[2Jx\ny", "z"])];
        assert_eq!(
            layout(80, &[]).render(&["a", "b"], &rows),
            "A              B\n\\u{1b}[2Jx\\ny  z\n"
        );
    }
}

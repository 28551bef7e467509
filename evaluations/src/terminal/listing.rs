//! Listings: plain tables that fit the terminal.

use std::fmt::Write as _;
use std::path::PathBuf;

use console::{Alignment, measure_text_width, pad_str};
use evals::render::no_room;
use evals_messages::visible;

use super::link;
use super::printer::Printer;

/// Blanks between columns.
const GAP: usize = 2;

/// The least width of the last column, unless its cells are narrower.
const LEAST_OF_LAST: usize = 10;

/// Renders rows under a header without lines or wrapping, so that columns are easy to read, to copy and to process. On a terminal
/// the last column is truncated to fit, and a line below names the columns that do not fit.
pub(crate) fn render(printer: &Printer, header: &[&str], rows: &[Vec<String>]) -> String {
    Layout::of(printer).render(header, rows)
}

/// The layout of a listing on stdout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'t> {
    /// The width of the terminal; `None` allows lines of any length.
    limit: Option<usize>,
    /// The mark at the end of a truncated cell.
    mark: &'static str,
    /// Titles of the columns to leave out first, in that order.
    least: &'t [&'t str],
}

impl<'t> Layout<'t> {
    pub(crate) fn of(printer: &Printer) -> Self {
        let stdout = printer.stdout();
        Self {
            limit: stdout.limit.map(usize::from),
            mark: if stdout.unicode { "…" } else { "..." },
            least: &[],
        }
    }

    /// Leaves out the columns with these titles before others, in that order.
    pub(crate) fn dropping(self, least: &'t [&'t str]) -> Self {
        Self { least, ..self }
    }

    /// Whether the width is limited.
    pub(crate) fn is_narrow(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether all columns have room for their whole cells.
    pub(crate) fn has_room(&self, titles: &[&str], rows: &[Vec<String>]) -> bool {
        let widths = widths(titles, rows);
        let gaps = widths.len().saturating_sub(1) * GAP;
        let natural = widths.iter().sum::<usize>() + gaps;
        self.limit.is_none_or(|limit| natural <= limit)
    }

    /// Renders the listing, with no line longer than the limit.
    pub(crate) fn render(&self, titles: &[&str], rows: &[Vec<String>]) -> String {
        self.render_linked(titles, rows, &[])
    }

    /// The same, with the first cell of each row linked to a file, if there is one for the row.
    pub(crate) fn render_linked(
        &self,
        titles: &[&str],
        rows: &[Vec<String>],
        files: &[Option<PathBuf>],
    ) -> String {
        let header: Vec<String> = titles.iter().map(|name| name.to_uppercase()).collect();
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|it| visible::line(it)).collect())
            .collect();
        let widths = widths(titles, &rows);
        let shown = self.fitting(titles, &widths);
        let pick = |row: &[String]| -> Vec<String> {
            let cells = shown.iter().filter_map(|column| row.get(*column));
            cells.cloned().collect()
        };
        let shown_widths: Vec<usize> = shown.iter().map(|column| widths[*column]).collect();
        let files = std::iter::once(None).chain(files.iter().map(Option::as_ref));
        let files = files.chain(std::iter::repeat(None));
        let mut text: String = std::iter::once(&header)
            .chain(&rows)
            .zip(files)
            .map(|(row, file)| {
                let line = line(&pick(row), &shown_widths, self.limit, self.mark);
                linked(line, row.first().map_or("", String::as_str), file) + "\n"
            })
            .collect();
        let left_out: Vec<&str> = (0..header.len())
            .filter(|column| !shown.contains(column))
            .map(|column| header[column].as_str())
            .collect();
        if !left_out.is_empty() {
            let line = no_room(&left_out);
            let fits = self.limit.is_none_or(|limit| line.len() <= limit);
            let line = if fits {
                line
            } else {
                line.replacen("; ", "\n", 1)
            };
            writeln!(text, "{line}").expect("a string takes any text");
        }
        text
    }

    /// The columns that fit. The first is always shown. The last may be truncated, but not its title.
    fn fitting(&self, titles: &[&str], widths: &[usize]) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..titles.len()).collect();
        let Some(limit) = self.limit else {
            return shown;
        };
        let mut least = self.least.iter();
        while shown.len() > 1 && least_width(&shown, titles, widths) > limit {
            let place = least.find_map(|title| {
                let column = titles.iter().position(|other| other == title)?;
                shown.iter().skip(1).position(|it| *it == column)
            });
            shown.remove(place.map_or(shown.len() - 1, |place| place + 1));
        }
        shown
    }
}

/// The line with the cell that it begins with linked to a file.
fn linked(line: String, first: &str, file: Option<&PathBuf>) -> String {
    match (file, line.strip_prefix(first)) {
        (Some(file), Some(rest)) => link::to_file(first, file) + rest,
        _ => line,
    }
}

/// The width of each column.
fn widths(titles: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |(column, title): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.map(|cell| measure_text_width(cell));
        cells.fold(measure_text_width(title), usize::max)
    };
    titles.iter().enumerate().map(width).collect()
}

/// The width of some columns with the last one truncated to its least width.
fn least_width(shown: &[usize], titles: &[&str], widths: &[usize]) -> usize {
    let Some((last, others)) = shown.split_last() else {
        return 0;
    };
    let others: usize = others.iter().map(|column| widths[*column] + GAP).sum();
    others + widths[*last].min(measure_text_width(titles[*last]).max(LEAST_OF_LAST))
}

fn line(row: &[String], widths: &[usize], limit: Option<usize>, mark: &str) -> String {
    let Some((last, first)) = row.split_last() else {
        return String::new();
    };
    let mut line = String::new();
    for (cell, width) in first.iter().zip(widths) {
        let padded = pad_str(cell, width + GAP, Alignment::Left, None);
        write!(line, "{padded}").expect("a string takes any text");
    }
    match limit {
        // The first column is never truncated, so that it can be copied.
        Some(limit) if !first.is_empty() => {
            let room = limit.saturating_sub(measure_text_width(&line));
            line.push_str(&console::truncate_str(last, room, mark));
        }
        _ => line.push_str(last),
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn columns_align_by_display_width() {
        assert_eq!(
            line(&row(&["日本", "x", "end"]), &[6, 1, 3], None, "…"),
            "日本    x  end"
        );
        // An accent of its own takes no column.
        assert_eq!(
            line(
                &row(&["e\u{301}te\u{301}", "x", "end"]),
                &[3, 1, 3],
                None,
                "…"
            ),
            "e\u{301}te\u{301}  x  end"
        );
    }

    fn listing(limit: usize, least: &[&str]) -> String {
        let rows = [row(&["a-long-name", "320", "a description of some length"])];
        let layout = Layout {
            limit: Some(limit),
            mark: "…",
            least,
        };
        layout.render(&["name", "questions", "description"], &rows)
    }

    #[test]
    fn only_the_first_cell_of_a_row_with_a_file_is_linked() {
        let layout = Layout {
            limit: None,
            mark: "…",
            least: &[],
        };
        let rows = [row(&["one", "done"]), row(&["second", "done"])];
        let files = [Some(PathBuf::from("/runs/one/report.html")), None];
        assert_eq!(
            layout.render_linked(&["run", "state"], &rows, &files),
            "RUN     STATE\n\x1b]8;;file:///runs/one/report.html\x1b\\one\x1b]8;;\x1b\\     done\nsecond  done\n"
        );
    }

    #[test]
    fn there_is_room_for_whole_cells_only() {
        let rows = [row(&["日本", "finished"])];
        let has_room = |limit| {
            let layout = Layout {
                limit: Some(limit),
                mark: "…",
                least: &[],
            };
            layout.has_room(&["run", "state"], &rows)
        };
        assert!(has_room(14) && !has_room(13));
    }

    #[test]
    fn a_narrow_terminal_truncates_the_last_column() {
        assert_eq!(
            listing(52, &[]),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a description of some length\n"
        );
        assert_eq!(
            listing(35, &[]),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a descript…\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        assert_eq!(
            listing(34, &[]),
            "NAME         QUESTIONS\na-long-name  320\n\
             no room for DESCRIPTION\nwiden the terminal or set COLUMNS\n"
        );
        assert_eq!(
            listing(5, &[]),
            "NAME\na-long-name\n\
             no room for QUESTIONS, DESCRIPTION\nwiden the terminal or set COLUMNS\n"
        );
    }

    #[test]
    fn less_important_columns_are_left_out_first() {
        assert_eq!(
            listing(41, &["questions"]),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a description of…\n"
        );
        assert_eq!(
            listing(30, &["questions"]),
            "NAME         DESCRIPTION\na-long-name  a description of…\n\
             no room for QUESTIONS\nwiden the terminal or set COLUMNS\n"
        );
    }

    #[test]
    fn a_cell_cannot_steer_the_terminal() {
        let rows = [row(&["\u{1b}[2Jx\ny", "z"])];
        let layout = Layout {
            limit: None,
            mark: "…",
            least: &[],
        };
        assert_eq!(
            layout.render(&["a", "b"], &rows),
            "A              B\n\\u{1b}[2Jx\\ny  z\n"
        );
    }
}

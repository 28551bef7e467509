//! Plain listings.

use std::fmt::Write as _;

use console::{Alignment, measure_text_width, pad_str};
use evals::render::visible;

use crate::printer::Printer;

/// Blanks between columns.
const GAP: usize = 2;

/// Renders rows under a header, without lines and without wrapping, so that the columns are easy to read, to copy and to
/// cut. On a terminal the last column ends where the terminal does, and columns that do not fit are named below.
pub(crate) fn render(printer: &Printer, header: &[&str], rows: &[Vec<String>]) -> String {
    let stdout = printer.stdout();
    let limit = stdout.is_terminal.then_some(usize::from(stdout.width));
    let mark = if stdout.unicode { "…" } else { "..." };
    // Names and descriptions come from files; a cell is a part of one line.
    let cell = |cell: &String| visible(cell).replace(['\n', '\t'], " ");
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    text(header, &rows, limit, mark)
}

/// The listing in lines of at most `limit` columns, `mark` being where a text is cut.
fn text(header: &[&str], rows: &[Vec<String>], limit: Option<usize>, mark: &str) -> String {
    let header: Vec<String> = header.iter().map(|name| name.to_uppercase()).collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let cells = cells.chain(header.get(column));
            cells
                .map(|cell| measure_text_width(cell))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let shown = fitting(&header, &widths, limit.unwrap_or(usize::MAX));
    let (_, left_out) = header.split_at(shown);
    let mut text: String = std::iter::once(&header)
        .chain(rows)
        .map(|row| line(&row[..shown.min(row.len())], &widths, limit, mark) + "\n")
        .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        writeln!(
            text,
            "no room for {left_out}: widen the terminal, or print into a file"
        )
        .expect("a string takes any text");
    }
    text
}

/// How many columns fit. The first is always shown; the last may be cut, though not its title.
fn fitting(header: &[String], widths: &[usize], limit: usize) -> usize {
    let last = widths.len().saturating_sub(1);
    let mut start = 0;
    let fits = widths.iter().enumerate().take_while(|(column, width)| {
        let least = if *column == last {
            measure_text_width(&header[last])
        } else {
            **width
        };
        let fits = *column == 0 || start + least <= limit;
        start += **width + GAP;
        fits
    });
    fits.count()
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
        // What a row is about is shown whole, so that it can be copied.
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
    fn columns_line_up_by_their_width_on_screen() {
        assert_eq!(
            line(&row(&["日本", "x", "end"]), &[6, 1, 3], None, "…"),
            "日本    x  end"
        );
    }

    fn listing(limit: usize) -> String {
        let rows = [row(&["a-long-name", "320", "a description of some length"])];
        text(
            &["name", "questions", "description"],
            &rows,
            Some(limit),
            "…",
        )
    }

    #[test]
    fn only_the_last_column_gives_way_to_a_narrow_terminal() {
        assert_eq!(
            listing(52),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a description of some length\n"
        );
        assert_eq!(
            listing(35),
            "NAME         QUESTIONS  DESCRIPTION\na-long-name  320        a descript…\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        assert_eq!(
            listing(34),
            "NAME         QUESTIONS\na-long-name  320\n\
             no room for DESCRIPTION: widen the terminal, or print into a file\n"
        );
        assert_eq!(
            listing(5),
            "NAME\na-long-name\n\
             no room for QUESTIONS, DESCRIPTION: widen the terminal, or print into a file\n"
        );
    }
}

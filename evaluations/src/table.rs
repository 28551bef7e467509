//! Plain listings.

use std::fmt::Write as _;

use console::{Alignment, measure_text_width, pad_str};

use crate::printer::Printer;

/// Blanks between columns.
const GAP: usize = 2;

/// Renders rows under a header, without lines and without wrapping, so that the columns are easy to read, to copy and to
/// cut. On a terminal the last column ends where the terminal does.
pub(crate) fn render(printer: &Printer, header: &[&str], rows: &[Vec<String>]) -> String {
    let stdout = printer.stdout();
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
    let limit = stdout.is_terminal.then_some(usize::from(stdout.width));
    let mark = if stdout.unicode { "…" } else { "..." };
    std::iter::once(&header)
        .chain(rows)
        .map(|row| line(row, &widths, limit, mark) + "\n")
        .collect()
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
    let room = limit.map(|limit| limit.saturating_sub(measure_text_width(&line)));
    match room {
        Some(room) if room > mark.len() => line.push_str(&console::truncate_str(last, room, mark)),
        Some(_) => {}
        None => line.push_str(last),
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

    #[test]
    fn only_the_last_column_gives_way_to_a_narrow_terminal() {
        let cells = row(&["a-long-name", "a description of some length"]);
        assert_eq!(
            line(&cells, &[11, 28], Some(26), "…"),
            "a-long-name  a descriptio…"
        );
        assert_eq!(line(&cells, &[11, 28], Some(5), "…"), "a-long-name");
    }
}

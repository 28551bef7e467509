//! Plain listings.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

use crate::printer::Printer;

/// Renders rows under a header, without lines, so that the columns are easy to read and to cut.
pub(crate) fn render(printer: &Printer, header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_preset(NOTHING)
        .set_header(header.iter().map(|name| name.to_uppercase()))
        .add_rows(rows);
    let stdout = printer.stdout();
    if stdout.is_terminal {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(stdout.width);
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect();
    lines.concat()
}

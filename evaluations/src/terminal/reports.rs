//! Renders reports for the terminal.

use std::fmt::Write as _;
use std::io;

use evals::render::tables::Table;
use evals::render::{Color, Console, Drawings, Messages, Symbols};
use evals::{Domain, Report, Summary};
use evals_messages::visible;

use super::listing;
use super::printer::Printer;

/// The renderer for this terminal.
pub(crate) fn console(printer: &Printer) -> Console {
    let stdout = printer.stdout();
    Console {
        width: stdout.width(),
        color: if printer.color() {
            Color::On
        } else {
            Color::Off
        },
        symbols: if stdout.unicode {
            Symbols::Unicode
        } else {
            Symbols::Ascii
        },
        messages: if stdout.is_terminal {
            Messages::Cut
        } else {
            Messages::Whole
        },
        drawings: stdout.drawings,
    }
}

/// The renderer for a page that is drawn again and again on stderr, which has this width.
pub(crate) fn live_console(printer: &Printer, width: u16) -> Console {
    Console {
        width,
        messages: Messages::Cut,
        drawings: Drawings::On,
        ..console(printer)
    }
}

/// Renders one report, for `run` and `runs show`.
pub(crate) fn report_text<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    summary: &Summary,
) -> io::Result<String> {
    text(|out| console(printer).report(out, report, summary))
}

/// Renders a table of texts with its notes.
pub(crate) fn table_text(printer: &Printer, table: &Table) -> String {
    let heads: Vec<&str> = table.heads.iter().map(String::as_str).collect();
    let mut text = listing::render(printer, &heads, &table.rows);
    for note in &table.notes {
        writeln!(text, "note: {}", visible::line(note)).expect("a string takes any text");
    }
    text
}

/// Collects the output of `write` in a string.
pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

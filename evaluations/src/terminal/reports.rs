//! Renders reports for the terminal.

use std::io;

use evals::render::tables::Table;
use evals::render::{Color, Console, Drawings, Messages, Narrow, Symbols};
use evals::{Domain, Report, Summary};

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

/// Renders a table of texts with its notes. Only a terminal limits its width.
pub(crate) fn table_text(printer: &Printer, table: &Table, narrow: Narrow) -> String {
    text(|out| unlimited(printer).table(out, table, narrow)).expect("a buffer takes any text")
}

/// Breaks a text into lines of the terminal's width.
pub(crate) fn wrapped(printer: &Printer, words: &str) -> String {
    text(|out| unlimited(printer).text(out, words)).expect("a buffer takes any text")
}

/// The renderer for this terminal. A pipe or a file has lines of any length.
fn unlimited(printer: &Printer) -> Console {
    Console {
        width: printer.stdout().limit.unwrap_or(u16::MAX),
        ..console(printer)
    }
}

/// Collects the output of `write` in a string.
pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

//! Renders reports for the terminal.

use std::io;

use evals::render::tables::Table;
use evals::render::{Color, Console, Drawings, Messages, Methods, Narrow, Symbols};
use evals::{Domain, Report, Summary};

use crate::meaning;
use crate::printer::Printer;

/// The renderer for this terminal.
pub fn console(printer: &Printer) -> Console {
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
        methods: Methods::Named,
    }
}

/// The renderer for a page that is drawn again and again on stderr, which has this width.
pub fn live_console(printer: &Printer, width: u16) -> Console {
    Console {
        width,
        messages: Messages::Cut,
        drawings: Drawings::On,
        ..console(printer)
    }
}

/// The renderer for the results of a command that ran cases, which says how intervals were computed only with `--verbose`. `runs show` always
/// says it.
pub fn run_console(printer: &Printer) -> Console {
    Console {
        methods: if printer.is_verbose() {
            Methods::Named
        } else {
            Methods::Unnamed
        },
        ..console(printer)
    }
}

/// Renders the report of a command that ran cases, with a line of what it means. `case` is the word for one case.
pub fn run_text<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    summary: &Summary,
    case: &str,
) -> io::Result<String> {
    let console = run_console(printer);
    text(|out| {
        console.report(&mut *out, report, summary)?;
        let Some(meaning) = meaning::of(&report.measure_values(), case) else {
            return Ok(());
        };
        console.text(out, &format!("\n{meaning}"))
    })
}

/// Renders one report, for `runs show`.
pub fn report_text<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    summary: &Summary,
) -> io::Result<String> {
    text(|out| console(printer).report(out, report, summary))
}

/// Renders a table of texts with its notes. Only a terminal limits its width.
pub fn table_text(printer: &Printer, table: &Table, narrow: Narrow) -> String {
    text(|out| unlimited(printer).table(out, table, narrow)).expect("a buffer takes any text")
}

/// Breaks a text into lines of the terminal's width.
pub fn wrapped(printer: &Printer, words: &str) -> String {
    text(|out| unlimited(printer).text(out, words)).expect("a buffer takes any text")
}

/// The renderer for this terminal. A pipe or a file has lines of any length.
pub(super) fn unlimited(printer: &Printer) -> Console {
    Console {
        width: printer.stdout().limit.unwrap_or(u16::MAX),
        ..console(printer)
    }
}

/// Collects the output of `write` in a string.
pub fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

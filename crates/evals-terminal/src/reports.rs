//! Renders reports for the terminal, with a line of what they mean.

use std::io;

use evals::render::tables::Table;
use evals::render::{Color, Console, Drawings, Messages, Methods, Narrow, Symbols};
use evals::{Domain, MeasureValues, Report, Summary, Unit};
use evals_messages::quantity;
use evals_messages::visible::single_line;

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
        let Some(meaning) = meaning(&report.measure_values(), case) else {
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

/// Renders sentences, and tables of texts below them.
pub fn tables_text(printer: &Printer, opening: &[String], tables: &[Table]) -> String {
    let opening = opening.iter().map(|line| wrapped(printer, line));
    let tables = tables.iter();
    let tables = tables.map(|table| "\n".to_owned() + &table_text(printer, table, Narrow::Fold));
    opening.chain(tables).collect()
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

/// What the first measure of a run means: how many cases are fully right, and how many are not at all, as in `RR@5 is 1 for 164 of 256
/// questions, and 0 for 31`. `None` without a value.
fn meaning(measures: &[MeasureValues<'_>], case: &str) -> Option<String> {
    let measure = measures.first()?;
    let values = measure.of_cases.values().filter_map(|it| it.as_ref().ok());
    in_words(
        &measure.title,
        measure.unit,
        &values.copied().collect::<Vec<_>>(),
        case,
    )
}

fn in_words(title: &str, unit: Unit, values: &[f64], case: &str) -> Option<String> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    let count = |wanted: f64| {
        let equal = |value: &&f64| (**value - wanted).abs() < 1e-12;
        values.iter().filter(equal).count()
    };
    let (title, all) = (single_line(title), quantity::of(values.len(), case));
    Some(match (unit, count(1.0), count(0.0)) {
        (Unit::PassRate, passed, _) => format!("{passed} of {all} passed `{title}`"),
        (Unit::Score, whole, none) if whole + none > 0 && least >= 0.0 && most <= 1.0 => {
            format!("{title} is 1 for {whole} of {all}, and 0 for {none}")
        }
        (unit, ..) => {
            let [least, most] = [least, most].map(|value| unit.print(value));
            format!("{title} is from {least} to {most} over {all}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_its_ends_and_a_pass_rate_what_passed() {
        let meant = |unit, values: &[f64]| in_words("m", unit, values, "question");
        let values = [1.0, 0.5, 0.0, 1.0];
        let expected = "m is 1 for 2 of 4 questions, and 0 for 1";
        assert_eq!(meant(Unit::Score, &values).unwrap(), expected);
        let expected = "2 of 4 questions passed `m`";
        assert_eq!(meant(Unit::PassRate, &values).unwrap(), expected);
        let expected = "m is from 0.2500 to 3.0000 over 2 questions";
        assert_eq!(meant(Unit::Score, &[0.25, 3.0]).unwrap(), expected);
        assert_eq!(meant(Unit::Score, &[]), None);
    }
}

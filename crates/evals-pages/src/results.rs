//! The results of a benchmark: shown on stdout, and written to the files of `--out`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::page::{write_file, write_opening};
use anyhow::{Context as _, Result, bail};
use evals_html::page::{Listing, Opening};
use evals_messages::visible;
use evals_runs::atomic_file::write_atomically;
use evals_terminal::Printer;
use evals_terminal::listing::Layout;
use serde::Serialize;

/// Why writing cannot fail.
const ANY_TEXT: &str = "a string takes any text";

/// The text of a missing value.
pub const NONE: &str = "-";

/// What a benchmark measured. Its JSON is that of the type.
pub trait Results: Serialize {
    /// The columns that a narrow terminal hides first.
    const LEAST: &'static [&'static str];

    /// What was measured, in one line.
    fn measured(&self) -> String;

    /// Every table.
    fn tables(&self) -> Vec<Listing>;

    /// The tables on a terminal.
    fn shown(&self) -> Vec<Listing> {
        self.tables()
    }

    /// The lines below the tables, each with its end.
    fn closing(&self) -> String;

    /// The page for browsers, which has no cases.
    fn page(&self) -> Opening;
}

/// Fails if one of the files cannot be written, because of its folder or its ending, so that a command fails before it begins.
pub fn check_out(out: &[PathBuf]) -> Result<()> {
    for out in out {
        let ending = out.extension().and_then(|it| it.to_str());
        if !matches!(ending, Some("html" | "md" | "json")) {
            bail!(
                "`--out {}`: the name has to end in .html, .md or .json",
                out.display()
            );
        }
        if let Some(folder) = out.parent().filter(|it| !it.as_os_str().is_empty())
            && !folder.is_dir()
        {
            bail!(
                "`--out {}`: folder `{}` does not exist",
                out.display(),
                folder.display()
            );
        }
    }
    Ok(())
}

/// Prints the results, as JSON in place of tables if asked, and writes the files.
pub fn show<R: Results>(
    printer: &Printer,
    results: &R,
    is_json: bool,
    out: &[PathBuf],
) -> Result<()> {
    let json = serde_json::to_string_pretty(results).context("cannot write the figures")? + "\n";
    if is_json {
        printer.result(&json)?;
    } else {
        printer.result(&text(printer, results))?;
    }
    for out in out {
        write(out, results, &json).with_context(|| format!("cannot write `{}`", out.display()))?;
        printer.note_file("wrote", out);
    }
    Ok(())
}

fn write(out: &Path, results: &impl Results, json: &str) -> Result<()> {
    match out.extension().and_then(|it| it.to_str()) {
        Some("html") => {
            let page = results.page();
            write_file(out, |file| write_opening(&page, file)).map(drop)
        }
        Some("md") => {
            let text = markdown(results);
            write_atomically(out, |file| file.write_all(text.as_bytes()))
        }
        _ => write_atomically(out, |file| file.write_all(json.as_bytes())),
    }
}

fn text<R: Results>(printer: &Printer, results: &R) -> String {
    let layout = Layout::of(printer).dropping(R::LEAST).shortening_names();
    laid_out(results, results.shown(), |table| {
        let head: Vec<&str> = table.head.iter().map(String::as_str).collect();
        let title = if table.caption.is_empty() {
            String::new()
        } else {
            format!("{}\n", table.caption)
        };
        title + &layout.render(&head, &table.rows)
    })
}

fn markdown(results: &impl Results) -> String {
    let row = |cells: &[String]| {
        let cells = cells
            .iter()
            .map(|cell| visible::line(&cell.replace('|', "\\|")));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    laid_out(results, results.tables(), |table| {
        let rules = (0..table.head.len()).map(|column| if column == 0 { "---" } else { "--:" });
        let rules: Vec<String> = rules.map(str::to_owned).collect();
        let rows = table.rows.iter().map(|cells| row(cells));
        let rows: String = rows.collect();
        format!(
            "**{}**\n\n{}{}{rows}",
            table.caption,
            row(&table.head),
            row(&rules)
        )
    })
}

/// What was measured, the tables, and the lines below them.
fn laid_out(
    results: &impl Results,
    tables: Vec<Listing>,
    table: impl Fn(&Listing) -> String,
) -> String {
    let mut text = format!("{}\n", results.measured());
    for it in tables {
        write!(text, "\n{}", table(&it)).expect(ANY_TEXT);
    }
    let closing = results.closing();
    if !closing.is_empty() {
        write!(text, "\n{closing}").expect(ANY_TEXT);
    }
    text
}

/// A table from its columns.
pub fn table(
    caption: impl Into<String>,
    head: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Listing {
    Listing {
        caption: caption.into(),
        head: head.iter().map(|&title| title.to_owned()).collect(),
        rows: rows.into_iter().collect(),
        ..Listing::default()
    }
}

/// A duration in milliseconds or seconds.
pub fn seconds(seconds: Option<f64>) -> String {
    match seconds {
        None => NONE.to_owned(),
        Some(seconds) if seconds < 1.0 => format!("{} ms", significant(seconds * 1e3)),
        Some(seconds) => format!("{} s", significant(seconds)),
    }
}

/// A number with three significant digits, or with all digits before the decimal point.
pub fn significant(number: f64) -> String {
    let decimals = match number {
        number if number < 1.0 => 3,
        number if number < 10.0 => 2,
        number if number < 100.0 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

/// A size in megabytes of a million bytes.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", significant(bytes as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [0.000_012_34, 0.012_34, 0.123_4, 1.234, 123.4].map(|it| seconds(Some(it)));
        assert_eq!(shown, ["0.012 ms", "12.3 ms", "123 ms", "1.23 s", "123 s"]);
        assert_eq!(seconds(None), "-");
    }

    #[test]
    fn sizes_are_in_megabytes() {
        assert_eq!(megabytes(0), "0.000 MB");
        assert_eq!(megabytes(1_536_000_000), "1536 MB");
    }
}

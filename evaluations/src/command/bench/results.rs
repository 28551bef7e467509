//! Shows the results of a benchmark, and writes them to the files of `--out`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::terminal::Printer;

/// Where the results go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output<'o> {
    /// Whether standard output gets JSON in place of tables.
    pub(super) json: bool,
    /// The files of `--out`.
    pub(super) out: &'o [PathBuf],
}

/// Prints the results and writes the files. `text` renders the tables; `write` gets a file, the results and their JSON.
pub(super) fn show<F: Serialize>(
    printer: &Printer,
    figures: &F,
    output: Output<'_>,
    text: fn(&Printer, &F) -> String,
    write: fn(&Path, &F, &str) -> Result<()>,
) -> Result<()> {
    let json = serde_json::to_string_pretty(figures).context("cannot write the figures")? + "\n";
    if output.json {
        printer.result(&json)?;
    } else {
        printer.result(&text(printer, figures))?;
    }
    for out in output.out {
        write(out, figures, &json).with_context(|| format!("cannot write `{}`", out.display()))?;
        printer.note_file("wrote", out);
    }
    Ok(())
}

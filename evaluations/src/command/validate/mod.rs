//! `evaluations validate`: checks files and prints every problem with its place.

mod check;
mod kind;

use std::path::Path;

use anyhow::{Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_settings::redaction::printable;

use self::check::Checked;
use self::kind::FileKind;
use crate::cli::ValidateArgs;

/// The largest file, in bytes.
const LARGEST: u64 = 1_000_000_000;

/// Prints a line for each good file and one for each problem to stdout. A file with problems is an error at the end.
pub(super) fn execute(session: &Session<'_>, arguments: &ValidateArgs) -> Result<Exit> {
    let mut lines = Vec::new();
    let mut bad = 0_usize;
    let mut problems = 0;
    for path in &arguments.files {
        match checked(path) {
            Ok(Checked { summary, warnings }) => {
                lines.extend(warnings);
                lines.push(format!("{}: {summary}", path.display()));
            }
            Err(found) => {
                bad += 1;
                problems += found.len();
                lines.extend(found);
            }
        }
    }
    session
        .printer
        .result(&(printable(&lines.join("\n")) + "\n"))?;
    if bad > 0 {
        bail!(
            "{} in {bad} of {}",
            quantity::of(problems, "problem"),
            quantity::of(arguments.files.len(), "file")
        );
    }
    Ok(Exit::Done)
}

/// Checks one file.
fn checked(path: &Path) -> Result<Checked, Vec<String>> {
    let text = regular_file::read_named(path, LARGEST)
        .map_err(|error| vec![evals_messages::chain(&error)])?;
    match kind::of(path, &text) {
        FileKind::Dataset(format) => check::dataset(path, &text, format),
        FileKind::Manifest => check::manifest(path, &text),
        FileKind::Target => check::target(path, &text),
        FileKind::Qrels => check::qrels(path, &text),
        FileKind::Run => check::run(path, &text),
        FileKind::Settings => check::settings(path),
        FileKind::NoMapping("null") => Ok(check::empty(path)),
        FileKind::NoMapping(kind) => Err(vec![no_mapping(path, kind)]),
        FileKind::Unknown => Err(vec![format!(
            "{}: not a file that can be checked; those are dataset files (`.yaml`, `.json`, `.jsonl`, `.csv`), manifests, settings and targets (`.yaml`), judgements and rankings in TREC format; `evaluations init --to FOLDER` writes examples",
            path.display()
        )]),
    }
}

/// What is wrong with YAML whose root is no mapping.
fn no_mapping(path: &Path, kind: &str) -> String {
    let path = path.display();
    match kind {
        "a list" => format!(
            "{path}: is a list at its root; in YAML, cases stand under `cases:` (`.json` and `.jsonl` may hold a list of records)"
        ),
        other => format!("{path}: is {other} at its root, where a mapping is needed"),
    }
}

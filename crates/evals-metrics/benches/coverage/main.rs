//! Simulates how often intervals cover the truth, how often tests cry wolf, and how often they see a difference.
//!
//! ```text
//! cargo bench -p evals-metrics --bench coverage                                 # prints all tables
//! cargo bench -p evals-metrics --bench coverage -- --check docs/simulations.md  # fails where that page has other numbers
//! cargo bench -p evals-metrics --bench coverage -- --trials 50000               # with a smaller error
//! cargo bench -p evals-metrics --bench coverage -- --only pools                 # one subject
//! ```
//!
//! Everything is drawn from fixed seeds, so the numbers are the same every time.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the tables are the result"
)]

mod changes;
mod chosen;
mod clusters;
mod conversations;
mod draws;
mod judges;
mod leads;
mod means;
mod paired;
mod pools;
#[path = "../../tests/it/random.rs"]
mod random;
mod series;
mod table;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use table::Table;

/// Trials for each number: a share of 95 % then has a standard error of 0.3 points.
const TRIALS: usize = 5_000;

/// The tables of a subject, by the number of trials.
type Tables = fn(usize) -> Vec<Table>;

fn main() -> ExitCode {
    let mut trials = None;
    let mut checked: Option<PathBuf> = None;
    let mut only: Option<String> = None;
    let mut is_bench = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--trials" => trials = arguments.next().and_then(|number| number.parse().ok()),
            "--check" => checked = arguments.next().map(PathBuf::from),
            "--only" => only = arguments.next(),
            "--bench" => is_bench = true,
            _ => {}
        }
    }
    // `cargo test --benches` runs benchmarks once, to see that they work.
    let trials = trials.unwrap_or(if is_bench { TRIALS } else { 2 });
    let subjects: [(&str, Tables); 10] = [
        ("means", means::tables),
        ("chosen", chosen::tables),
        ("paired", paired::tables),
        ("clusters", clusters::tables),
        ("conversations", conversations::tables),
        ("judges", judges::tables),
        ("pools", pools::tables),
        ("changes", changes::tables),
        ("leads", leads::tables),
        ("series", series::tables),
    ];
    let tables: Vec<Table> = subjects
        .into_iter()
        .filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name))
        .flat_map(|(_, tables)| tables(trials))
        .collect();
    for table in &tables {
        println!("{}\n\n{table}", table.title);
    }
    let Some(path) = checked else {
        return ExitCode::SUCCESS;
    };
    // Cargo runs benchmarks in the folder of their package.
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    let page = match std::fs::read_to_string(&path) {
        Ok(page) => page,
        Err(error) => {
            eprintln!("cannot read {}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    // The page shows some of the rows.
    let printed: String = tables.iter().map(Table::to_string).collect();
    let printed: BTreeSet<&str> = printed.lines().collect();
    let unknown: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with('|') && !printed.contains(line))
        .collect();
    if unknown.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{} has rows that are not printed above:\n{}",
        path.display(),
        unknown.join("\n")
    );
    ExitCode::FAILURE
}

//! `evaluations runs baseline`: saves the numbers of a run in a file that can be committed, and shows such a file.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use evals::{Snapshot, Unit};
use evals_messages::quantity;
use evals_messages::visible::single_line;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::baseline_file::{BaselineFile, path_of};
use evals_terminal::listing;

use crate::cli::{BaselineArgs, BaselineCommand, SaveBaselineArgs, ShowBaselineArgs};

pub(super) fn execute(session: &Session<'_>, arguments: &BaselineArgs) -> Result<Exit> {
    match &arguments.command {
        BaselineCommand::Save(arguments) => save(session, arguments),
        BaselineCommand::Show(arguments) => show(session, arguments),
    }
}

fn save(session: &Session<'_>, arguments: &SaveBaselineArgs) -> Result<Exit> {
    let run = session.stored_runs().find(&arguments.run)?;
    let baseline = BaselineFile::of(&run)?;
    let path = path_of(&arguments.file);
    baseline.write(&path, arguments.force)?;
    let failed = baseline.snapshot.failed;
    if failed > 0 {
        session.printer.warn(&format!(
            "{failed} of {} cases failed in this run; a gate accepts as many",
            baseline.snapshot.finished
        ));
    }
    session
        .printer
        .note_file(&format!("saved run `{}` as", baseline.run), &path);
    Ok(Exit::Done)
}

fn show(session: &Session<'_>, arguments: &ShowBaselineArgs) -> Result<Exit> {
    let path = path_of(&arguments.file);
    let baseline = BaselineFile::read(&path)?;
    session.printer.result(&page(session, &path, &baseline))?;
    Ok(Exit::Done)
}

fn page(session: &Session<'_>, path: &Path, baseline: &BaselineFile) -> String {
    const TEXT: &str = "a string takes any text";
    let mut page = String::new();
    let facts = [
        ("baseline", path.display().to_string()),
        ("run", baseline.run.clone()),
        (
            "of",
            format!(
                "{} on {}, profile {}",
                baseline.benchmark, baseline.dataset, baseline.profile
            ),
        ),
        ("cases", cases(&baseline.snapshot)),
        ("written by", format!("evaluations {}", baseline.tool)),
    ];
    for (label, fact) in facts {
        writeln!(page, "{label}: {}", single_line(&fact)).expect(TEXT);
    }
    writeln!(page).expect(TEXT);
    let rows = rows(&baseline.snapshot);
    page + &listing::render(session.printer, &["Measure", "Value", "n"], &rows)
}

fn cases(snapshot: &Snapshot) -> String {
    let mut text = quantity::of(snapshot.cases.len(), "case");
    if snapshot.repeat > 1 {
        write!(text, ", {} repetitions each", snapshot.repeat).expect("a string takes any text");
    }
    if snapshot.failed > 0 {
        write!(text, ", {} failed", snapshot.failed).expect("a string takes any text");
    }
    text
}

/// A row for each measure, and for each percentile of the whole task and of each stage.
fn rows(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let measures = snapshot.means().map(|(measure, value, n)| {
        let value = value.map_or_else(|| "–".to_owned(), |value| measure.unit.print(value));
        vec![measure.name().to_owned(), value, n.to_string()]
    });
    let stages = snapshot
        .timings
        .iter()
        .map(|(stage, times)| (format!("latency.{stage}"), times));
    let timed = std::iter::once(("latency".to_owned(), &snapshot.task_time)).chain(stages);
    let percentiles = timed.flat_map(|(name, times)| {
        let known = [("p50", times.p50), ("p95", times.p95), ("p99", times.p99)];
        known.into_iter().filter_map(move |(percentile, seconds)| {
            let seconds = Unit::Seconds.print(seconds?);
            Some(vec![
                format!("{name}.{percentile}"),
                seconds,
                times.n.to_string(),
            ])
        })
    });
    measures.chain(percentiles).collect()
}

//! The retrieval benchmark: measures the rankings of every search profile, and prints and writes the results.

mod benchmark;
mod latency_sample;
mod page;

use anyhow::Result;
use evals::Comparison;
use evals_messages::quantity;
use evals_pages::out_file::OutFile;
use evals_pages::page::{Documents, PageSource, SeveralPage};
use evals_rag::Retrieval;
use evals_runs::clock;
use evals_runs::run_folder::{RunFailure, RunFolder};
use evals_terminal::Printer;

use super::manifest::run_record;
use super::plan::Plan;
use super::preparation::Run;
use crate::exit::Exit;
use crate::finished_run::FinishedRun;
use crate::interruption::Interrupted;
use crate::run_ending::Reached;
use crate::search_profile::SearchProfile;
use crate::session::Session;

/// Measures the rankings of every profile, and prints and writes the results.
pub(super) async fn execute(run: Run<'_>) -> Result<Exit> {
    let Run {
        session,
        plan,
        interruption,
        ..
    } = run;
    let mut finished: Vec<FinishedRun<Retrieval>> = Vec::new();
    for &profile in &plan.profiles {
        let folder = create_folder(run, profile)?;
        let mut measured = match benchmark::run(run, profile, folder).await {
            // The results of earlier profiles are still printed.
            Err(error) if error.is::<Interrupted>() && !finished.is_empty() => break,
            measured => measured?,
        };
        if !plan.out.iter().any(OutFile::is_page) {
            // Its page is written, and holds the texts of documents for each profile.
            measured.source.documents = Documents::none();
        }
        session.printer.detail(&format!(
            "{profile}: report in {}",
            measured.folder.path().display()
        ));
        finished.push(measured);
        if interruption.is_interrupted() || run.prepared.stop.reason().is_some() {
            break;
        }
    }
    // A signal after the last search has interrupted nothing.
    let is_interrupted = interruption.is_interrupted() && is_anything_left(plan, &finished);
    if is_interrupted {
        note_interruption(session, plan, &finished);
    }
    let comparison = comparison(&finished);
    print(run, &finished, &comparison)?;
    write_out(session, plan, &finished, &comparison)?;
    for run in &finished {
        session
            .printer
            .note_files(&run.folder, &run.report, &run.summary);
    }
    if is_interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(reason) = run.prepared.stop.reason() {
        let not_run: usize = finished.iter().map(|it| it.report.not_run).sum();
        session.printer.failure(&format!(
            "stopped early, {} not run: {reason}",
            quantity::of(not_run, "search")
        ));
        let reached = Reached {
            failures: finished.iter().any(|it| it.reached.failures),
            budget: run.prepared.spending.is_spent(),
        };
        return Ok(reached.exit());
    }
    Ok(note_failed_searches(session.printer, &finished))
}

/// Whether a run that ends after these profiles has work left.
fn is_anything_left(plan: &Plan, finished: &[FinishedRun<Retrieval>]) -> bool {
    let is_cut = |run: &FinishedRun<Retrieval>| run.report.not_run > 0;
    finished.len() < plan.profiles.len() || plan.qa.is_some() || finished.iter().any(is_cut)
}

/// Creates the folder of one profile's run, with its manifest.
fn create_folder(run: Run<'_>, profile: SearchProfile) -> Result<RunFolder> {
    let started = clock::now();
    let name = format!("{}-{profile}", run.plan.name);
    let folder = RunFolder::create(&run.session.directories.runs(), started, &name)?;
    folder.write_record(&run_record(run, profile, started)?)?;
    Ok(folder)
}

/// Reports the profiles without any ranking, which make the run fail.
fn note_failed_searches(printer: &Printer, finished: &[FinishedRun<Retrieval>]) -> Exit {
    let mut exit = Exit::Done;
    for run in finished {
        if RunFailure::of(&run.summary).is_some() {
            printer.failure(&format!(
                "no search by `{}` succeeded; the report gives the reasons",
                run.label()
            ));
            exit = Exit::CheckFailed;
        }
    }
    exit
}

fn note_interruption(session: &Session<'_>, plan: &Plan, finished: &[FinishedRun<Retrieval>]) {
    let left = plan.profiles[finished.len()..].iter();
    let mut left: Vec<String> = left.map(ToString::to_string).collect();
    if plan.qa.is_some() {
        left.push("question answering".to_owned());
    }
    let mut note = "interrupted; the run folders hold the finished results".to_owned();
    if !left.is_empty() {
        note.push_str("; not run: ");
        note.push_str(&left.join(", "));
    }
    session.printer.note(&note);
}

fn print(run: Run<'_>, finished: &[FinishedRun<Retrieval>], comparison: &Comparison) -> Result<()> {
    let printer = run.session.printer;
    let seed = run.arguments.control.seed;
    let text = match finished {
        [one] => one.text(printer)?,
        several => page::comparison(
            printer,
            comparison,
            several,
            run.plan,
            &run.prepared.chosen,
            seed,
        )?,
    };
    printer.result(&text)?;
    Ok(())
}

/// The measures of all profiles side by side.
fn comparison(finished: &[FinishedRun<Retrieval>]) -> Comparison {
    let summaries = finished.iter().map(|run| (run.label(), &run.summary));
    Comparison::new(&summaries.collect::<Vec<_>>())
}

/// Writes the `--out` files. A run of several profiles writes one file for each, and the comparison into the file of the given name if
/// its format supports comparisons. The names of the files depend only on the options, not on how far the run came.
fn write_out(
    session: &Session<'_>,
    plan: &Plan,
    finished: &[FinishedRun<Retrieval>],
    comparison: &Comparison,
) -> Result<()> {
    let runs = page::titled(finished);
    let source = PageSource {
        documents: Documents::merged(finished.iter().map(|run| &run.source.documents)),
        ..finished
            .first()
            .map(|run| run.source.clone())
            .unwrap_or_default()
    };
    let sources: Vec<&PageSource> = finished.iter().map(|run| &run.source).collect();
    let several = SeveralPage {
        title: &plan.name,
        runs: &runs,
        comparison,
        standings: None,
        source: &source,
        sources: &sources,
    };
    for file in &plan.out {
        if plan.profiles.len() == 1 {
            for run in finished {
                run.write_file(session.printer, file)?;
            }
            continue;
        }
        if file.comparison(session.printer, &several)? {
            session.printer.note_file("wrote", file.path());
        }
        for run in finished {
            run.write_file(session.printer, &file.of(run.label()))?;
        }
    }
    Ok(())
}

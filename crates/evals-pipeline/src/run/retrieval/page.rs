//! The console page that compares the search profiles of a run.

use std::io;

use evals::{Comparison, PairTesting, Standings, Titled, render};
use evals_messages::quantity;
use evals_metrics::{PairedTest, Percentiles};
use evals_rag::Retrieval;
use evals_terminal::{Printer, console, run_console, text};

use crate::case_selection::ChosenCases;
use crate::finished_run::FinishedRun;
use crate::judged;
use crate::run::plan::Plan;
use crate::run_models::{reranker, rewriter};
use crate::vector_search;

/// Renders the profiles side by side, then the failures of each.
pub(super) fn comparison(
    printer: &Printer,
    comparison: &Comparison,
    finished: &[FinishedRun<Retrieval>],
    plan: &Plan,
    chosen: &ChosenCases,
    seed: u64,
) -> io::Result<String> {
    let console = run_console(printer);
    let line = |line: &str| text(|out| console.text(out, line));
    let mut page = line(&headline(printer, finished, plan))?;
    for (label, chosen) in chosen.lines("questions") {
        page.push_str(&line(&format!("{label}: {chosen}"))?);
    }
    page.push('\n');
    page.push_str(&text(|out| console.comparison(out, comparison))?);
    let testing = PairTesting::by(PairedTest {
        seed,
        ..PairedTest::default()
    });
    let runs = titled(finished);
    for lead in Standings::leads(&runs, &testing, |_| true) {
        let title = |place: usize| runs[place].title;
        page.push_str(&line(&render::lead(&lead, &testing, title, "question"))?);
    }
    page.push_str(&text(|out| console.interval_methods(out, comparison))?);
    page.push_str(&text(|out| console.latency(out, &latencies(finished)))?);
    page.push_str(&of_single_runs(printer, finished)?);
    Ok(page)
}

/// The run, its questions and the depth of its rankings, in one line.
fn headline(printer: &Printer, finished: &[FinishedRun<Retrieval>], plan: &Plan) -> String {
    let questions = finished.first().map_or(0, |run| run.summary.finished);
    let separator = if printer.stdout().unicode {
        " · "
    } else {
        " | "
    };
    let facts = [
        plan.name.clone(),
        match finished.first().map_or(1, |run| run.summary.repeat) {
            0 | 1 => quantity::of(questions, "question"),
            repeat => format!(
                "{} (each question × {repeat})",
                quantity::of(questions, "search")
            ),
        },
        format!("{} kept", quantity::of(plan.k.get(), "document")),
    ];
    facts.join(separator)
}

/// What only some runs have: approximate search, reranking, groups and failures.
fn of_single_runs(printer: &Printer, finished: &[FinishedRun<Retrieval>]) -> io::Result<String> {
    let console = console(printer);
    let line = |line: &str| text(|out| console.text(out, line));
    let mut page = String::new();
    for run in finished {
        if let Some(search) = run.fact(vector_search::LABEL) {
            page.push('\n');
            page.push_str(&line(&format!("{}: vector search: {search}", run.label()))?);
        }
        if judged::is_incomplete(&run.report)
            && let Some(judged) = run.fact(judged::LABEL)
        {
            page.push('\n');
            page.push_str(&line(&format!("{}: judged: {judged}", run.label()))?);
        }
        for label in [rewriter::LABEL, reranker::LABEL] {
            if let Some(account) = run.fact(label) {
                page.push('\n');
                page.push_str(&line(&format!("{}: {account}", run.label()))?);
            }
        }
    }
    for run in finished.iter().filter(|run| !run.summary.groups.is_empty()) {
        page.push('\n');
        page.push_str(&line(&format!("{}:", run.label()))?);
        page.push_str(&text(|out| console.groups(out, &run.summary))?);
    }
    for run in finished.iter().filter(|run| run.summary.failed > 0) {
        let failed = format!(
            "{}: {} of {} failed",
            run.label(),
            run.summary.failed,
            quantity::of(run.summary.finished, "search")
        );
        page.push('\n');
        page.push_str(&line(&failed)?);
    }
    Ok(page)
}

/// The finished runs under their labels.
pub(super) fn titled(finished: &[FinishedRun<Retrieval>]) -> Vec<Titled<'_, Retrieval>> {
    let runs = finished.iter().map(|run| Titled {
        title: run.label(),
        report: &run.report,
        summary: &run.summary,
    });
    runs.collect()
}

/// The latencies of all stages, each from the profile that computed it. The other profiles read its result from the cache.
fn latencies(finished: &[FinishedRun<Retrieval>]) -> Vec<(String, Percentiles)> {
    let stages = finished.iter().flat_map(|run| {
        let profile = run.label();
        run.summary.timings.iter().map(move |(stage, times)| {
            let name = if *stage == profile {
                profile.to_owned()
            } else {
                format!("{profile}: {stage}")
            };
            (name, *times)
        })
    });
    stages.collect()
}

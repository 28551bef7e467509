//! The retrieval benchmark of a target: measures the documents of its replies.

use std::sync::Arc;

use anyhow::Result;
use evals::{Experiment, Observer, Report, Summary};
use evals_messages::quantity;
use evals_metrics::Bootstrap;
use evals_rag::{Missing, Retrieval, retrieval, targets};
use evals_targets::RecordedTarget;

use super::manifest::of_retrieval;
use super::{Ended, TargetRun};
use crate::choices;
use crate::cli::RunArgs;
use crate::clock;
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::page::{Documents, PageSource};
use crate::rankings::{FinishedRankings, record};
use crate::resumption::is_transient;
use crate::run_folder::{RunFailure, RunFolder};
use crate::targets::{DocumentScores, TargetFacts};
use crate::terminal::progress::CaseBar;
use crate::terminal::{Printer, report_text};

/// Measures the documents of the replies, and prints and writes the results.
pub(super) async fn execute(run: TargetRun<'_>, recorded: &RecordedTarget) -> Result<Ended> {
    let TargetRun {
        session,
        plan,
        prepared,
        ..
    } = run;
    let printer = session.printer;
    let label = prepared.target.identity().to_string();
    let started = clock::now();
    let name = format!("{}-{label}", plan.retrieval_name);
    let folder = RunFolder::create(&session.directories.runs(), started, &name)?;
    folder.write_record(&of_retrieval(run, started)?)?;
    let (report, summary) = measure(run, &label, recorded).await?;
    let seed = run.arguments.control.seed;
    let finished = FinishedRankings {
        source: PageSource::of_run(&folder, seed, Documents::none()),
        label,
        report,
        summary,
        folder,
        reranking: None,
    };
    record(printer, &finished)?;
    printer.detail(&format!(
        "documents: report in {}",
        finished.folder.path().display()
    ));
    printer.result(&report_text(printer, &finished.report, &finished.summary)?)?;
    for file in &plan.out {
        file.report(
            printer,
            &finished.report,
            &finished.summary,
            &finished.source,
        )?;
        printer.note_file("wrote", file.path());
    }
    finished.folder.note_files(printer, &finished.report);
    note_missing(printer, &finished.report);
    Ok(ended(run, &finished))
}

async fn measure(
    run: TargetRun<'_>,
    label: &str,
    recorded: &RecordedTarget,
) -> Result<(Report<Retrieval>, Summary)> {
    let TargetRun {
        session,
        arguments,
        plan,
        prepared,
        stop,
        interruption,
    } = run;
    let questions = prepared.questions.iter().cloned();
    let dataset = retrieval::dataset(&plan.manifest.name, questions, plan.measures.clone())?
        .clustered(plan.manifest.cluster.clone());
    let task = targets::retrieval_task(prepared.system(plan, recorded), plan.identical_ids);
    let bar = Arc::new(CaseBar::new(session.printer, "asking"));
    let experiment = Experiment::new(dataset, task)
        .case_timeout(choices::case_timeout(&plan.resolved)?.task("the target"))
        .name(format!("{} ({label})", plan.retrieval_name))
        .metadata("profile", label)
        .concurrency(plan.concurrency)
        .repeat(arguments.control.repeat)
        .cancellation(interruption.abort_token())
        .stop(stop.clone())
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Retrieval>>);
    let limit = failure_limit(arguments);
    let mut report = limit.stop(experiment).run().await;
    bar.clear();
    let mut lines = Vec::new();
    let chosen = &prepared.chosen;
    lines.extend(chosen.lines("questions"));
    chosen.enter(&mut report.metadata)?;
    let checked = prepared.check_ids(session.printer, interruption).await;
    let facts = TargetFacts::of(&report, checked).with_scores(DocumentScores::of(&report));
    facts.enter(&mut report, prepared.target.identity())?;
    facts.warn(session.printer);
    lines.extend(facts.lines());
    if !lines.is_empty() {
        let key = Report::<Retrieval>::FACTS.to_owned();
        report.metadata.insert(key, serde_json::to_value(lines)?);
    }
    let bootstrap = Bootstrap {
        seed: arguments.control.seed,
        ..Bootstrap::default()
    };
    let summary = report.summary(&bootstrap);
    let keys = &arguments.results.group_by;
    let summary = add_groups(run.session.printer, &report, summary, keys, &bootstrap);
    Ok((report, summary))
}

/// The limit of failures. The benchmark always asks for all replies, recorded or not, so it resumes no case.
fn failure_limit(arguments: &RunArgs) -> FailureLimit {
    FailureLimit::new::<Retrieval>(arguments.control.max_failures, &[])
}

/// Points out that no reply has documents, so that there is nothing to measure.
fn note_missing(printer: &Printer, report: &Report<Retrieval>) {
    let mut outputs = report.cases.iter().filter_map(|case| case.result.output());
    let mut any = false;
    let none = outputs.all(|output| {
        any = true;
        output.missing.contains(&Missing::Documents)
    });
    if any && none {
        printer.warn(
            "no reply of the target has documents, so every rank measure is undefined; `--skip-retrieval` skips them",
        );
    }
}

/// How the benchmark ended, with a note where it did not end well.
fn ended(run: TargetRun<'_>, finished: &FinishedRankings) -> Ended {
    let TargetRun {
        session,
        arguments,
        plan,
        prepared,
        stop,
        interruption,
    } = run;
    let printer = session.printer;
    let report = &finished.report;
    let left = report.not_run > 0 || plan.qa.is_some();
    let transient = report
        .cases
        .iter()
        .filter(|case| is_transient(case))
        .count();
    let settled = report.not_run == 0 && transient == 0;
    let exit = if interruption.is_interrupted() && left {
        printer.note("interrupted; run the same command again to resume");
        Exit::Interrupted
    } else if let Some(reason) = stop.reason() {
        let too_many_failed = failure_limit(arguments).is_reached(&report.cases);
        let advice = if too_many_failed {
            FailureLimit::RESUME
        } else {
            ""
        };
        printer.failure(&format!(
            "stopped early, {} not run: {reason}{advice}",
            quantity::of(report.not_run, "case")
        ));
        if too_many_failed || prepared.spending.is_spent() {
            Exit::CheckFailed
        } else {
            Exit::CouldNot
        }
    } else {
        if transient > 0 {
            printer.warn(&format!(
                "{} failed for a temporary reason; run the same command again to retry",
                quantity::of(transient, "case")
            ));
        }
        if let Some(message) = RunFailure::message(&finished.summary) {
            printer.failure(&message);
            Exit::CheckFailed
        } else {
            Exit::Done
        }
    };
    Ended { exit, settled }
}

//! The retrieval benchmark of a target: measures the documents of its replies.

use anyhow::Result;
use evals::Report;
use evals_pages::page::Documents;
use evals_rag::targets::DocumentScores;
use evals_rag::{Missing, Retrieval, retrieval, targets};
use evals_runs::clock;
use evals_runs::run_folder::RunFolder;
use evals_targets::RecordedTarget;
use evals_terminal::Printer;

use super::manifest::of_retrieval;
use super::{Ended, TargetRun};
use crate::choices;
use crate::execution::{Ran, Work};
use crate::exit::Exit;
use crate::finished_run::FinishedRun;
use crate::groups;
use crate::judged;
use crate::run::spans;
use crate::run_ending::Reached;
use crate::run_models;
use crate::targets::TargetFacts;

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
    let Ran {
        report,
        too_many_failed,
    } = measure(run, &label, recorded).await?;
    let seed = run.arguments.control.seed;
    let summary = groups::summary(printer, &report, seed, &run.arguments.results.group_by);
    let reached = Reached {
        failures: too_many_failed,
        budget: prepared.spending.is_spent(),
    };
    let shown = (seed, Documents::none());
    let finished = FinishedRun::write_rankings(printer, shown, (report, summary), folder, reached)?;
    printer.result(&finished.text(printer)?)?;
    finished.write_files(printer, &plan.out)?;
    note_missing(printer, &finished.report);
    Ok(ended(run, &finished))
}

async fn measure(
    run: TargetRun<'_>,
    label: &str,
    recorded: &RecordedTarget,
) -> Result<Ran<Retrieval>> {
    let TargetRun {
        session,
        plan,
        prepared,
        interruption,
        ..
    } = run;
    let questions = prepared.questions.iter().cloned();
    let system = prepared.system(plan, recorded);
    let mut dataset = retrieval::dataset(&plan.manifest.name, questions, plan.measures.clone())?
        .clustered(plan.manifest.cluster.clone())
        .in_sequences(|case| system.conversations.sequence(case.as_str()));
    let reading = spans::measures(&prepared.collection, &prepared.questions);
    if let Some(spans) = interruption.guard(reading).await? {
        dataset = dataset.evaluator(spans);
    }
    let mut metadata = vec![("profile", label.into())];
    metadata.extend(judged::incompleteness(&plan.manifest));
    let work = Work {
        name: format!("{} ({label})", plan.retrieval_name),
        dataset,
        task: targets::retrieval_task(system, plan.identical_ids),
        metadata,
        timeout: Some(choices::case_timeout(&plan.resolved)?.task("the target")),
        doing: "asking".to_owned(),
    };
    // The benchmark asks for all replies, recorded or not, so it resumes no case.
    let mut ran = run.execution().measure(work).await;
    let report = &mut ran.report;
    targets::settle_matches(report);
    let mut lines = Vec::new();
    let chosen = &prepared.chosen;
    lines.extend(chosen.lines("questions"));
    chosen.enter(&mut report.metadata)?;
    let checked = prepared.check_ids(session.printer, interruption).await;
    let facts = TargetFacts::of(report, checked)
        .with_scores(DocumentScores::of(report))
        .with_resumed(recorded);
    facts.enter(report, prepared.target.identity())?;
    facts.warn(session.printer);
    lines.extend(facts.lines());
    lines.extend(prepared.user.as_ref().map(|(user, _)| {
        let prices = choices::prices(&plan.resolved);
        run_models::user::account(user.model.identity(), report, &prices)
    }));
    lines.extend(prepared.unfinished(report));
    if !lines.is_empty() {
        let key = Report::<Retrieval>::FACTS.to_owned();
        report.metadata.insert(key, serde_json::to_value(lines)?);
    }
    Ok(ran)
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
fn ended(run: TargetRun<'_>, finished: &FinishedRun<Retrieval>) -> Ended {
    let printer = run.session.printer;
    let ending = finished.ending();
    let is_interrupted = run.interruption.is_interrupted();
    let has_more = run.plan.qa.is_some();
    let exit = if is_interrupted && has_more {
        printer.note("interrupted; run the same command again to resume");
        Exit::Interrupted
    } else if let Some(reason) = run.stop.reason().filter(|_| has_more) {
        // Question answering does not begin, even if every case had its reply.
        ending.note_stop(printer, &reason)
    } else {
        ending.note(printer, is_interrupted)
    };
    Ended {
        exit,
        settled: ending.is_settled(),
    }
}

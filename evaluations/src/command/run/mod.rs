//! `evaluations run`: load, index, search, measure, report.

mod console;
mod folder;
mod index;
mod manifest;
mod output;
mod plan;
mod retrieval;
mod source;

use std::num::NonZeroUsize;

use anyhow::{Context as _, Result, bail};
use chrono::Utc;
use evals::Comparison;
use evals_data::Collection;
use evals_rag::Question;
use tokio_util::sync::CancellationToken;

pub(super) use console::report as report_text;
pub(super) use manifest::RunHeader;
pub(super) use output::OutFile;
pub(super) use source::{fetch, hub};

use self::folder::Recorder;
use self::index::ReadyIndex;
use self::plan::Plan;
use self::retrieval::Finished;
use super::Session;
use crate::cli::RunArgs;
use crate::exit::{self, Exit};
use crate::printer::Printer;

pub(super) fn execute(session: &Session<'_>, arguments: &RunArgs) -> Result<Exit> {
    let plan = Plan::new(session, arguments)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    runtime.block_on(async {
        let cancellation = cancelled_by_interrupt();
        let prepared = tokio::select! {
            biased;
            () = cancellation.cancelled() => {
                session.printer.note("interrupted; the same command goes on with the index where it stopped");
                return Ok(Exit::Interrupted);
            }
            prepared = prepare(session, arguments, &plan) => prepared?,
        };
        if arguments.stages.skip_retrieval {
            return Ok(Exit::Done);
        }
        benchmark(session, arguments, &plan, &prepared, &cancellation).await
    })
}

/// Is cancelled by the first interrupt; the second ends the process at once.
fn cancelled_by_interrupt() -> CancellationToken {
    let cancellation = CancellationToken::new();
    let token = cancellation.clone();
    tokio::spawn(async move {
        while interrupt().await {
            if token.is_cancelled() {
                exit::at_once(Exit::Interrupted);
            }
            token.cancel();
        }
    });
    cancellation
}

/// Waits for Ctrl-C, or for what `timeout`, a CI system or a container sends to end a process. False where there is
/// nothing to wait for.
async fn interrupt() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            return tokio::select! {
                interrupted = tokio::signal::ctrl_c() => interrupted.is_ok(),
                received = terminated.recv() => received.is_some(),
            };
        }
    }
    tokio::signal::ctrl_c().await.is_ok()
}

/// Everything that the benchmark needs.
struct Prepared {
    collection: Collection,
    questions: Vec<Question>,
    ready: ReadyIndex,
}

async fn prepare(session: &Session<'_>, arguments: &RunArgs, plan: &Plan) -> Result<Prepared> {
    let printer = session.printer;
    let collection = source::fetch(printer, &plan.manifest)
        .await?
        .allow_missing_judged(arguments.retrieval.allow_missing_judged);
    let questions = source::questions(printer, &collection, arguments)?;
    let uri = match &arguments.stages.db {
        Some(uri) => uri.clone(),
        None => session
            .directories
            .database(&plan.manifest.name)
            .display()
            .to_string(),
    };
    let ready = index::prepare(printer, plan, &collection, &uri, arguments.stages.skip_db).await?;
    console::describe_index(printer, &ready);
    if let Some(filter) = &arguments.retrieval.filter {
        describe_filter(printer, filter, &ready).await?;
    }
    Ok(Prepared {
        collection,
        questions,
        ready,
    })
}

/// Says how much of the corpus a filter keeps. One that keeps nothing is a mistake: every figure would be 0.
async fn describe_filter(printer: &Printer, filter: &str, ready: &ReadyIndex) -> Result<()> {
    let kept = ready.index.count(filter).await?;
    if kept == 0 {
        bail!("no document matches `--filter {filter}`");
    }
    let all = ready.statistics.documents;
    printer.note(&format!("the filter keeps {kept} of {all} documents"));
    Ok(())
}

async fn benchmark(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    prepared: &Prepared,
    cancellation: &CancellationToken,
) -> Result<Exit> {
    let mut finished: Vec<Finished> = Vec::new();
    for &profile in &plan.profiles {
        let started = Utc::now();
        let recorder = Recorder {
            session,
            arguments,
            plan,
            prepared,
            started,
        };
        let folder = recorder.open(profile)?;
        let run = retrieval::run(
            session.printer,
            plan,
            arguments,
            prepared,
            profile,
            cancellation,
        )
        .await?;
        folder::record(&folder, &run)?;
        session
            .printer
            .detail(&format!("{profile}: report in {}", folder.path().display()));
        finished.push(run);
        if cancellation.is_cancelled() {
            break;
        }
    }
    if cancellation.is_cancelled() {
        note_interruption(session, plan, &finished);
    }
    print(session, plan, &finished)?;
    write_out(session, plan, &finished)?;
    Ok(if cancellation.is_cancelled() {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn note_interruption(session: &Session<'_>, plan: &Plan, finished: &[Finished]) {
    let left: Vec<String> = plan.profiles[finished.len()..]
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut note = "interrupted; what was finished is in the run folders".to_owned();
    if !left.is_empty() {
        note.push_str("; not run: ");
        note.push_str(&left.join(", "));
    }
    session.printer.note(&note);
}

fn print(session: &Session<'_>, plan: &Plan, finished: &[Finished]) -> Result<()> {
    let text = match finished {
        [one] => console::report(session.printer, &one.report, &one.summary)?,
        several => console::comparison(session.printer, &comparison(several), several, plan)?,
    };
    session.printer.result(&text)?;
    Ok(())
}

fn comparison(finished: &[Finished]) -> Comparison {
    let titles: Vec<String> = finished.iter().map(|run| run.profile.to_string()).collect();
    let summaries: Vec<_> = titles
        .iter()
        .zip(finished)
        .map(|(title, run)| (title.as_str(), &run.summary))
        .collect();
    Comparison::new(&summaries)
}

/// Writes the `--out` files. With several profiles each has its own, and the file of the given name sets them side by
/// side where its format can.
fn write_out(session: &Session<'_>, plan: &Plan, finished: &[Finished]) -> Result<()> {
    for file in &plan.out {
        if let [one] = finished {
            file.report(&one.report, &one.summary)?;
            session.printer.note(&format!("wrote {file}"));
            continue;
        }
        if file.comparison(&comparison(finished))? {
            session.printer.note(&format!("wrote {file}"));
        }
        for run in finished {
            let own = file.of(&run.profile.to_string());
            own.report(&run.report, &run.summary)?;
            session.printer.note(&format!("wrote {own}"));
        }
    }
    Ok(())
}

/// The first `limit` of `questions`, in the dataset's order.
fn limited(mut questions: Vec<Question>, limit: Option<NonZeroUsize>) -> Vec<Question> {
    if let Some(limit) = limit {
        questions.truncate(limit.get());
    }
    questions
}

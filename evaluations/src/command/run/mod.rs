//! `evaluations run`: load, index, search, measure, report.

mod console;
mod embedding;
mod failures;
mod folder;
mod index;
mod interrupt;
mod lead;
mod manifest;
mod output;
mod plan;
mod qa;
mod reranking;
mod retrieval;
mod search;
mod source;

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::{Comparison, StopSignal};
use evals_data::Collection;
use evals_models::{Embedder, Usage};
use evals_providers::Traffic;
use evals_rag::Question;

pub(crate) use self::interrupt::Interruption;
pub(super) use console::{console, report as report_text};
pub(super) use manifest::{DatasetHeader, RunHeader};
pub(super) use output::OutFile;
pub(super) use qa::{Source, SourceRecord, has_transient_failures, rejudge};
pub(super) use source::fetch;

use self::folder::Recorder;
use self::index::ReadyIndex;
use self::interrupt::Interrupted;
use self::plan::Plan;
use self::qa::{Opener, QaPlan, Replies};
use self::reranking::Reranking;
use self::retrieval::Finished;
use super::Session;
use crate::choices;
use crate::cli::{Refresh, RunArgs};
use crate::clock;
use crate::exit::Exit;
use crate::models::Servers;
use crate::printer::{Printer, StdoutError};
use crate::quantity;
use crate::spending::{BudgetSpent, Spending};

/// Stack of each thread, of which only what is used takes memory: the storage engine walks a filter with one call for each level.
const STACK_BYTES: usize = 8 << 20;

pub(super) fn execute(session: &Session<'_>, arguments: &RunArgs) -> Result<Exit> {
    let plan = Plan::new(session, arguments)?;
    if let Some(note) = plan.cut_note() {
        session.printer.note(&note);
    }
    interruptible(session, async |interruption| {
        let prepared = Box::pin(prepare(session, arguments, &plan, interruption));
        let prepared = interruption.guard(prepared);
        let (prepared, ready) = match prepared.await {
            Err(error) if error.is::<Interrupted>() => {
                session
                    .printer
                    .note("interrupted; the same command goes on with the index where it stopped");
                return Ok(Exit::Interrupted);
            }
            prepared => prepared?,
        };
        let run = Run {
            session,
            arguments,
            plan: &plan,
            prepared: &prepared,
            interruption,
        };
        let qa = plan.qa.as_ref().zip(ready.as_ref());
        if let Some((qa, ready)) = qa
            && arguments.qa.estimate
        {
            let estimated = qa::estimate(run, qa, ready);
            interruption.guard(estimated).await?;
            return Ok(Exit::Done);
        }
        let mut exit = Exit::Done;
        if plan.retrieval {
            exit = retrieve(run).await?;
        }
        if let Some((qa, ready)) = qa
            && !interruption.is_noticed()
        {
            exit = exit.max(match prepared.stop.reason() {
                None => answer(run, qa, ready).await?,
                // The retrieval benchmark has said so.
                Some(_) if plan.retrieval => exit,
                Some(reason) => {
                    let warning = format!("stopped before the first question: {reason}");
                    session.printer.warn(&warning);
                    Exit::CheckFailed
                }
            });
        }
        note_embedding(session, run.plan, &prepared);
        let reranking = prepared.reranking.iter();
        for note in reranking.flat_map(|reranking| reranking.reranker.notes()) {
            session
                .printer
                .note(&format!("of what was reranked now: {note}"));
        }
        Ok(exit)
    })
}

/// Does `work` on a runtime of its own, which signals may interrupt.
pub(super) fn interruptible(
    session: &Session<'_>,
    work: impl AsyncFnOnce(&Interruption) -> Result<Exit>,
) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .context("cannot start worker threads")?;
    let (exit, is_interrupted) = runtime.block_on(async {
        let listening = Interruption::listen(session.printer);
        let interruption = listening.context("cannot listen for signals")?;
        let exit = match work(&interruption).await {
            Err(error) if error.is::<Interrupted>() => {
                session.printer.note("interrupted");
                Ok(Exit::Interrupted)
            }
            Err(error)
                if error
                    .chain()
                    .any(<dyn std::error::Error>::is::<BudgetSpent>) =>
            {
                session.printer.failure(&format!("{}", error.root_cause()));
                Ok(Exit::CheckFailed)
            }
            // The terminal was closed, so nobody can read the result.
            Err(error) if interruption.is_noticed() && error.is::<StdoutError>() => {
                Ok(Exit::Interrupted)
            }
            exit => exit,
        };
        interruption.written().await;
        anyhow::Ok((exit, interruption.is_noticed()))
    })?;
    if is_interrupted {
        // Files that are still being read, on threads that cannot be stopped, are of no use any more.
        runtime.shutdown_background();
    }
    exit
}

/// What a benchmark is given.
#[derive(Clone, Copy)]
struct Run<'r> {
    session: &'r Session<'r>,
    arguments: &'r RunArgs,
    plan: &'r Plan,
    prepared: &'r Prepared,
    interruption: &'r Interruption,
}

/// Everything that is searched and asked.
struct Prepared {
    /// `None` where no profile compares vectors.
    embedder: Option<Arc<dyn Embedder>>,
    collection: Collection,
    questions: Vec<Question>,
    ready: ReadyIndex,
    /// `None` where no profile reranks.
    reranking: Option<Reranking>,
    spending: Arc<Spending>,
    /// Ends a run early: when the budget is spent, or when something has to be mended.
    stop: StopSignal,
    /// One for each server.
    traffic: Vec<Arc<Traffic>>,
}

/// What both benchmarks ask, and what it is paid from.
struct Models {
    reranking: Option<Reranking>,
    spending: Arc<Spending>,
    stop: StopSignal,
}

/// Opens models, data and index. Models come first: a server that is not there is found before an hour of indexing.
async fn prepare(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    interruption: &Interruption,
) -> Result<(Prepared, Option<qa::Ready>)> {
    let printer = session.printer;
    let servers = Servers::new(
        &plan.resolved,
        &plan.models,
        printer,
        arguments.control.seed,
    );
    let mut servers = servers.minded_by(interruption);
    let spending = Spending::new(arguments.qa.budget, interruption.stop());
    let embedder = embedding::open(
        session,
        arguments,
        plan,
        &mut servers,
        interruption,
        &spending,
    )
    .await?;
    let models = models(
        session,
        arguments,
        plan,
        &mut servers,
        interruption,
        spending,
    )
    .await?;
    let ready = match &plan.qa {
        Some(qa) => Some(qa::open(plan, qa, &mut servers, &models, interruption).await?),
        None => None,
    };
    let collection = source::fetch(printer, &plan.manifest)
        .await?
        .allow_missing_judged(arguments.retrieval.allow_missing_judged);
    let questions = source::questions(printer, &plan.manifest, &collection, arguments).await?;
    let uri = match &arguments.stages.db {
        Some(uri) => uri.clone(),
        None => session
            .directories
            .database(&plan.manifest.name)
            .display()
            .to_string(),
    };
    // An estimate must not pay for the embeddings of a corpus.
    let unpaid = arguments.qa.estimate && is_served(plan);
    let skip_db = arguments.stages.skip_db || unpaid;
    let index = index::prepare(printer, plan, embedder.clone(), &collection, &uri, skip_db).await;
    let index = if unpaid {
        index.context(
            "`--estimate` reads the index and does not build one with a model behind a server, which may have to be paid for; \
             build it with `--skip-retrieval --skip-qa`, or estimate with `--profile bm25`",
        )?
    } else {
        index?
    };
    console::describe_index(printer, &index);
    if let Some(note) = console::cut_note(&index.statistics) {
        printer.note(&note);
    }
    if let Some(filter) = &arguments.retrieval.filter {
        describe_filter(printer, filter, &index).await?;
    }
    let prepared = Prepared {
        embedder,
        collection,
        questions,
        ready: index,
        reranking: models.reranking,
        spending: models.spending,
        stop: models.stop,
        traffic: servers.traffic_so_far(),
    };
    Ok((prepared, ready))
}

/// Says what embedding took of a server in this process: stored vectors and an index that is there are paid for already.
fn note_embedding(session: &Session<'_>, plan: &Plan, prepared: &Prepared) {
    let Some(embedder) = prepared.embedder.as_ref().filter(|_| is_served(plan)) else {
        return;
    };
    let model = embedder.identity();
    let line = match embedder.input_tokens() {
        None => format!("{model}, tokens unknown"),
        Some(tokens) => {
            let usage = Usage {
                input_tokens: tokens,
                ..Usage::default()
            };
            let cost = choices::prices(&plan.resolved).of(model).cost(usage);
            format!("{model}, {tokens} tokens read, {}", qa::dollars(cost))
        }
    };
    session.printer.note(&format!("embedded now: {line}"));
}

/// Whether vectors come from a server.
fn is_served(plan: &Plan) -> bool {
    plan.needs_embeddings && plan.models.embedder.kind.is_served()
}

/// The reranker, where a profile reranks, and the account of what is paid.
async fn models<'p>(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &'p Plan,
    servers: &mut Servers<'p>,
    interruption: &Interruption,
    spending: Arc<Spending>,
) -> Result<Models> {
    let stop = interruption.stop();
    // The failed cases are of question answering; what the rankings of retrieval took is not paid for again.
    let refresh = arguments.qa.refresh.filter(|what| *what == Refresh::All);
    let replies = Replies::new(session, arguments.qa.no_cache, refresh);
    let mut opener = Opener::new(&plan.resolved, servers, &replies, &spending, interruption);
    let reranking = if plan.profiles.iter().any(|profile| profile.rerank) {
        Some(reranking::open(session, &plan.resolved, &plan.models, &mut opener).await?)
    } else {
        None
    };
    Ok(Models {
        reranking,
        spending,
        stop,
    })
}

/// Says how much of the corpus a filter keeps. One that keeps nothing is a mistake: every figure would be 0.
async fn describe_filter(printer: &Printer, filter: &str, ready: &ReadyIndex) -> Result<()> {
    let kept = ready.index.count(filter).await?;
    if kept == 0 {
        bail!("no document matches `--filter {filter}`");
    }
    let all = quantity::of(ready.statistics.documents, "document");
    let hidden = if kept < ready.statistics.documents {
        "; relevant ones among the others count as never found"
    } else {
        ""
    };
    printer.note(&format!("the filter keeps {kept} of {all}{hidden}"));
    Ok(())
}

/// Measures the rankings of every profile, and prints what came of it.
async fn retrieve(run: Run<'_>) -> Result<Exit> {
    let Run {
        session,
        plan,
        interruption,
        ..
    } = run;
    let mut finished: Vec<Finished> = Vec::new();
    for &profile in &plan.profiles {
        let folder = Recorder {
            run,
            started: clock::now(),
        }
        .open(profile)?;
        let measured = match retrieval::run(run, profile, folder).await {
            // What earlier profiles found is still to be printed.
            Err(error) if error.is::<Interrupted>() && !finished.is_empty() => break,
            measured => measured?,
        };
        folder::record(&measured)?;
        session.printer.detail(&format!(
            "{profile}: report in {}",
            measured.folder.path().display()
        ));
        finished.push(measured);
        if interruption.is_noticed() || run.prepared.stop.reason().is_some() {
            break;
        }
    }
    // A signal that came when everything was done has interrupted nothing.
    let is_interrupted = interruption.is_noticed() && is_anything_left(plan, &finished);
    if is_interrupted {
        note_interruption(session, plan, &finished);
    }
    print(run, &finished)?;
    write_out(session, plan, &finished)?;
    for run in &finished {
        failures::locate(session.printer, &run.report, &run.folder);
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
        return Ok(if run.prepared.spending.is_spent() {
            Exit::CheckFailed
        } else {
            Exit::CouldNot
        });
    }
    Ok(failures::of_searches(session.printer, &finished))
}

/// Whether a run that ends after these profiles leaves out anything that was asked for.
fn is_anything_left(plan: &Plan, finished: &[Finished]) -> bool {
    let is_cut = |run: &Finished| run.report.not_run > 0;
    finished.len() < plan.profiles.len() || plan.qa.is_some() || finished.iter().any(is_cut)
}

/// Answers and judges, and prints what came of it.
async fn answer(run: Run<'_>, qa: &QaPlan, ready: &qa::Ready) -> Result<Exit> {
    let Run { plan, prepared, .. } = run;
    let printer = run.session.printer;
    if prepared
        .questions
        .iter()
        .all(|question| question.answer.is_none())
    {
        printer.warn(&format!(
            "no question of `{}` has a reference answer, so that answers are not judged; `--skip-qa` leaves them out",
            plan.manifest.name
        ));
    }
    let answered = qa::run(run, qa, ready).await?;
    let text = answered.text(printer)?;
    let gap = if plan.retrieval { "\n" } else { "" };
    printer.result(&format!("{gap}{text}"))?;
    // The retrieval benchmark has the names as they were given.
    let files: Vec<_> = plan
        .out
        .iter()
        .map(|file| {
            if plan.retrieval {
                file.of("qa")
            } else {
                file.clone()
            }
        })
        .collect();
    answered.tell(printer, &files, run.interruption.is_noticed())
}

fn note_interruption(session: &Session<'_>, plan: &Plan, finished: &[Finished]) {
    let left = plan.profiles[finished.len()..].iter();
    let mut left: Vec<String> = left.map(ToString::to_string).collect();
    if plan.qa.is_some() {
        left.push("question answering".to_owned());
    }
    let mut note = "interrupted; what was finished is in the run folders".to_owned();
    if !left.is_empty() {
        note.push_str("; not run: ");
        note.push_str(&left.join(", "));
    }
    session.printer.note(&note);
}

fn print(run: Run<'_>, finished: &[Finished]) -> Result<()> {
    let printer = run.session.printer;
    let seed = run.arguments.control.seed;
    let text = match finished {
        [one] => console::report(printer, &one.report, &one.summary)?,
        several => console::comparison(printer, &comparison(several), several, run.plan, seed)?,
    };
    printer.result(&text)?;
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

/// Writes the `--out` files. Of a run of several profiles each has its own, and the file of the given name sets them side by side
/// where its format can. What is in a file depends on what was asked for, and not on how far the run came.
fn write_out(session: &Session<'_>, plan: &Plan, finished: &[Finished]) -> Result<()> {
    for file in &plan.out {
        if plan.profiles.len() == 1 {
            for run in finished {
                file.report(&run.report, &run.summary)?;
                session.printer.note(&format!("wrote {file}"));
            }
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

//! One run of a dataset: load, index, search, measure, report; or ask somebody else's system.

mod access;
pub(crate) mod index;
mod manifest;
pub(crate) mod plan;
mod preparation;
mod qa;
pub(crate) mod questions;
mod retrieval;
mod search;
mod spans;
mod target;

use anyhow::Result;
use evals_data::Manifest;
use evals_settings::Resolved;

pub use self::plan::resolve;

use self::plan::Plan;
use self::preparation::{Run, note_embedding, prepare};
use crate::exit::Exit;
use crate::interruption::{Interrupted, interruptible};
use crate::options::RunArgs;
use crate::session::Session;
use crate::targets;

/// One run of each benchmark, for each search profile.
///
/// # Errors
///
/// If the dataset, the settings, a model or the target are unusable, or results cannot be written.
pub fn one(
    session: &Session<'_>,
    arguments: &RunArgs,
    manifest: Manifest,
    resolved: Resolved,
) -> Result<Exit> {
    if targets::chosen(&resolved, &arguments.target)?.is_some() {
        return target::execute(session, arguments, manifest, resolved);
    }
    let plan = Plan::new(session, arguments, manifest, resolved)?;
    if let Some(note) = plan.cut_note() {
        session.printer.note(&note);
    }
    interruptible(session.printer, async |interruption| {
        let prepared = Box::pin(prepare(session, arguments, &plan, interruption));
        let prepared = match interruption.guard(prepared).await {
            Err(error) if error.is::<Interrupted>() => {
                session
                    .printer
                    .note("interrupted; run the same command again to resume indexing");
                return Ok(Exit::Interrupted);
            }
            prepared => prepared?,
        };
        if prepared.chosen.is_empty_shard() {
            return Ok(Exit::Done);
        }
        let run = Run {
            session,
            arguments,
            plan: &plan,
            prepared: &prepared,
            interruption,
        };
        benchmarks(run).await
    })
}

/// Plans a run, so that a bad value is found before anything runs.
///
/// # Errors
///
/// If the dataset or the settings are unusable.
pub fn check(session: &Session<'_>, arguments: &RunArgs) -> Result<()> {
    let manifest = session.manifest(&arguments.dataset)?;
    let resolved = resolve(session, arguments, &manifest)?;
    if targets::chosen(&resolved, &arguments.target)?.is_some() {
        return target::check(session, arguments, manifest, resolved);
    }
    Plan::new(session, arguments, manifest, resolved).map(drop)
}

/// Runs the benchmarks of the plan, or estimates the cost of question answering.
async fn benchmarks(run: Run<'_>) -> Result<Exit> {
    let Run { plan, prepared, .. } = run;
    let qa = plan.qa.as_ref().zip(prepared.qa.as_ref());
    if let Some((qa, models)) = qa
        && run.arguments.judging.estimate
    {
        let estimated = qa::estimate(run, qa, models);
        run.interruption.guard(estimated).await?;
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    if !plan.retrieval && qa.is_none() && run.arguments.stages.skip_qa {
        let note = "index ready; nothing measured, because `--skip-retrieval` and `--skip-qa` skip both benchmarks";
        run.session.printer.note(note);
    }
    if plan.retrieval {
        exit = retrieval::execute(run).await?;
    }
    if let Some((qa, models)) = qa
        && !run.interruption.is_interrupted()
    {
        exit = exit.max(match prepared.stop.reason() {
            None => qa::execute(run, qa, models).await?,
            // The retrieval benchmark has already reported the reason.
            Some(_) if plan.retrieval => exit,
            Some(reason) => {
                let warning = format!("stopped before the first question: {reason}");
                run.session.printer.warn(&warning);
                Exit::CheckFailed
            }
        });
    }
    note_embedding(run.session, plan, prepared);
    if let Some(rewriting) = prepared.rewriting.as_ref().filter(|_| qa.is_none()) {
        for note in rewriting.model.notes() {
            let note = format!("while rewriting: {note}");
            run.session.printer.note(&note);
        }
    }
    let reranking = prepared.reranking.iter();
    for note in reranking.flat_map(|reranking| reranking.reranker.notes()) {
        run.session
            .printer
            .note(&format!("while reranking: {note}"));
    }
    Ok(exit)
}

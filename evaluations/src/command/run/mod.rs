//! `evaluations run`: load, index, search, measure, report; or ask somebody else's system.

mod access;
mod figures;
mod index;
mod manifest;
mod plan;
mod preparation;
mod qa;
mod questions;
mod retrieval;
mod search;
mod target;
mod variants;

use anyhow::Result;
use evals_data::Manifest;

use self::plan::Plan;
use self::preparation::{Run, note_embedding, prepare};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::interruption::{Interrupted, interruptible};
use crate::session::Session;
use crate::settings::Resolved;
use crate::targets;

pub(super) fn execute(session: &Session<'_>, arguments: &RunArgs) -> Result<Exit> {
    let mut manifest = session.manifest(&arguments.dataset)?;
    if let Some(key) = &arguments.results.cluster {
        manifest.cluster = Some(key.clone());
    }
    let mut resolved = plan::resolve(session, arguments, &manifest)?;
    if let Some(variants) = variants::of(arguments, &resolved)? {
        return variants::execute(session, arguments, &variants);
    }
    resolved.settings.matrix.clear();
    let figures = figures::folder(arguments)?;
    let exit = one(session, arguments, manifest, resolved)?;
    match figures {
        Some(folder) if matches!(exit, Exit::Done | Exit::CheckFailed) => {
            figures::draw(session, arguments, folder)?;
        }
        _ => {}
    }
    Ok(exit)
}

/// One run of each benchmark, for each search profile.
fn one(
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
    let reranking = prepared.reranking.iter();
    for note in reranking.flat_map(|reranking| reranking.reranker.notes()) {
        run.session
            .printer
            .note(&format!("while reranking: {note}"));
    }
    Ok(exit)
}

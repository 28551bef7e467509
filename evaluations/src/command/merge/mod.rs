//! `evaluations runs merge`: joins the runs of all shards of a benchmark to one run.

mod answers;
mod gathering;
mod joining;
mod manifest;
mod rankings;
mod shard_run;
mod shards_of_run;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::interruptible;
use evals_pipeline::session::Session;
use evals_runs::clock;
use evals_runs::run_folder::StartLock;
use evals_runs::run_record::Benchmark;

use self::joining::{Joining, Merged};
use self::shards_of_run::ShardsOfRun;
use crate::cli::MergeArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &MergeArgs) -> Result<Exit> {
    let printer = session.printer;
    interruptible(printer, async |interruption| {
        // Of equal commands that start together, one merges, and the others find its run.
        let turn = StartLock::to_merge(&session.directories.data, printer);
        let _turn = interruption.guard(turn).await?;
        let runs = gathering::gather(session, &arguments.runs)?;
        // Nothing is written unless everything can be.
        for run in &runs {
            run.check()?;
        }
        let mut exit = Exit::Done;
        for (place, run) in runs.iter().enumerate() {
            let merged = interruption.guard(Box::pin(merge(session, run))).await?;
            let gap = if place > 0 { "\n" } else { "" };
            printer.result(&format!("{gap}{}", merged.text))?;
            printer.note_file("merged run:", merged.folder.path());
            exit = exit.max(merged.note(printer));
        }
        Ok(exit)
    })
}

/// Merges the shards of one run.
async fn merge(session: &Session<'_>, run: &ShardsOfRun) -> Result<Merged> {
    let joining = Joining {
        session,
        run,
        record: manifest::merged(run, clock::now()),
    };
    match joining.record.benchmark {
        Benchmark::Retrieval => rankings::write(&joining).await,
        Benchmark::Qa => answers::write_qa(&joining).await,
        Benchmark::Eval => answers::write_eval(&joining).await,
    }
}

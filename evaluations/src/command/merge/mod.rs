//! `evaluations merge`: joins the runs of all shards of a benchmark to one run.

mod answers;
mod command_line;
mod gathering;
mod joining;
mod manifest;
mod rankings;
mod shard_run;
mod shards_of_run;
mod target_facts;

use anyhow::Result;

use self::joining::Merged;
use self::shards_of_run::ShardsOfRun;
use crate::cli::MergeArgs;
use crate::exit::Exit;
use crate::interruption::interruptible;
use crate::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &MergeArgs) -> Result<Exit> {
    let printer = session.printer;
    let shards = gathering::gather(session, &arguments.runs)?;
    if shards.is_empty() {
        // A note has said why.
        return Ok(Exit::Done);
    }
    let runs = ShardsOfRun::group(shards);
    // Nothing is written unless everything can be.
    for run in &runs {
        run.check()?;
    }
    interruptible(printer, async |interruption| {
        let mut exit = Exit::Done;
        for (place, run) in runs.iter().enumerate() {
            let merged = interruption
                .guard(Box::pin(Merged::of(session, run)))
                .await?;
            let gap = if place > 0 { "\n" } else { "" };
            printer.result(&format!("{gap}{}", merged.text))?;
            printer.note_file("merged run:", merged.folder.path());
            exit = exit.max(merged.note(printer));
        }
        Ok(exit)
    })
}

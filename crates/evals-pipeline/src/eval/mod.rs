//! `evaluations eval`: runs the cases of a dataset file against a target.

mod estimate;
mod finished;
mod judges;
mod manifest;
mod model_settings;
mod plan;
mod run;
mod task;
mod watch;

use anyhow::Result;

pub use self::judges::check_file as check_judges;

use self::plan::Plan;
use self::run::Start;
use crate::exit::Exit;
use crate::interruption::interruptible;
use crate::options::EvalArgs;
use crate::session::Session;

/// Prints an error with its causes and a hint.
pub type ReportError = fn(&anyhow::Error);

/// Runs the cases of a dataset file. `report` prints the error of a run after which `--watch` waits for the next change.
///
/// # Errors
///
/// If the file, the settings or the target are unusable, or results cannot be written.
pub fn execute(session: &Session<'_>, arguments: &EvalArgs, report: ReportError) -> Result<Exit> {
    if arguments.attempts.watch {
        return watch::execute(session, arguments, report);
    }
    let mut plan = Plan::new(session, arguments)?;
    if plan.shard.is_some() && plan.chosen.is_empty() {
        return Ok(Exit::Done);
    }
    if arguments.judging.estimate {
        let estimate = estimate::text(&plan, arguments);
        session.printer.result(&estimate)?;
        return Ok(Exit::Done);
    }
    interruptible(session.printer, async |interruption| {
        let start = if arguments.control.fresh {
            Start::Fresh
        } else {
            Start::Resume
        };
        let finished =
            Box::pin(run::run(session, arguments, &mut plan, start, interruption)).await?;
        let text = finished.text(session.printer, &arguments.shown)?;
        session.printer.result(&text)?;
        let is_interrupted = interruption.is_interrupted();
        finished
            .run
            .close(session.printer, &plan.out, is_interrupted)
    })
}

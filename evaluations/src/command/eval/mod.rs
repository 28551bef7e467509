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

pub(super) use self::judges::check_file as check_judges;

use self::plan::Plan;
use self::run::Start;
use crate::cli::EvalArgs;
use crate::exit::Exit;
use crate::interruption::interruptible;
use crate::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &EvalArgs) -> Result<Exit> {
    if arguments.attempts.watch {
        return watch::execute(session, arguments);
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
        finished.close(session.printer, &plan.out, interruption.is_interrupted())
    })
}

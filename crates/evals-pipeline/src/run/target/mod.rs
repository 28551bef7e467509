//! `evaluations run --target`: both benchmarks over somebody else's system.
//!
//! Every question is asked once. The reply is recorded, and both benchmarks read the record.

mod corpus;
mod estimate;
mod manifest;
mod plan;
mod preparation;
mod qa;
mod retrieval;

use std::sync::Arc;

use anyhow::Result;
use evals::StopSignal;
use evals_data::Manifest;
use evals_settings::Resolved;
use evals_targets::{Body, RecordedTarget, Request, Target as _};

use self::plan::TargetPlan;
use self::preparation::{Prepared, prepare};
use crate::choices;
use crate::execution::Execution;
use crate::exit::Exit;
use crate::interruption::{Interruption, interruptible};
use crate::options::RunArgs;
use crate::run::plan::measured::cut_note;
use crate::session::Session;
use crate::targets::{self, Recording};

/// The inputs of a benchmark.
#[derive(Clone, Copy)]
struct TargetRun<'r> {
    session: &'r Session<'r>,
    arguments: &'r RunArgs,
    plan: &'r TargetPlan,
    prepared: &'r Prepared,
    /// Ends the benchmark early.
    stop: &'r StopSignal,
    interruption: &'r Interruption,
}

impl<'r> TargetRun<'r> {
    /// How the cases of both benchmarks run.
    fn execution(self) -> Execution<'r> {
        Execution {
            printer: self.session.printer,
            resolved: &self.plan.resolved,
            interruption: self.interruption,
            stop: self.stop.clone(),
            concurrency: self.plan.concurrency,
            repeat: self.arguments.control.repeat,
            max_failures: self.arguments.control.max_failures,
            retry_task: None,
            retry_evaluators: None,
        }
    }
}

/// How a benchmark ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    exit: Exit,
    /// Whether nothing is left that the same command would ask or do again.
    settled: bool,
}

pub(super) fn execute(
    session: &Session<'_>,
    arguments: &RunArgs,
    manifest: Manifest,
    resolved: Resolved,
) -> Result<Exit> {
    let plan = TargetPlan::new(session, arguments, manifest, resolved)?;
    if let Some(note) = cut_note(plan.k, &plan.cut).filter(|_| plan.retrieval) {
        session.printer.note(&note);
    }
    interruptible(session.printer, async |interruption| {
        let prepared = Box::pin(prepare(session, arguments, &plan, interruption));
        let prepared = interruption.guard(prepared).await?;
        if prepared.chosen.is_empty_shard() {
            return Ok(Exit::Done);
        }
        let run = TargetRun {
            session,
            arguments,
            plan: &plan,
            prepared: &prepared,
            stop: &prepared.stop,
            interruption,
        };
        let recording = Recording {
            run: manifest::identity_of(run)?,
            resumption: plan.replies,
            reused: None,
        };
        let target = Arc::clone(&prepared.target);
        if arguments.judging.estimate {
            let recorded = targets::recorded(session, &*target, &recording)?;
            session.printer.result(&estimate::text(run, recorded)?)?;
            return Ok(Exit::Done);
        }
        let recorded = interruption.guard(targets::record(session, target, &recording));
        let recorded = recorded.await?;
        let prices = choices::prices(&plan.resolved);
        let ledger = Arc::clone(recorded.file());
        prepared.spending.record_in(ledger, &prices);
        let measured = measure(run, &recorded).await;
        recorded.close().await;
        measured
    })
}

/// Plans a run, so that a bad value is found before anything runs.
pub(super) fn check(
    session: &Session<'_>,
    arguments: &RunArgs,
    manifest: Manifest,
    resolved: Resolved,
) -> Result<()> {
    TargetPlan::new(session, arguments, manifest, resolved).map(drop)
}

/// Runs the benchmarks that are not skipped. When both have all they need, the recorded replies are finished: the next run asks
/// again.
async fn measure(run: TargetRun<'_>, recorded: &RecordedTarget) -> Result<Exit> {
    let TargetRun {
        session,
        plan,
        prepared,
        interruption,
        ..
    } = run;
    let reason = prepared.stop.reason();
    let spent = reason.filter(|_| prepared.spending.is_spent());
    if let Some(reason) = &spent
        && !holds_all(run, recorded)
    {
        let failure = format!("stopped before the first question: {reason}");
        session.printer.failure(&failure);
        return Ok(Exit::CheckFailed);
    }
    let mut ended = Ended {
        exit: Exit::Done,
        settled: true,
    };
    if plan.retrieval {
        let unset = interruption.further_stop();
        // Measuring recorded replies costs nothing.
        let stop = if spent.is_some() { &unset } else { run.stop };
        ended = retrieval::execute(TargetRun { stop, ..run }, recorded).await?;
    }
    if let Some(models) = &prepared.qa {
        // A budget that was spent before the first question leaves the cases that earlier sessions finished.
        let is_stopped = prepared.stop.reason().is_some() && spent.is_none();
        if interruption.is_interrupted() || is_stopped {
            ended.settled = false;
        } else {
            let answered = qa::execute(run, models, recorded).await?;
            ended.exit = ended.exit.max(answered.exit);
            ended.settled &= answered.settled;
        }
    }
    if ended.settled {
        recorded.finish()?;
    }
    if ended.settled && ended.exit == Exit::Done {
        note_sweep(run);
    }
    session.printer.detail(&format!(
        "replies of the target, {} of them asked for by this command: {}",
        recorded.asked(),
        recorded.path().display()
    ));
    Ok(ended.exit)
}

/// Says how to try several values of a parameter of a service, unless the command sets something by itself.
fn note_sweep(run: TargetRun<'_>) {
    let TargetRun {
        plan, arguments, ..
    } = run;
    let sets_values = !arguments.settings.assignments.is_empty();
    if sets_values || run.prepared.target.identity().kind != "http" {
        return;
    }
    let parameter = match &plan.target.body {
        Some(Body::Mapping(fields)) => {
            let mut fields = fields.iter();
            let is_number = |value: &serde_json::Value| value.is_number() || value == "{{ k }}";
            match fields.find(|(_, value)| is_number(value)) {
                Some((name, _)) => name.as_str(),
                None => return,
            }
        }
        Some(Body::Text(_) | Body::List(_)) => return,
        None => "top_k",
    };
    run.session.printer.note(&format!(
        "to try several values of a parameter of the request: `--set-each target.body.{parameter}=5,20,50`"
    ));
}

/// Whether every question has a recorded reply.
fn holds_all(run: TargetRun<'_>, recorded: &RecordedTarget) -> bool {
    let repeats = 1..=run.arguments.control.repeat.get();
    // Nobody knows before what a simulated user will say.
    let mut questions = run.prepared.questions.iter();
    run.prepared.user.is_none()
        && questions.all(|question| {
            repeats.clone().all(|repeat| {
                recorded.holds(&Request {
                    repeat,
                    ..Request::question(question.id.as_str(), question.text.as_str())
                })
            })
        })
}

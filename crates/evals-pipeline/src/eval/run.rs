//! One run of a dataset file: opens models and target, runs the cases, and writes the report.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use evals::{CaseReport, Dataset, Report, Retry, StopSignal};
use evals_evaluators::{DatasetFile, Resources, Untyped};
use evals_messages::quantity;
use evals_rag::rag_judges::JudgeAgreement;
use evals_runs::clock;
use evals_runs::judged_by::PanelMember;
use evals_runs::run_folder::RunFolder;
use evals_targets::process::WorkerPools;
use evals_targets::{RecordedTarget, Resumption, Target};
use serde_json::{Map, Value};

use super::finished::Finished;
use super::judges::OpenedJudges;
use super::manifest::run_record;
use super::plan::Plan;
use super::task;
use crate::batches;
use crate::choices;
use crate::eval_report::{self, Costs, EvalFacts};
use crate::execution::{Execution, Ran, Work};
use crate::finished_run::FinishedRun;
use crate::groups;
use crate::interruption::Interruption;
use crate::models::Servers;
use crate::options::EvalArgs;
use crate::resumption::{self, Resume};
use crate::run_ending::Reached;
use crate::run_models::embedder::VectorCache;
use crate::run_models::{Opener, cache_policy};
use crate::session::Session;
use crate::spending::Spending;
use crate::targets::{self, Opening, Recording, Replies, Reused};

/// The earlier results that a run uses.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// All of the same run, if it is unfinished.
    Resume,
    /// None.
    Fresh,
    /// The replies of another run to the same requests.
    Reuse(Replies),
}

impl Start {
    /// Which cases are resumed.
    fn resume(&self) -> Resume {
        match self {
            Self::Resume => Resume::Unfinished,
            Self::Fresh | Self::Reuse(_) => Resume::Fresh,
        }
    }
}

/// Runs the cases that are not finished yet.
pub(super) async fn run(
    session: &Session<'_>,
    arguments: &EvalArgs,
    plan: &mut Plan,
    start: Start,
    interruption: &Interruption,
) -> Result<Finished> {
    let file = plan.take_file();
    let plan = &*plan;
    let control = &arguments.control;
    let stop = interruption.further_stop();
    let spending = Spending::new(arguments.control.budget, stop.clone());
    let opening = Systems::open(session, arguments, plan, file, &spending, interruption);
    let Systems {
        judges,
        workers,
        dataset,
        target,
    } = opening.await?;
    let started = clock::now();
    let record = run_record(plan, arguments, target.identity(), &judges, started)?;
    let opening = resumption::open::<Untyped>(session, &record, started, start.resume());
    let mut opened = interruption.guard(opening).await?;
    let recording = recording(record.identity(), start, &dataset, control.repeat.get());
    let recorded = Arc::new(targets::record(session, target, &recording).await?);
    resume_spending(&spending, plan, &judges, &recorded, &opened.finished);
    let work = Work {
        name: plan.name.clone(),
        dataset,
        task: task::asking(Arc::clone(&recorded) as _),
        metadata: Vec::new(),
        timeout: Some(plan.timeout.clone()),
        doing: "evaluating".to_owned(),
    };
    let Ran {
        mut report,
        too_many_failed,
    } = execution(session, arguments, plan, interruption, stop)
        .resume(work, &mut opened)
        .await;
    recorded.close().await;
    workers.close().await;
    // A case with a temporary failure runs again, and its reply is not to be paid for twice.
    if report.not_run == 0 && !report.cases.iter().any(resumption::is_transient) {
        recorded.finish()?;
    }
    facts(&report, plan, control.seed, &recorded, &judges)?.enter(&mut report)?;
    let reached = Reached {
        failures: too_many_failed,
        budget: spending.is_spent(),
    };
    finished(session, arguments, report, opened.folder, recorded, reached)
}

/// Counts what earlier sessions of the run paid.
fn resume_spending(
    spending: &Spending,
    plan: &Plan,
    judges: &OpenedJudges,
    recorded: &RecordedTarget,
    finished: &[CaseReport<Untyped>],
) {
    let prices = choices::prices(&plan.resolved);
    spending.record_in(Arc::clone(recorded.file()), &prices);
    let (models, identity) = (judges.identities(), recorded.identity());
    let paid = eval_report::payments(finished, models, identity, &prices);
    spending.resume_cases(paid, &prices);
}

/// Writes the report.
fn finished(
    session: &Session<'_>,
    arguments: &EvalArgs,
    report: Report<Untyped>,
    folder: RunFolder,
    recorded: Arc<RecordedTarget>,
    reached: Reached,
) -> Result<Finished> {
    let (printer, seed) = (session.printer, arguments.control.seed);
    let asked = quantity::of(recorded.asked(), "request");
    printer.detail(&format!("{asked} to the target"));
    let replies = Replies::of(&recorded);
    // The report holds what it needs of the replies.
    drop(recorded);
    let summary = groups::summary(printer, &report, seed, &arguments.results.group_by);
    let run = FinishedRun::write(session, seed, (report, summary), folder, reached)?;
    Ok(Finished { run, replies })
}

/// How the cases run.
fn execution<'e>(
    session: &Session<'e>,
    arguments: &EvalArgs,
    plan: &'e Plan,
    interruption: &'e Interruption,
    stop: StopSignal,
) -> Execution<'e> {
    let seed = arguments.control.seed;
    Execution {
        printer: session.printer,
        resolved: &plan.resolved,
        interruption,
        stop,
        concurrency: plan.concurrency,
        repeat: arguments.control.repeat,
        max_failures: arguments.control.max_failures,
        retry_task: arguments
            .attempts
            .retry_task
            .map(|it| retry(it.saturating_add(1), seed)),
        retry_evaluators: arguments
            .attempts
            .retry_evaluators
            .map(|it| retry(it.saturating_add(1), seed)),
    }
}

/// What a run asks, opened.
struct Systems {
    judges: Arc<OpenedJudges>,
    /// The commands of evaluators.
    workers: WorkerPools,
    dataset: Dataset<Untyped>,
    target: Arc<dyn Target>,
}

impl Systems {
    async fn open(
        session: &Session<'_>,
        arguments: &EvalArgs,
        plan: &Plan,
        file: DatasetFile,
        spending: &Arc<Spending>,
        interruption: &Interruption,
    ) -> Result<Self> {
        let servers = Servers::new(
            &plan.resolved,
            &plan.models,
            session.printer,
            arguments.control.seed,
        );
        let mut servers = servers
            .interrupted_by(interruption)
            .pulling(arguments.control.pull);
        let mut opener = Opener::new(
            session,
            &plan.resolved,
            &plan.models,
            &mut servers,
            cache_policy(arguments.judging.no_cache, None),
            spending,
            interruption,
        );
        let judges = Arc::new(interruption.guard(plan.judges.open(&mut opener)).await?);
        let workers = WorkerPools::new(plan.concurrency);
        interruption.track_commands(workers.gate());
        let resources = Resources {
            models: Some(Arc::clone(&judges) as _),
            prompts: Arc::clone(&plan.prompts),
            workers: workers.clone(),
            ..Resources::default()
        };
        let dataset = plan.dataset(file, resources, arguments.results.cluster.as_ref())?;
        let dataset = if plan.judges.votes {
            dataset.report_evaluator(JudgeAgreement)
        } else {
            dataset
        };
        note_commands(session, plan);
        let opening = Opening {
            concurrency: plan.concurrency,
            folder: session.directories.working.clone(),
            vectors: VectorCache::with(arguments.judging.no_cache, None, arguments.control.repeat),
        };
        let target = open_target(session, plan, &opening, &mut opener, interruption).await?;
        Ok(Self {
            judges,
            workers,
            dataset,
            target,
        })
    }
}

/// Names the commands that are evaluators: they run with the user's rights, and the file may come from somebody else.
fn note_commands(session: &Session<'_>, plan: &Plan) {
    for command in &plan.commands {
        session.printer.note(&format!(
            "{} runs a command as an evaluator: `{command}`",
            plan.source.path.display()
        ));
    }
}

async fn open_target(
    session: &Session<'_>,
    plan: &Plan,
    opening: &Opening,
    opener: &mut Opener<'_, '_>,
    interruption: &Interruption,
) -> Result<Arc<dyn Target>> {
    let target = targets::open(&plan.target, opening, opener);
    let target = interruption.guard(target).await?;
    let target = targets::metered(target, choices::prices(&plan.resolved), opener.spending);
    for warning in target.warnings(&plan.chosen_ids()) {
        session.printer.warn(&warning);
    }
    Ok(target)
}

/// How the replies of the target are recorded, and which are reused.
fn recording(run: Value, start: Start, dataset: &Dataset<Untyped>, repeat: u32) -> Recording {
    let resumption = match start {
        Start::Resume => Resumption::Resume,
        Start::Fresh | Start::Reuse(_) => Resumption::Fresh,
    };
    let reused = match start {
        Start::Resume | Start::Fresh => None,
        Start::Reuse(replies) => Some(Reused {
            replies,
            asked: inputs(dataset),
            repeat,
        }),
    };
    Recording {
        run,
        resumption,
        reused,
    }
}

/// The inputs of each case by its id.
fn inputs(dataset: &Dataset<Untyped>) -> BTreeMap<String, Value> {
    let cases = dataset.cases().iter();
    cases
        .map(|case| (case.id.to_string(), case.input.clone()))
        .collect()
}

fn retry(attempts: std::num::NonZeroU32, seed: u64) -> Retry {
    let [base, longest] = [500, 30_000].map(std::time::Duration::from_millis);
    Retry::new(attempts).backoff(base, longest, seed)
}

/// The facts of the report of a run that has ended.
fn facts(
    report: &Report<Untyped>,
    plan: &Plan,
    seed: u64,
    target: &RecordedTarget,
    judges: &OpenedJudges,
) -> Result<EvalFacts> {
    let prices = choices::prices(&plan.resolved);
    let mut notes = Vec::new();
    let (mut models, mut parameters) = (Map::new(), Map::new());
    for (role, model) in judges.roles() {
        models.insert(role.clone(), serde_json::to_value(model.identity())?);
        parameters.insert(role.clone(), model.parameters().into());
        let of_model = model.notes().into_iter();
        notes.extend(of_model.map(|note| (role.clone(), note)));
    }
    notes.extend(batches::fact(&plan.resolved));
    Ok(EvalFacts {
        target: target.identity().clone(),
        costs: Costs::of(&report.cases, judges.identities(), &prices),
        models,
        parameters,
        judges: eval_report::judge_records(report, |_, spec| {
            let asked = judges.of(&plan.registry, spec).into_iter();
            let asked = asked.map(|(role, model)| (role, PanelMember::from(&*model)));
            Some(asked.collect())
        }),
        notes,
        chosen: plan.cases.clone(),
        seed,
    })
}

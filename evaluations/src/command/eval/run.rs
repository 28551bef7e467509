//! One run of a dataset file: opens models and target, runs the cases, and writes the report.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use evals::{Dataset, Experiment, Journal, Observer, Report, Retry};
use evals_evaluators::{Resources, Untyped};
use evals_messages::quantity;
use evals_metrics::Bootstrap;
use evals_rag::rag_judges::JudgeAgreement;
use evals_targets::process::WorkerPools;
use evals_targets::{RecordedTarget, Resumption, Target};
use serde_json::{Map, Value};

use super::finished::Finished;
use super::judges::OpenedJudges;
use super::manifest::manifest;
use super::plan::Plan;
use super::task;
use crate::batches;
use crate::choices;
use crate::cli::EvalArgs;
use crate::clock;
use crate::eval_report::{self, Costs, EvalFacts};
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::interruption::Interruption;
use crate::judged_by::PanelMember;
use crate::models::Servers;
use crate::resumption::{self, Resume};
use crate::run_ending::Reached;
use crate::run_folder::identity;
use crate::run_models::{Opener, cache_policy};
use crate::session::Session;
use crate::spending::Spending;
use crate::targets::{self, Opening, Recording, Replies, Reused};
use crate::terminal::progress::CaseBar;

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
    let servers = Servers::new(&plan.resolved, &plan.models, session.printer, control.seed);
    let mut servers = servers.interrupted_by(interruption).pulling(control.pull);
    let mut opener = Opener::new(
        session,
        &plan.resolved,
        &plan.models,
        &mut servers,
        cache_policy(arguments.judging.no_cache, None),
        &spending,
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
    // They run with the user's rights, and the file may come from somebody else.
    for command in &plan.commands {
        session.printer.note(&format!(
            "{} runs a command as an evaluator: `{command}`",
            plan.source.path.display()
        ));
    }
    let dataset = if plan.judges.votes {
        dataset.report_evaluator(JudgeAgreement)
    } else {
        dataset
    };

    let opening = Opening {
        concurrency: plan.concurrency,
        folder: session.directories.working.clone(),
    };
    let target = targets::open(&plan.target, &opening, &mut opener);
    let target = interruption.guard(target).await?;
    let prices = choices::prices(&plan.resolved);
    let target = targets::metered(target, prices.clone(), &spending);
    for warning in target.warnings(&plan.chosen_ids()) {
        session.printer.warn(&warning);
    }
    let started = clock::now();
    let manifest = manifest(plan, arguments, target.identity(), &judges, started)?;
    let (resume, resumption) = match start {
        Start::Resume => (Resume::Unfinished, Resumption::Resume),
        Start::Fresh | Start::Reuse(_) => (Resume::Fresh, Resumption::Fresh),
    };
    let opening = resumption::open::<Untyped>(session, &manifest, started, resume);
    let opened = interruption.guard(opening).await?;
    let recording = Recording {
        run: identity(&manifest),
        resumption,
        reused: match start {
            Start::Resume | Start::Fresh => None,
            Start::Reuse(replies) => Some(Reused {
                replies,
                asked: inputs(&dataset),
                repeat: control.repeat.get(),
            }),
        },
    };
    let recorded = Arc::new(targets::record(session, target, &recording).await?);
    spending.record_in(Arc::clone(recorded.file()), &prices);
    let paid = eval_report::payments(
        &opened.finished,
        judges.identities(),
        recorded.identity(),
        &prices,
    );
    spending.resume_cases(paid, &prices);

    let failure_limit = FailureLimit::new(control.max_failures, &opened.finished);
    let waits = plan.resolved.settings.batch.enabled;
    let bar = Arc::new(CaseBar::of_batches(session.printer, "evaluating", waits));
    let mut experiment = Experiment::new(dataset, task::asking(Arc::clone(&recorded) as _))
        .name(&plan.name)
        .concurrency(batches::concurrency(
            &plan.resolved,
            plan.concurrency,
            plan.runs(control.repeat.get()),
        ))
        .repeat(control.repeat)
        .cancellation(interruption.abort_token())
        .stop(stop)
        .case_timeout(batches::case_timeout(&plan.resolved, plan.timeout.clone()))
        .elapsed_before(opened.elapsed)
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn Journal<Untyped>>)
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Untyped>>);
    if let Some(retries) = arguments.attempts.retry_task {
        experiment = experiment.retry_task(retry(retries.saturating_add(1), control.seed));
    }
    if let Some(retries) = arguments.attempts.retry_evaluators {
        experiment = experiment.retry_evaluators(retry(retries.saturating_add(1), control.seed));
    }
    let mut report = failure_limit.stop(experiment).run().await;
    bar.clear();
    recorded.close().await;
    workers.close().await;
    // A case with a temporary failure runs again, and its reply is not to be paid for twice.
    if report.not_run == 0 && !report.cases.iter().any(resumption::is_transient) {
        recorded.finish()?;
    }
    facts(&report, plan, control.seed, &recorded, &judges)?.enter(&mut report)?;
    let asked = quantity::of(recorded.asked(), "request");
    session.printer.detail(&format!("{asked} to the target"));
    let replies = Replies::of(&recorded);
    // The report holds what it needs of the replies.
    drop(recorded);
    let reached = Reached {
        failures: failure_limit.is_reached(&report.cases),
        budget: spending.is_spent(),
    };
    let bootstrap = Bootstrap {
        seed: control.seed,
        ..Bootstrap::default()
    };
    let summary = report.summary(&bootstrap);
    let keys = &arguments.results.group_by;
    let summary = add_groups(session.printer, &report, summary, keys, &bootstrap);
    let written = Finished::write(
        session,
        control.seed,
        report,
        summary,
        opened.folder,
        reached,
        replies,
    )?;
    Ok(written)
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

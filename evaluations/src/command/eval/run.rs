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
use evals_targets::{RecordedTarget, Resumption, Target, TargetIdentity};
use serde_json::{Value, json};

use super::costs;
use super::finished::Finished;
use super::judge_records;
use super::judges::OpenedJudges;
use super::manifest::manifest;
use super::plan::Plan;
use super::task;
use crate::choices;
use crate::cli::EvalArgs;
use crate::clock;
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::interruption::Interruption;
use crate::judged_by::JudgeRecords;
use crate::models::Servers;
use crate::resumption::{self, Resume};
use crate::run_ending::Reached;
use crate::run_folder::identity;
use crate::run_models::{Opener, cache_policy};
use crate::session::Session;
use crate::spending::Spending;
use crate::targets::{self, Opening, Recording, Replies, Reused};
use crate::terminal::progress::CaseBar;

/// The key of a report's metadata with the models that judged.
const MODELS: &str = "models";

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
    plan: &Plan,
    start: Start,
    interruption: &Interruption,
) -> Result<Finished> {
    let control = &arguments.control;
    let stop = interruption.further_stop();
    let spending = Spending::new(arguments.judging.budget, stop.clone());
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
    let loaded = plan.source.load(&plan.registry, resources)?;
    // They run with the user's rights, and the file may come from somebody else.
    for command in &plan.commands {
        session.printer.note(&format!(
            "{} runs a command as an evaluator: `{command}`",
            plan.source.path.display()
        ));
    }
    let dataset = plan.select(loaded.dataset);
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
    let paid = costs::payments(&opened.finished, &judges, recorded.identity(), &prices);
    spending.resume_cases(paid, &prices);

    let failure_limit = FailureLimit::new(control.max_failures, &opened.finished);
    let bar = Arc::new(CaseBar::new(session.printer, "evaluating"));
    let mut experiment = Experiment::new(dataset, task::asking(Arc::clone(&recorded) as _))
        .name(&plan.name)
        .concurrency(plan.concurrency)
        .repeat(control.repeat)
        .cancellation(interruption.abort_token())
        .stop(stop)
        .case_timeout(plan.timeout.clone())
        .elapsed_before(opened.elapsed)
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn Journal<Untyped>>)
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Untyped>>);
    if let Some(retries) = control.retry_task {
        experiment = experiment.retry_task(retry(retries.saturating_add(1), control.seed));
    }
    if let Some(retries) = control.retry_evaluators {
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
    describe(&mut report, plan, arguments, &recorded, &judges)?;
    let asked = quantity::of(recorded.asked(), "request");
    session.printer.detail(&format!("{asked} to the target"));
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
    let replies = Replies::of(&recorded);
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

/// Adds target, judges, seed and selection to the report, each under its own key for programs and as a line for people.
fn describe(
    report: &mut Report<Untyped>,
    plan: &Plan,
    arguments: &EvalArgs,
    target: &RecordedTarget,
    judges: &OpenedJudges,
) -> Result<()> {
    let seed = arguments.control.seed;
    let identity: &TargetIdentity = target.identity();
    let mut facts = vec![("target".to_owned(), identity.to_string())];
    let costs = costs::of(&report.cases, judges, &choices::prices(&plan.resolved));
    facts.extend(costs.as_ref().map(costs::Costs::fact));
    let mut notes = Vec::new();
    let (mut models, mut parameters) = (serde_json::Map::new(), serde_json::Map::new());
    for (role, model) in judges.roles() {
        models.insert(role.clone(), serde_json::to_value(model.identity())?);
        parameters.insert(role.clone(), model.parameters().into());
        let of_model = model.notes().into_iter();
        notes.extend(of_model.map(|note| (role.clone(), note)));
    }
    facts.extend(notes.iter().cloned());
    if let Some(selection) = &plan.selection {
        facts.push(("cases".to_owned(), selection.text(plan.chosen.len())));
    }
    if seed != 0 {
        facts.push(("seed".to_owned(), seed.to_string()));
    }
    let records = judge_records::of(report, &plan.registry, judges);
    let records = serde_json::to_value(records)?;
    let metadata = &mut report.metadata;
    metadata.insert("benchmark".to_owned(), "eval".into());
    metadata.insert("profile".to_owned(), identity.kind.clone().into());
    metadata.insert("target".to_owned(), serde_json::to_value(identity)?);
    metadata.insert("seed".to_owned(), seed.into());
    metadata.insert(MODELS.to_owned(), models.into());
    metadata.insert("parameters".to_owned(), parameters.into());
    metadata.insert(JudgeRecords::KEY.to_owned(), records);
    metadata.insert("notes".to_owned(), serde_json::to_value(notes)?);
    if let Some(costs) = costs {
        metadata.insert("costs".to_owned(), serde_json::to_value(costs)?);
    }
    if let Some(selection) = &plan.selection {
        let key = crate::case_selection::SelectionRecord::KEY.to_owned();
        metadata.insert(key, serde_json::to_value(selection)?);
    }
    metadata.insert(Report::<Untyped>::FACTS.to_owned(), json!(facts));
    Ok(())
}

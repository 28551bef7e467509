//! `evaluations rejudge`: judges the answers of a stored run again.

mod against;
mod estimate;
mod former;
mod kept;
mod source;
mod stored;

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals::{Experiment, Observer};
use evals_models::ModelIdentity;
use evals_rag::Prompt;
use evals_rag::qa::Qa;
use evals_rag::rag_judges::{JudgeTemplates, Preferences};
use serde_json::{Value, json};

use self::against::Against;
use self::former::{FormerJudges, FormerVerdicts};
use self::kept::KeptJudges;
use self::source::{Source, SourceRecord};
use self::stored::Stored;
use crate::batches;
use crate::calibrations::CalibrationStore;
use crate::case_selection::ChosenCases;
use crate::choices;
use crate::cli::RejudgeArgs;
use crate::clock::{self, timestamp};
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::interruption::{Interruption, interruptible};
use crate::judged_by::JudgeRecords;
use crate::models::{ConfiguredModels, Servers};
use crate::out_file::OutFile;
use crate::question_answering::{Attempts, Closing, Judging, JudgingPlan, ModelSet};
use crate::redaction;
use crate::resumption::{self, Resume};
use crate::run_folder::Tool;
use crate::run_models::{Opener, cache_policy};
use crate::session::{Session, named_judges, named_models};
use crate::settings::{self, Resolved};
use crate::spending::Spending;
use crate::terminal::progress::CaseBar;
use crate::vector_search;

pub(super) fn execute(session: &Session<'_>, arguments: &RejudgeArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let source = source::find(session, &arguments.run)?;
    interruptible(session.printer, async |interruption| {
        Box::pin(rejudge(session, arguments, &files, source, interruption)).await
    })
}

/// Judges the answers of `source` with the current settings.
async fn rejudge(
    session: &Session<'_>,
    arguments: &RejudgeArgs,
    files: &[OutFile],
    source: Source,
    interruption: &Interruption,
) -> Result<Exit> {
    let mut models = named_models(None, arguments.judging.judge.as_ref());
    models.extend(named_judges(&arguments.judges));
    models.extend(batches::layer(arguments.judging.batch));
    let mut resolved = settings::resolve(session.user_layers(&arguments.settings, models)?)?;
    session.warn_of_matrix(&resolved);
    let answerer: ModelIdentity =
        serde_json::from_value(source.record.manifest["models"]["answerer"].clone())
            .context("the manifest of the stored run has no valid `models.answerer`")?;
    let former: ModelIdentity =
        serde_json::from_value(source.record.manifest["models"]["judge"].clone())
            .context("the manifest of the stored run has no valid `models.judge`")?;
    let cache = cache_policy(arguments.judging.no_cache, None);
    let configured = ConfiguredModels::of(&resolved.settings);
    let plan = JudgingPlan::new(session, &resolved, &configured.judge, &answerer, cache)?;
    let callers: Vec<_> = plan.callers().collect();
    batches::plan(
        session.printer,
        &mut resolved,
        (arguments.judging.no_cache, None),
        &callers,
    )?;
    let against = arguments.against.as_deref();
    let against = against.map(|wanted| Against::read(session, wanted, &source));
    let against = against.transpose()?;
    let stop = interruption.stop();
    let spending = Spending::new(None, stop.clone());
    let servers = Servers::new(&resolved, &configured, session.printer, 0);
    let mut servers = servers.interrupted_by(interruption);
    let mut opener = Opener::new(
        session,
        &resolved,
        &configured,
        &mut servers,
        cache,
        &spending,
        interruption,
    );
    let opening = Judging::open(&mut opener, &plan);
    let judging = interruption.guard(opening).await?;
    if against.is_some() && judging.further.is_none() {
        bail!(
            "`--against` needs a chat model as the judge; add `--judge PROVIDER:NAME` or set `evaluations.judge`"
        );
    }
    let mut model_set = ModelSet::of(None, &judging);
    model_set.models.insert("answerer", answerer);
    if let Some(warning) = model_set.self_preference() {
        session.printer.warn(&warning);
    }
    let concurrency = arguments
        .concurrency
        .unwrap_or(resolved.settings.evaluations.concurrency);

    let started = clock::now();
    let former = FormerJudges::of(&source.report, former)
        .context("the report of the stored run has no valid list of former judges")?;
    let repeat = NonZeroU32::new(source.report.repeat)
        .context("the report of the stored run has `repeat: 0`")?;
    let records = JudgeRecords::read(&source.report.metadata)?;
    let stored = Arc::new(Stored::new(source.report.cases));
    let kept = KeptJudges::of(&stored, &source.record.manifest, &judging.further_names());
    former.enter(&mut model_set.judges, records.as_ref());
    kept.enter(&mut model_set.judges, records.as_ref());
    let chosen = ChosenCases::of_report(&source.report.metadata, stored.questions())
        .context("the report of the stored run has no valid record of its selection")?;
    if arguments.judging.estimate {
        let text = estimate::text(&stored, &judging, &plan, against.as_ref(), &resolved)?;
        session.printer.result(&text)?;
        return Ok(Exit::Done);
    }
    let mut manifest = manifest(
        &source.record,
        stored.unanswerable(),
        &resolved,
        &model_set,
        started,
        concurrency.get(),
    )?;
    if let Some(against) = &against {
        manifest["rejudged"]["against"] = json!({"run": against.name, "report": against.digest});
        let pair = &plan.prompts.judges.pair;
        manifest["prompts"][pair.name()] = pair.digest().into();
    }
    let opening = resumption::open(session, &manifest, started, Resume::Unfinished);
    let opened = interruption.guard(opening).await?;
    let seed = manifest["seed"].as_u64().unwrap_or_default();
    let key = source.report.cluster.clone();
    let dataset = stored.dataset(&source.report.dataset, key)?;
    let names: Vec<&str> = kept.names().collect();
    if !names.is_empty() {
        session.printer.note(&format!(
            "keeps the verdicts of run `{}` by {}; `--judges` names judges to ask again",
            source.record.name,
            names.join(", ")
        ));
    }
    let further = judging.further.as_ref();
    let counts_votes = further.is_some_and(|further| further.votes() > 1);
    let dataset = kept.add_to(judging.add_evaluators(dataset), &stored, counts_votes);
    let dataset = dataset.evaluator(FormerVerdicts::new(former.clone(), &stored));
    let dataset = match against.zip(judging.further.as_ref()) {
        Some((against, further)) => dataset
            .evaluator(further.pairwise(against.answers))
            .report_evaluator(Preferences),
        None => dataset,
    };
    let traffic = servers.traffic_so_far();
    let closing = Closing {
        printer: session.printer,
        model_set: &model_set,
        prices: choices::prices(&resolved),
        seed,
        spending: &spending,
        failure_limit: FailureLimit::default(),
        traffic: &traffic,
        attempts_before: Attempts::so_far(&traffic),
        chosen,
        group_by: &[],
        facts: vector_search::fact_of_run(&manifest)
            .into_iter()
            .chain(batches::fact(&resolved))
            .collect(),
        calibrations: CalibrationStore::of(&session.directories),
    };
    let timeout = choices::case_timeout(&resolved)?;
    let waits = resolved.settings.batch.enabled;
    let bar = Arc::new(CaseBar::of_batches(session.printer, "judging", waits));
    let report = Experiment::new(dataset, stored.task())
        .name(source.report.name)
        .metadata("rejudged", source.record.name)
        .metadata(FormerJudges::KEY, former.to_value()?)
        .concurrency(batches::concurrency(
            &resolved,
            concurrency,
            stored.questions() * repeat.get() as usize,
        ))
        .repeat(repeat)
        .cancellation(interruption.abort_token())
        .stop(stop)
        .case_timeout(batches::case_timeout(&resolved, timeout))
        .elapsed_before(opened.elapsed)
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn evals::Journal<Qa>>)
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Qa>>)
        .run()
        .await;
    bar.clear();
    let judged = closing.close(report, opened.folder)?;
    session.printer.result(&judged.text(session.printer)?)?;
    judged.report(session.printer, files, interruption.is_interrupted())
}

/// The manifest of the stored run, with all fields about judging replaced.
fn manifest(
    source: &SourceRecord,
    unanswerable: usize,
    resolved: &Resolved,
    model_set: &ModelSet,
    started: DateTime<Utc>,
    concurrency: usize,
) -> Result<Value> {
    let mut manifest = source.manifest.clone();
    manifest["started"] = timestamp(started).into();
    manifest["command_line"] = redaction::command_line().into();
    manifest["tool"] = serde_json::to_value(Tool::default())?;
    manifest["concurrency"] = concurrency.into();
    manifest["rejudged"] = json!({"run": source.name, "report": source.digest});
    // As `evaluations run` records it: only if it is not 0.
    if unanswerable > 0 {
        manifest["dataset"]["unanswerable"] = unanswerable.into();
    }
    manifest["settings_from"] = resolved.origins().into();
    let settings = serde_json::to_value(&resolved.settings)?;
    for section in ["evaluations", "providers", "prices"] {
        manifest["settings"][section] = settings[section].clone();
    }
    if let Some(stored) = manifest["settings"].as_object_mut() {
        stored.remove("batch");
        let batch = settings.get("batch");
        stored.extend(batch.map(|batch| ("batch".to_owned(), batch.clone())));
    }
    for role in ModelSet::JUDGES {
        for section in ["parameters", "models"] {
            if let Some(section) = manifest[section].as_object_mut() {
                section.remove(role);
            }
        }
    }
    for (role, identity) in &model_set.models {
        if ModelSet::JUDGES.contains(role) {
            manifest["models"][*role] = serde_json::to_value(identity)?;
        }
    }
    if let Some(prompts) = manifest["prompts"].as_object_mut() {
        let judging = [Prompt::judge(), Prompt::refusal()];
        let templates = JudgeTemplates::default();
        let judging: Vec<&str> = judging
            .iter()
            .chain(templates.all())
            .map(Prompt::name)
            .collect();
        prompts.retain(|file, _| !judging.contains(&file.as_str()));
    }
    for (role, parameters) in &model_set.parameters {
        manifest["parameters"][*role] = parameters.clone().into();
    }
    for (file, digest) in &model_set.prompts {
        manifest["prompts"][file] = digest.clone().into();
    }
    Ok(manifest)
}

//! Judging stored answers again.

mod former;
mod stored;

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use evals::{Experiment, Observer, Report};
use evals_models::ModelIdentity;
use evals_rag::Prompt;
use evals_rag::qa::Qa;
use serde_json::{Value, json};

use self::former::{FormerJudges, FormerVerdicts};
use self::stored::Stored;
use super::super::manifest::Tool;
use super::super::{Interruption, OutFile};
use super::closing::Closing;
use super::costs::Attempts;
use super::evaluators;
use super::folder::{self, TakeUp};
use super::models::{Cast, Judging, Opener};
use super::plan::{JudgingPlan, Replies, case_timeout};
use crate::choices;
use crate::cli::RejudgeArgs;
use crate::clock;
use crate::command::{Session, named_models};
use crate::exit::Exit;
use crate::models::{ConfiguredModels, Servers};
use crate::progress::CaseBar;
use crate::redaction;
use crate::run_folder::timestamp;
use crate::settings::{self, Resolved};
use crate::spending::Spending;

/// A stored run whose answers are judged again.
pub(in crate::command) struct Source {
    pub(in crate::command) record: SourceRecord,
    pub(in crate::command) report: Report<Qa>,
}

/// What is on record of a stored run.
pub(in crate::command) struct SourceRecord {
    /// The name of its folder.
    pub(in crate::command) name: String,
    /// SHA-256 of its report, in hexadecimal.
    pub(in crate::command) digest: String,
    pub(in crate::command) manifest: Value,
}

/// Judges the answers of `source` as the settings say now.
pub(in crate::command) async fn rejudge(
    session: &Session<'_>,
    arguments: &RejudgeArgs,
    files: &[OutFile],
    source: Source,
    interruption: &Interruption,
) -> Result<Exit> {
    let models = named_models(None, arguments.judge.as_ref());
    let resolved = settings::resolve(session.user_layers(&arguments.settings, models)?)?;
    let answerer: ModelIdentity =
        serde_json::from_value(source.record.manifest["models"]["answerer"].clone())
            .context("the manifest of the stored run does not say who answered")?;
    let former: ModelIdentity =
        serde_json::from_value(source.record.manifest["models"]["judge"].clone())
            .context("the manifest of the stored run does not say who judged")?;
    let replies = Replies::new(session, arguments.no_cache, None);
    let configured = ConfiguredModels::of(&resolved.settings);
    let plan = JudgingPlan::new(session, &resolved, &configured.judge, &answerer, replies)?;
    let stop = interruption.stop();
    let spending = Spending::new(None, stop.clone());
    let servers = Servers::new(&resolved, &configured, session.printer, 0);
    let mut servers = servers.minded_by(interruption);
    let replies = &plan.replies;
    let mut opener = Opener::new(&resolved, &mut servers, replies, &spending, interruption);
    let judging = interruption.guard(opener.judging(&plan)).await?;
    let mut cast = Cast::of(None, &judging);
    cast.models.insert("answerer", answerer);
    if let Some(warning) = cast.self_preference() {
        session.printer.warn(&warning);
    }
    let concurrency = arguments
        .concurrency
        .unwrap_or(resolved.settings.evaluations.concurrency);

    let started = clock::now();
    let former = FormerJudges::of(&source.report, former)
        .context("the report of the stored run does not say who judged before")?;
    let repeat = NonZeroU32::new(source.report.repeat).context("the report has no repetitions")?;
    let stored = Arc::new(Stored::new(source.report.cases));
    let manifest = manifest(
        &source.record,
        stored.unanswerable(),
        &resolved,
        &cast,
        &judging,
        started,
        concurrency.get(),
    )?;
    let opening = folder::open(session, &manifest, started, TakeUp::Unfinished);
    let opened = interruption.guard(opening).await?;
    let seed = manifest["seed"].as_u64().unwrap_or_default();
    let dataset = stored.dataset(&source.report.dataset)?;
    let dataset = evaluators::enrol(dataset, &judging)
        .evaluator(FormerVerdicts::new(former.clone(), &stored));
    let traffic = servers.traffic_so_far();
    let closing = Closing {
        printer: session.printer,
        cast: &cast,
        prices: choices::prices(&resolved),
        seed,
        spending: &spending,
        traffic: &traffic,
        attempts_before: Attempts::so_far(&traffic),
    };
    let bar = Arc::new(CaseBar::new(session.printer, "judging"));
    let report = Experiment::new(dataset, stored.task())
        .name(source.report.name)
        .metadata("rejudged", source.record.name)
        .metadata(FormerJudges::KEY, former.to_value()?)
        .concurrency(concurrency)
        .repeat(repeat)
        .cancellation(interruption.dropping())
        .stop(stop)
        .case_timeout(case_timeout(&resolved)?)
        .elapsed_before(opened.elapsed)
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn evals::Journal<Qa>>)
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Qa>>)
        .run()
        .await;
    bar.clear();
    let judged = closing.close(report, opened.folder)?;
    session.printer.result(&judged.text(session.printer)?)?;
    judged.tell(session.printer, files, interruption.is_noticed())
}

/// The manifest of the stored run with everything that concerns judging as it is now.
fn manifest(
    source: &SourceRecord,
    unanswerable: usize,
    resolved: &Resolved,
    cast: &Cast,
    judging: &Judging,
    started: DateTime<Utc>,
    concurrency: usize,
) -> Result<Value> {
    let mut manifest = source.manifest.clone();
    manifest["started"] = timestamp(started).into();
    manifest["command_line"] = redaction::command_line().into();
    manifest["tool"] = serde_json::to_value(Tool::default())?;
    manifest["concurrency"] = concurrency.into();
    manifest["rejudged"] = json!({"run": source.name, "report": source.digest});
    // As a run of the questions has it on record.
    if unanswerable > 0 {
        manifest["dataset"]["unanswerable"] = unanswerable.into();
    }
    manifest["settings_from"] = resolved.origins().into();
    for section in ["evaluations", "providers", "prices"] {
        manifest["settings"][section] = serde_json::to_value(&resolved.settings)?[section].clone();
    }
    manifest["models"]["judge"] = serde_json::to_value(judging.judge.identity())?;
    if let Some(parameters) = manifest["parameters"].as_object_mut() {
        parameters.remove("judge");
    }
    if let Some(prompts) = manifest["prompts"].as_object_mut() {
        let judging = [Prompt::judge(), Prompt::refusal()];
        prompts.retain(|file, _| judging.iter().all(|prompt| prompt.name() != file));
    }
    for (role, parameters) in &cast.parameters {
        manifest["parameters"][*role] = parameters.clone().into();
    }
    for (file, digest) in &cast.prompts {
        manifest["prompts"][file] = digest.clone().into();
    }
    Ok(manifest)
}

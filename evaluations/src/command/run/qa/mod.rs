//! The question answering benchmark: answers from retrieved passages, and what a judge and further evaluators say of them.

mod closing;
mod costs;
mod estimate;
mod estimated_reranking;
mod evaluators;
mod facts;
mod folder;
mod models;
mod plan;
mod prompts;
mod rejudge;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use evals::{Experiment, Observer};
use evals_local::StaticEmbedder;
use evals_rag::Searcher;
use evals_rag::qa::{self, Expansion, Qa, Settings};

pub(super) use self::closing::Finished;
pub(super) use self::costs::{dollars, reranking as reranking_cost};
pub(in crate::command) use self::folder::has_transient_failures;
pub(super) use self::models::Opener;
pub(super) use self::plan::{QaPlan, Replies};
pub(super) use self::prompts::Prompts;
pub(in crate::command) use self::rejudge::{Source, SourceRecord, rejudge};

use self::closing::Closing;
use self::costs::Attempts;
use self::folder::{Opened, TakeUp};
use self::models::{Answering, Cast, Judging};
use super::folder::Recorder;
use super::plan::Plan;
use super::search::{self, Depth};
use super::{Interruption, Models, Prepared, Run};
use crate::choices;
use crate::clock;
use crate::models::Servers;
use crate::progress::CaseBar;
use crate::search_profile::SearchProfile;

/// Everything that the benchmark asks, ready before the first question.
pub(super) struct Ready {
    answering: Answering,
    judging: Judging,
    cast: Cast,
}

/// Opens the models. Servers are asked whether they have them, before anything is indexed.
pub(super) async fn open<'p>(
    plan: &'p Plan,
    qa: &QaPlan,
    servers: &mut Servers<'p>,
    models: &Models,
    interruption: &Interruption,
) -> Result<Ready> {
    let (replies, spending) = (&qa.judging.replies, &models.spending);
    let mut opener = Opener::new(&plan.resolved, servers, replies, spending, interruption);
    let answering = opener.answering(qa).await?;
    let judging = opener.judging(&qa.judging).await?;
    let mut cast = Cast::of(Some(&answering), &judging);
    if let Some(reranking) = models.reranking.as_ref().filter(|_| qa.profile.rerank) {
        cast.enter_reranker(reranking);
    }
    Ok(Ready {
        answering,
        judging,
        cast,
    })
}

/// Prints what the benchmark would take, and asks no model.
pub(super) async fn estimate(run: Run<'_>, qa: &QaPlan, ready: &Ready) -> Result<()> {
    // Of the search alone: the reranker would have to be asked.
    let searcher = searcher(run, qa, qa.profile.base.into()).await?;
    let text = estimate::text(run, qa, ready, &*searcher).await?;
    run.session.printer.result(&text)?;
    Ok(())
}

/// Answers and judges every question.
pub(super) async fn run(run: Run<'_>, qa: &QaPlan, ready: &Ready) -> Result<Finished> {
    let Run {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let printer = run.session.printer;
    if let Some(warning) = ready.cast.self_preference() {
        printer.warn(&warning);
    }
    let started = clock::now();
    let opening = open_folder(run, qa, ready, started);
    let opened = run.interruption.guard(opening).await?;
    prepared.spending.resume(costs::spent(
        &opened.finished,
        &ready.cast,
        &choices::prices(&plan.resolved),
    ));
    let searcher = run
        .interruption
        .guard(searcher(run, qa, qa.profile))
        .await?;
    let dataset = evaluators::enrol(
        qa::dataset(&plan.manifest.name, prepared.questions.iter().cloned())?,
        &ready.judging,
    );
    let closing = Closing {
        printer,
        cast: &ready.cast,
        prices: choices::prices(&plan.resolved),
        seed: arguments.control.seed,
        spending: &prepared.spending,
        traffic: &prepared.traffic,
        attempts_before: Attempts::so_far(&prepared.traffic),
    };
    let bar = Arc::new(CaseBar::new(printer, "answering"));
    let task = qa::task(
        searcher,
        Arc::clone(&ready.answering.answerer),
        settings(qa, prepared),
    );
    let report = Experiment::new(dataset, task)
        .case_timeout(plan::case_timeout(&plan.resolved)?)
        .name(format!("{} ({})", qa.name, qa.profile))
        .metadata("profile", qa.profile.to_string())
        .concurrency(plan.concurrency)
        .repeat(arguments.control.repeat)
        .cancellation(run.interruption.dropping())
        .stop(prepared.stop.clone())
        .elapsed_before(opened.elapsed)
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn evals::Journal<Qa>>)
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Qa>>)
        .run()
        .await;
    bar.clear();
    closing.close(report, opened.folder)
}

async fn open_folder(
    run: Run<'_>,
    qa: &QaPlan,
    ready: &Ready,
    started: DateTime<Utc>,
) -> Result<Opened> {
    let recorder = Recorder { run, started };
    let mut manifest = recorder.manifest(qa.profile);
    manifest.benchmark = "qa";
    manifest.name = &qa.name;
    manifest.measures = &[];
    manifest.refusals = &qa.refusal_sentences;
    manifest.k = qa.passages.get();
    manifest.prompts.clone_from(&ready.cast.prompts);
    manifest.parameters.clone_from(&ready.cast.parameters);
    for (role, identity) in &ready.cast.models {
        manifest.models.insert(role, identity);
    }
    let take_up = match (run.arguments.control.fresh, qa.refresh_failed) {
        (true, _) => TakeUp::Fresh,
        (false, true) => TakeUp::Failed,
        (false, false) => TakeUp::Unfinished,
    };
    let manifest = serde_json::to_value(&manifest).context("the manifest cannot be written")?;
    folder::open(run.session, &manifest, started, take_up).await
}

async fn searcher(run: Run<'_>, qa: &QaPlan, profile: SearchProfile) -> Result<Arc<dyn Searcher>> {
    let depth = Depth {
        documents: qa.passages.get(),
        passages: qa.passages.get(),
    };
    search::open(run, profile, depth).await
}

fn settings(qa: &QaPlan, prepared: &Prepared) -> Settings {
    let mut settings = Settings::new(qa.passages);
    settings.budget = Some(qa::Budget {
        tokens: qa.context_tokens,
        tokenizer: StaticEmbedder::static_minilm().tokenizer(),
    });
    settings.expansion = qa.radius.map(|radius| Expansion {
        neighbours: prepared.ready.index.neighbours(),
        radius,
    });
    settings
}

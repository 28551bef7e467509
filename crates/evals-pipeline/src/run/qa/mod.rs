//! The question answering benchmark: generates answers from retrieved passages, then judges and evaluates them.

pub(super) mod estimate;

use std::sync::Arc;

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals::{Case, TaskError, TaskScope};
use evals_local::StaticEmbedder;
use evals_rag::qa::{self, Answer, Expansion, Qa, Settings};
use evals_rag::{Searcher, asking_as};
use evals_runs::clock;
use evals_runs::run_record::Benchmark;
use futures::future::BoxFuture;

use super::manifest::{approximation, run_record};
use super::plan::answers::QaPlan;
use super::preparation::{QaModels, Run};
use super::search::{self, SearchDepth};
use crate::batches;
use crate::choices;
use crate::execution::Work;
use crate::exit::Exit;
use crate::finished_run::FinishedRun;
use crate::question_answering::{Answering, Attempts, Closing, spent};
use crate::resumption::{self, Opened, Resume};
use crate::search_profile::SearchProfile;
use crate::vector_search;

/// Prints the estimated calls, tokens and cost of the benchmark, without a call of a chat model.
pub(super) async fn estimate(run: Run<'_>, qa: &QaPlan, models: &QaModels) -> Result<()> {
    // Without the reranker, which would have to be asked.
    let searcher = searcher(run, qa, qa.profile.base.into()).await?;
    let text = estimate::text(run, qa, models, &*searcher).await?;
    run.session.printer.result(&text)?;
    Ok(())
}

/// Answers and judges every question, and prints and writes the results.
pub(super) async fn execute(run: Run<'_>, qa: &QaPlan, models: &QaModels) -> Result<Exit> {
    let Run { plan, prepared, .. } = run;
    let printer = run.session.printer;
    if prepared
        .questions
        .iter()
        .all(|question| question.answer.is_none())
    {
        printer.warn(&format!(
            "no question of `{}` has a reference answer, so answers are not judged; `--skip-qa` skips answering",
            plan.manifest.name
        ));
    }
    let answered = answer(run, qa, models).await?;
    let text = answered.text(printer)?;
    let gap = if plan.retrieval { "\n" } else { "" };
    printer.result(&format!("{gap}{text}"))?;
    // The retrieval benchmark writes to the files as they were named.
    let files: Vec<_> = plan
        .out
        .iter()
        .map(|file| {
            if plan.retrieval {
                file.of("qa")
            } else {
                file.clone()
            }
        })
        .collect();
    answered.close(printer, &files, run.interruption.is_interrupted())
}

/// Answers and judges the questions that are not finished yet.
async fn answer(run: Run<'_>, qa: &QaPlan, models: &QaModels) -> Result<FinishedRun<Qa>> {
    let Run {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let printer = run.session.printer;
    if let Some(warning) = models.model_set.self_preference() {
        printer.warn(&warning);
    }
    let opening = open_folder(run, qa, models, clock::now());
    let mut opened = run.interruption.guard(opening).await?;
    prepared.spending.resume(spent(
        &opened.finished,
        &models.model_set,
        &choices::prices(&plan.resolved),
    ));
    let searcher = run
        .interruption
        .guard(searcher(run, qa, qa.profile))
        .await?;
    let dataset = qa::dataset(&plan.manifest.name, prepared.questions.iter().cloned())?
        .clustered(plan.manifest.cluster.clone());
    let judging = &models.judging;
    let dataset = judging.add_evaluators(printer, dataset, &prepared.chosen);
    let closing = Closing {
        session: run.session,
        model_set: &models.model_set,
        prices: choices::prices(&plan.resolved),
        seed: arguments.control.seed,
        spending: &prepared.spending,
        traffic: &prepared.traffic,
        attempts_before: Attempts::so_far(&prepared.traffic),
        chosen: prepared.chosen.clone(),
        group_by: &arguments.results.group_by,
        facts: approximation(run, qa.profile)
            .map(vector_search::fact)
            .into_iter()
            .chain(batches::fact(&plan.resolved))
            .collect(),
    };
    let searcher = match &models.searches {
        Some(searches) => batches::limited(searcher, plan.concurrency, Arc::clone(searches)),
        None => searcher,
    };
    let texts = prepared.in_conversations(plan.resolved.settings.turns_read());
    let settings = settings(run, qa);
    let task = asking_as(texts, task(searcher, &models.answering, settings));
    let work = Work {
        name: format!("{} ({})", qa.name, qa.profile),
        dataset,
        task,
        metadata: vec![("profile", qa.profile.to_string().into())],
        timeout: Some(choices::case_timeout(&plan.resolved)?),
        doing: "answering".to_owned(),
    };
    let answered = run.execution().resume(work, &mut opened).await;
    closing.close(answered, opened.folder)
}

type Task = Box<
    dyn Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> + Send + Sync,
>;

/// The task: passages are searched for in advance, or by the answering model itself.
fn task(searcher: Arc<dyn Searcher>, answering: &Answering, settings: Settings) -> Task {
    match &answering.agent {
        Some(agent) => Box::new(qa::agent_task(searcher, agent.clone(), settings)),
        None => Box::new(qa::task(
            searcher,
            Arc::clone(&answering.answerer),
            settings,
        )),
    }
}

async fn open_folder(
    run: Run<'_>,
    qa: &QaPlan,
    models: &QaModels,
    started: DateTime<Utc>,
) -> Result<Opened<Qa>> {
    let mut record = run_record(run, qa.profile, started)?;
    record.benchmark = Benchmark::Qa;
    record.name.clone_from(&qa.name);
    if let Some(measured) = &mut record.measured {
        measured.measures.clear();
        measured.refusals.clone_from(&qa.refusal_sentences);
        measured.k = qa.passages.get();
    }
    record.prompts.clear();
    record.parameters = None;
    models.model_set.record_in(&mut record);
    let resume = match (run.arguments.control.fresh, qa.refresh_failed) {
        (true, _) => Resume::Fresh,
        (false, true) => Resume::Failed,
        (false, false) => Resume::Unfinished,
    };
    resumption::open(run.session, &record, started, resume).await
}

async fn searcher(run: Run<'_>, qa: &QaPlan, profile: SearchProfile) -> Result<Arc<dyn Searcher>> {
    let depth = SearchDepth {
        documents: qa.passages.get(),
        passages: qa.passages.get(),
    };
    search::open(run, profile, depth, None).await
}

fn settings(run: Run<'_>, qa: &QaPlan) -> Settings {
    let (prepared, set) = (run.prepared, &run.plan.resolved.settings);
    let mut settings = Settings::new(qa.passages);
    settings.in_batches = set.batch.enabled;
    settings.queries = prepared.queries.clone();
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

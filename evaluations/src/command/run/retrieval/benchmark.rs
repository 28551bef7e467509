//! The retrieval benchmark of one search profile: an experiment that measures its rankings.

use std::sync::Arc;

use anyhow::Result;
use evals::{Experiment, Observer, Report};
use evals_metrics::Bootstrap;
use evals_rag::{Retrieval, retrieval};

use super::latency_sample::LatencySample;
use crate::choices;
use crate::command::run::manifest::approximation;
use crate::command::run::preparation::Run;
use crate::command::run::search::{self, Depth};
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::page::{Documents, PageSource};
use crate::rankings::FinishedRankings;
use crate::run_folder::RunFolder;
use crate::search_profile::SearchProfile;
use crate::terminal::progress::CaseBar;
use crate::vector_search;

/// Searches every question with `profile` and measures the rankings. The caller writes the results into `folder`.
pub(super) async fn run(
    run: Run<'_>,
    profile: SearchProfile,
    folder: RunFolder,
) -> Result<FinishedRankings> {
    let Run {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let depth = Depth {
        documents: plan.k.get(),
        passages: 0,
    };
    let sampled = LatencySample::of(run, profile);
    let batch = sampled.as_ref().map(LatencySample::batch).cloned();
    let opening = search::open(run, profile, depth, batch);
    let searcher = run.interruption.guard(opening).await?;
    let dataset = retrieval::dataset(
        &plan.manifest.name,
        prepared.questions.iter().cloned(),
        plan.measures.clone(),
    )?
    .clustered(plan.manifest.cluster.clone());
    let bar = Arc::new(CaseBar::new(run.session.printer, &profile.to_string()));
    let task = retrieval::task(searcher, plan.k, plan.identical_ids);
    let mut experiment = Experiment::new(dataset, task)
        .name(format!("{} ({profile})", plan.name))
        .metadata("profile", profile.to_string());
    let reranking = prepared.reranking.as_ref().filter(|_| profile.rerank);
    if let Some(reranking) = reranking {
        experiment = experiment.metadata("reranker", reranking.describe());
    }
    let experiment = experiment
        .concurrency(plan.concurrency)
        .repeat(arguments.control.repeat)
        .cancellation(run.interruption.abort_token())
        .stop(prepared.stop.clone())
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Retrieval>>);
    let limit = FailureLimit::new::<Retrieval>(arguments.control.max_failures, &[]);
    let mut report = limit.stop(experiment).run().await;
    bar.clear();
    let reranking = reranking.map(|it| it.account(&report, &choices::prices(&plan.resolved)));
    let mut facts = Vec::new();
    facts.extend(approximation(run, profile).map(vector_search::fact));
    let chosen = &prepared.chosen;
    facts.extend(chosen.lines("questions"));
    chosen.enter(&mut report.metadata)?;
    if let Some(sampled) = &sampled {
        facts.push(sampled.fact());
    }
    facts.extend(
        reranking
            .iter()
            .map(|account| ("reranking".to_owned(), account.clone())),
    );
    if !facts.is_empty() {
        let facts = serde_json::to_value(facts)?;
        report
            .metadata
            .insert(Report::<Retrieval>::FACTS.to_owned(), facts);
    }
    let bootstrap = Bootstrap {
        seed: arguments.control.seed,
        ..Bootstrap::default()
    };
    let summary = report.summary(&bootstrap);
    let summary = add_groups(
        run.session.printer,
        &report,
        summary,
        &arguments.results.group_by,
        &bootstrap,
    );
    let index = &prepared.ready.index;
    let documents = Documents::of_index(index, &[&report]).await;
    let source = PageSource::of_run(&folder, arguments.control.seed, documents);
    Ok(FinishedRankings {
        source,
        label: profile.to_string(),
        report,
        summary,
        folder,
        reranking,
    })
}

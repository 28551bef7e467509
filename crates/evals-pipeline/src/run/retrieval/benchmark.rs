//! The retrieval benchmark of one search profile: an experiment that measures its rankings.

use anyhow::Result;
use evals::Report;
use evals_rag::{Retrieval, asking_as, retrieval};
use evals_runs::run_folder::RunFolder;

use super::latency_sample::LatencySample;
use crate::choices;
use crate::execution::{Ran, Work};
use crate::finished_run::FinishedRun;
use crate::groups;
use crate::indexed_documents;
use crate::judged;
use crate::run::manifest::approximation;
use crate::run::preparation::Run;
use crate::run::search::{self, SearchDepth};
use crate::run::spans;
use crate::run_ending::Reached;
use crate::run_models::{reranker, rewriter};
use crate::search_profile::SearchProfile;
use crate::vector_search;

/// Searches every question with `profile`, measures the rankings, and writes the results into `folder`.
pub(super) async fn run(
    run: Run<'_>,
    profile: SearchProfile,
    folder: RunFolder,
) -> Result<FinishedRun<Retrieval>> {
    let Run { plan, prepared, .. } = run;
    let reading = spans::measures(&prepared.collection, &prepared.questions);
    let spans = run.interruption.guard(reading).await?;
    let depth = SearchDepth {
        documents: plan.k.get(),
        passages: spans.as_ref().map_or(0, |_| spans::PASSAGES),
    };
    let sampled = LatencySample::of(run, profile);
    let batch = sampled.as_ref().map(LatencySample::batch).cloned();
    let opening = search::open(run, profile, depth, batch);
    let searcher = run.interruption.guard(opening).await?;
    let (name, questions) = (&plan.manifest.name, prepared.questions.iter().cloned());
    let mut dataset = retrieval::dataset(name, questions, plan.measures.clone())?
        .clustered(plan.manifest.cluster.clone());
    if let Some(spans) = spans {
        dataset = dataset.evaluator(spans);
    }
    let mut metadata = vec![("profile", profile.to_string().into())];
    let reranking = prepared.reranking.as_ref().filter(|_| profile.rerank);
    metadata.extend(reranking.map(|it| ("reranker", it.describe())));
    metadata.extend(
        prepared
            .rewriting
            .as_ref()
            .map(|it| ("rewriter", it.describe())),
    );
    metadata.extend(judged::incompleteness(&plan.manifest));
    let work = Work {
        name: format!("{} ({profile})", plan.name),
        dataset,
        task: asking_as(
            prepared.queries.clone(),
            retrieval::task(searcher, plan.k, plan.identical_ids),
        ),
        metadata,
        timeout: None,
        doing: profile.to_string(),
    };
    let Ran {
        mut report,
        too_many_failed,
    } = run.execution().measure(work).await;
    enter_facts(run, profile, &mut report, sampled.as_ref())?;
    let (printer, keys) = (run.session.printer, &run.arguments.results.group_by);
    let summary = groups::summary(printer, &report, run.arguments.control.seed, keys);
    let index = &prepared.ready.index;
    let documents = indexed_documents::of_index(index, &[&report]).await;
    let shown = (run.arguments.control.seed, documents);
    let reached = Reached {
        failures: too_many_failed,
        budget: prepared.spending.is_spent(),
    };
    FinishedRun::write_rankings(printer, shown, (report, summary), folder, reached)
}

/// Adds the lines below the title to a report.
fn enter_facts(
    run: Run<'_>,
    profile: SearchProfile,
    report: &mut Report<Retrieval>,
    sampled: Option<&LatencySample>,
) -> Result<()> {
    let prepared = run.prepared;
    let chosen = &prepared.chosen;
    let prices = choices::prices(&run.plan.resolved);
    let reranking = prepared.reranking.as_ref().filter(|_| profile.rerank);
    chosen.enter(&mut report.metadata)?;
    let mut facts = Vec::new();
    facts.extend(approximation(run, profile).map(vector_search::fact));
    facts.extend(chosen.lines("questions"));
    facts.extend(sampled.map(LatencySample::fact));
    facts.extend(prepared.rewriting.as_ref().map(|rewriting| {
        let account = rewriter::account(rewriting.model.identity(), report, &prices);
        (rewriter::LABEL.to_owned(), account)
    }));
    facts.extend(reranking.map(|it| (reranker::LABEL.to_owned(), it.account(report, &prices))));
    if !facts.is_empty() {
        let key = Report::<Retrieval>::FACTS.to_owned();
        report.metadata.insert(key, serde_json::to_value(facts)?);
    }
    Ok(())
}

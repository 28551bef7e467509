//! The record of a run of our own pipeline.

use std::num::NonZeroUsize;

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals_index::{Approximation, SearchOptions};
use evals_runs::run_record::{
    Benchmark, DatasetRecord, IndexRecord, MeasuredRecord, RecordedSettings, RunRecord, System,
};
use evals_settings::redaction;
use serde_json::{Value, json};

use super::preparation::Run;
use crate::question_answering::ModelSet;
use crate::search_profile::SearchProfile;

/// The approximate search that a profile uses; `None` if it searches exactly.
pub(super) fn approximation(run: Run<'_>, profile: SearchProfile) -> Option<&Approximation> {
    let index = &run.prepared.ready.index;
    index
        .approximation()
        .filter(|_| profile.base.needs_embeddings())
}

/// The record of a retrieval run. Question answering replaces the members that differ.
pub(super) fn run_record(
    run: Run<'_>,
    profile: SearchProfile,
    started: DateTime<Utc>,
) -> Result<RunRecord> {
    let Run {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let ready = &prepared.ready;
    let embedder = ready.index.identity().embedder();
    let models = embedder
        .iter()
        .map(|embedder| ("embedder".to_owned(), embedder.model.clone()))
        .collect();
    let mut record = RunRecord {
        benchmark: Benchmark::Retrieval,
        name: plan.name.clone(),
        profile: profile.to_string(),
        dataset: DatasetRecord {
            name: plan.manifest.name.clone(),
            provenance: json!(prepared.collection.provenance()),
            questions: prepared.questions.len(),
            unanswerable: prepared
                .questions
                .iter()
                .filter(|question| !question.answerable)
                .count(),
            limit: arguments.control.limit.map(NonZeroUsize::get),
            selection: prepared.chosen.selection.clone(),
            shard: prepared.shard.clone(),
            ..DatasetRecord::default()
        },
        settings: RecordedSettings::of(&plan.resolved.settings)?,
        settings_from: plan.resolved.origins(),
        system: System::Pipeline(Box::new(index(run, profile))),
        models,
        measured: Some(MeasuredRecord {
            measures: plan.measures.iter().map(ToString::to_string).collect(),
            k: plan.k.get(),
            candidates: Some(SearchOptions::CANDIDATES.get()),
            filter: arguments.retrieval.filter.clone(),
            refusals: Vec::new(),
        }),
        seed: arguments.control.seed,
        repeat: arguments.control.repeat.get(),
        concurrency: plan.concurrency.get(),
        ..RunRecord::begun(started)
    };
    of_search(run, profile).record_in(&mut record);
    Ok(record)
}

/// The models that a search asks.
fn of_search(run: Run<'_>, profile: SearchProfile) -> ModelSet {
    let mut models = ModelSet::default();
    let reranking = run.prepared.reranking.as_ref();
    if let Some(reranking) = reranking.filter(|_| profile.rerank) {
        models.enter_reranker(reranking);
    }
    if let Some(rewriting) = &run.prepared.rewriting {
        models.enter_prompted("rewriter", rewriting);
    }
    models
}

fn index(run: Run<'_>, profile: SearchProfile) -> IndexRecord {
    let ready = &run.prepared.ready;
    let approximate = approximation(run, profile);
    let build = approximate.and_then(|_| ready.index.vectors_build());
    IndexRecord {
        uri: redaction::address(ready.store.uri()),
        table: ready.index.identity().table_name(),
        identity: json!(ready.index.identity()),
        approximate: approximate.map(|it| json!(it)),
        vectors_build: build.map(str::to_owned),
        statistics: json!(ready.statistics),
        build: ready.build.as_ref().map_or(Value::Null, |it| json!(it)),
    }
}

//! The manifest of a run.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use chrono::{DateTime, Utc};
use evals_index::{Approximation, SearchOptions};

use super::preparation::Run;
use crate::clock::timestamp;
use crate::redaction;
use crate::run_folder::{DatasetRecord, IndexRecord, MANIFEST_VERSION, RunManifest, Tool};
use crate::search_profile::SearchProfile;

/// The approximate search that a profile uses; `None` if it searches exactly.
pub(super) fn approximation(run: Run<'_>, profile: SearchProfile) -> Option<&Approximation> {
    let index = &run.prepared.ready.index;
    index
        .approximation()
        .filter(|_| profile.base.needs_embeddings())
}

/// The manifest of a retrieval run. Question answering replaces the fields that differ.
pub(super) fn manifest(
    run: Run<'_>,
    profile: SearchProfile,
    started: DateTime<Utc>,
) -> RunManifest<'_> {
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
        .map(|embedder| ("embedder", &embedder.model))
        .collect();
    let approximate = approximation(run, profile);
    let mut manifest = RunManifest {
        schema_version: MANIFEST_VERSION,
        tool: Tool::default(),
        benchmark: "retrieval",
        name: &plan.name,
        profile: profile.to_string(),
        started: timestamp(started),
        command_line: redaction::command_line(),
        dataset: DatasetRecord {
            name: &plan.manifest.name,
            provenance: prepared.collection.provenance(),
            questions: prepared.questions.len(),
            unanswerable: prepared
                .questions
                .iter()
                .filter(|question| !question.answerable)
                .count(),
            limit: arguments.control.limit.map(NonZeroUsize::get),
            selection: prepared.chosen.selection.as_ref(),
            shard: prepared.shard.as_ref(),
        },
        settings: &plan.resolved.settings,
        settings_from: plan.resolved.origins(),
        index: Some(IndexRecord {
            uri: redaction::address(ready.store.uri()),
            table: ready.index.identity().table_name(),
            identity: ready.index.identity(),
            approximate,
            vectors_build: approximate.and(ready.index.vectors_build()),
            statistics: &ready.statistics,
            build: ready.build.as_ref(),
        }),
        target: None,
        models,
        parameters: BTreeMap::new(),
        prompts: BTreeMap::new(),
        measures: &plan.measures,
        k: plan.k.get(),
        candidates: Some(SearchOptions::CANDIDATES.get()),
        filter: arguments.retrieval.filter.as_deref(),
        refusals: &[],
        seed: arguments.control.seed,
        repeat: arguments.control.repeat.get(),
        concurrency: plan.concurrency.get(),
    };
    if let Some(reranking) = prepared.reranking.as_ref().filter(|_| profile.rerank) {
        reranking.enter(&mut manifest);
    }
    manifest
}

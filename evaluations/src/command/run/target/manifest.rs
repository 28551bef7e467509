//! The manifests of both benchmarks of a target, and what makes two runs the same.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::TargetRun;
use super::preparation::TargetQa;
use crate::clock::{self, timestamp};
use crate::redaction;
use crate::run_folder::{DatasetRecord, MANIFEST_VERSION, RunManifest, Tool, identity};

/// The identities of the benchmarks that run. The recorded replies belong to a run of these.
pub(super) fn identity_of(run: TargetRun<'_>) -> Result<Value> {
    let started = clock::now();
    let identity = |manifest: &RunManifest<'_>| -> Result<Value> {
        let manifest = serde_json::to_value(manifest);
        Ok(identity(
            &manifest.context("cannot serialise the manifest")?,
        ))
    };
    let retrieval = run.plan.retrieval.then(|| of_retrieval(run, started));
    let qa = run.prepared.qa.as_ref();
    let qa = qa.map(|models| of_answers(run, models, started));
    Ok(json!({
        "retrieval": retrieval.as_ref().map(identity).transpose()?,
        "qa": qa.as_ref().map(identity).transpose()?,
    }))
}

/// The manifest of question answering.
pub(super) fn of_answers<'r>(
    run: TargetRun<'r>,
    models: &'r TargetQa,
    started: DateTime<Utc>,
) -> RunManifest<'r> {
    let models = &models.model_set;
    let identities = models.models.iter();
    RunManifest {
        benchmark: "qa",
        name: &run.plan.qa_name,
        measures: &[],
        refusals: &run.plan.manifest.unanswerable,
        models: identities.map(|(role, model)| (*role, model)).collect(),
        parameters: models.parameters.clone(),
        prompts: models.prompts.clone(),
        ..of_retrieval(run, started)
    }
}

/// The manifest of the retrieval benchmark.
pub(super) fn of_retrieval(run: TargetRun<'_>, started: DateTime<Utc>) -> RunManifest<'_> {
    let TargetRun {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let unanswerable = prepared.questions.iter();
    let unanswerable = unanswerable.filter(|question| !question.answerable);
    RunManifest {
        schema_version: MANIFEST_VERSION,
        tool: Tool::default(),
        benchmark: "retrieval",
        name: &plan.retrieval_name,
        profile: prepared.target.identity().to_string(),
        started: timestamp(started),
        command_line: redaction::command_line(),
        dataset: DatasetRecord {
            name: &plan.manifest.name,
            provenance: prepared.collection.provenance(),
            questions: prepared.questions.len(),
            unanswerable: unanswerable.count(),
            limit: arguments.control.limit.map(NonZeroUsize::get),
            selection: prepared.chosen.selection.as_ref(),
            shard: prepared.shard.as_ref(),
        },
        settings: &plan.resolved.settings,
        settings_from: plan.resolved.origins(),
        index: None,
        target: Some(prepared.target.identity()),
        models: BTreeMap::new(),
        parameters: BTreeMap::new(),
        prompts: BTreeMap::new(),
        measures: &plan.measures,
        k: plan.k.get(),
        candidates: None,
        filter: None,
        refusals: &[],
        seed: arguments.control.seed,
        repeat: arguments.control.repeat.get(),
        concurrency: plan.concurrency.get(),
    }
}

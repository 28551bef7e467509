//! The manifest of a run of a target.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use chrono::{DateTime, Utc};

use super::TargetRun;
use crate::clock::timestamp;
use crate::redaction;
use crate::run_folder::{DatasetRecord, MANIFEST_VERSION, RunManifest, Tool};

/// The manifest of a retrieval run. Question answering replaces the fields that differ.
pub(super) fn manifest(run: TargetRun<'_>, started: DateTime<Utc>) -> RunManifest<'_> {
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
            selection: prepared.selection.as_ref(),
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

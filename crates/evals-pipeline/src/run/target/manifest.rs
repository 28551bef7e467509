//! The records of both benchmarks of a target, and what makes two runs the same.

use std::num::NonZeroUsize;

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals_rag::Question;
use evals_runs::clock;
use evals_runs::run_record::{
    Benchmark, DatasetRecord, MeasuredRecord, RecordedSettings, RunRecord, System,
};
use evals_settings::Conversations;
use serde_json::{Value, json};

use super::TargetRun;
use super::plan::TargetPlan;
use super::preparation::TargetQa;
use crate::question_answering::ModelSet;
use crate::run_models::user::USER;

/// The identities of the benchmarks that run. The recorded replies belong to a run of these.
pub(super) fn identity_of(run: TargetRun<'_>) -> Result<Value> {
    let started = clock::now();
    let retrieval = run.plan.retrieval.then(|| of_retrieval(run, started));
    let qa = run.prepared.qa.as_ref();
    let qa = qa.map(|models| of_answers(run, models, started));
    let identity = |record: RunRecord| record.identity();
    Ok(json!({
        "retrieval": retrieval.transpose()?.map(identity),
        "qa": qa.transpose()?.map(identity),
    }))
}

/// The record of question answering.
pub(super) fn of_answers(
    run: TargetRun<'_>,
    models: &TargetQa,
    started: DateTime<Utc>,
) -> Result<RunRecord> {
    let mut record = RunRecord {
        benchmark: Benchmark::Qa,
        name: run.plan.qa_name.clone(),
        measured: Some(MeasuredRecord {
            refusals: run.plan.manifest.unanswerable.clone(),
            k: run.plan.k.get(),
            ..MeasuredRecord::default()
        }),
        ..of_retrieval(run, started)?
    };
    models.model_set.record_in(&mut record);
    Ok(record)
}

/// The settings. Those of conversations are among them if the dataset has conversations, so that two runs can be compared of which one has
/// the defaults.
fn settings(plan: &TargetPlan, questions: &[Question]) -> Result<RecordedSettings> {
    let settings = &plan.resolved.settings;
    let mut tree = serde_json::to_value(settings)?;
    if questions.iter().any(|question| question.turn.is_some()) {
        let conversations = Conversations {
            history: plan.history,
            ..settings.conversations.clone()
        };
        tree["conversations"] = serde_json::to_value(conversations)?;
    }
    RecordedSettings::of(&tree)
}

/// The record of the retrieval benchmark.
pub(super) fn of_retrieval(run: TargetRun<'_>, started: DateTime<Utc>) -> Result<RunRecord> {
    let TargetRun {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let unanswerable = prepared.questions.iter();
    let unanswerable = unanswerable.filter(|question| !question.answerable);
    let mut record = RunRecord {
        benchmark: Benchmark::Retrieval,
        name: plan.retrieval_name.clone(),
        profile: prepared.target.identity().to_string(),
        dataset: DatasetRecord {
            name: plan.manifest.name.clone(),
            provenance: json!(prepared.collection.provenance()),
            questions: prepared.questions.len(),
            unanswerable: unanswerable.count(),
            limit: arguments.control.limit.map(NonZeroUsize::get),
            selection: prepared.chosen.selection.clone(),
            shard: prepared.shard.clone(),
            ..DatasetRecord::default()
        },
        settings: settings(plan, &prepared.questions)?,
        settings_from: plan.resolved.origins(),
        system: System::Target(prepared.target.identity().clone()),
        measured: Some(MeasuredRecord {
            measures: plan.measures.iter().map(ToString::to_string).collect(),
            k: plan.k.get(),
            ..MeasuredRecord::default()
        }),
        seed: arguments.control.seed,
        repeat: arguments.control.repeat.get(),
        concurrency: plan.concurrency.get(),
        ..RunRecord::begun(started)
    };
    let mut models = ModelSet::default();
    if let Some((user, _)) = &prepared.user {
        models.enter_prompted(USER, user);
    }
    models.record_in(&mut record);
    Ok(record)
}

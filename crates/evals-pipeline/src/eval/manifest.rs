//! The record of a run of a dataset file.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals_runs::run_record::{Benchmark, DatasetRecord, RecordedSettings, RunRecord, System};
use evals_targets::TargetIdentity;
use serde_json::json;

use super::judges::OpenedJudges;
use super::plan::Plan;
use crate::options::EvalArgs;
use crate::run_models::Prompts;

/// Everything that the results depend on. Settings of parts that a dataset file does not use are left out, so that changing them
/// does not keep a run from being resumed.
pub(super) fn run_record(
    plan: &Plan,
    arguments: &EvalArgs,
    target: &TargetIdentity,
    judges: &OpenedJudges,
    started: DateTime<Utc>,
) -> Result<RunRecord> {
    let control = &arguments.control;
    let mut models = BTreeMap::new();
    let mut parameters = BTreeMap::new();
    for (role, model) in judges.roles() {
        models.insert(role.clone(), model.identity().clone());
        parameters.insert(role.clone(), model.parameters());
    }
    let is_judged = !plan.judges.is_empty();
    let prompts = Prompts::digests(plan.prompts.all().into_iter().filter(|_| is_judged));
    let mut settings = RecordedSettings::of(&json!({"target": plan.target}))?;
    if is_judged {
        let all = RecordedSettings::of(&plan.resolved.settings)?;
        settings.replace(&["evaluations", "providers", "prices"], &all);
    }
    let file = plan.source.path.file_name();
    let is_shard = plan.shard.is_some();
    Ok(RunRecord {
        benchmark: Benchmark::Eval,
        name: plan.name.clone(),
        profile: target.kind.clone(),
        dataset: DatasetRecord {
            name: plan.file.name.clone(),
            file: file.map(|name| name.to_string_lossy().into_owned()),
            provenance: json!({"digest": plan.source.digest}),
            questions: plan.chosen.len(),
            unanswerable: 0,
            limit: control.limit.map(NonZeroUsize::get),
            selection: plan.cases.selection.clone(),
            shard: plan.shard.clone(),
            report_evaluators: if is_shard {
                plan.report_evaluators()?
            } else {
                Vec::new()
            },
            judges_vote: is_shard && plan.judges.votes,
        },
        system: System::Target(target.clone()),
        settings,
        settings_from: plan.resolved.origins(),
        models,
        parameters: Some(Some(parameters)),
        prompts,
        seed: control.seed,
        repeat: control.repeat.get(),
        concurrency: plan.concurrency.get(),
        ..RunRecord::begun(started)
    })
}

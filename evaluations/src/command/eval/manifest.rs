//! The manifest of a run of a dataset file.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use evals_targets::TargetIdentity;
use serde_json::{Value, json};

use super::judges::OpenedJudges;
use super::plan::Plan;
use crate::cli::EvalArgs;
use crate::clock::timestamp;
use crate::eval_report::{REPORT_EVALUATORS, VOTES};
use crate::redaction;
use crate::run_folder::{MANIFEST_VERSION, Tool};
use crate::run_models::Prompts;

/// Everything that the results depend on. Settings of parts that a dataset file does not use are left out, so that changing them
/// does not keep a run from being resumed.
pub(super) fn manifest(
    plan: &Plan,
    arguments: &EvalArgs,
    target: &TargetIdentity,
    judges: &OpenedJudges,
    started: DateTime<Utc>,
) -> Result<Value> {
    let control = &arguments.control;
    let mut models = BTreeMap::new();
    let mut parameters = BTreeMap::new();
    for (role, model) in judges.roles() {
        models.insert(role.clone(), model.identity().clone());
        parameters.insert(role, model.parameters());
    }
    let is_judged = !plan.judges.is_empty();
    let prompts = Prompts::digests(plan.prompts.all().into_iter().filter(|_| is_judged));
    let mut settings = json!({"target": plan.target});
    if is_judged {
        let all = serde_json::to_value(&plan.resolved.settings);
        let all = all.context("cannot serialise the settings")?;
        for section in ["evaluations", "providers", "prices"] {
            settings[section] = all[section].clone();
        }
    }
    let mut manifest = json!({
        "schema_version": MANIFEST_VERSION,
        "tool": Tool::default(),
        "benchmark": "eval",
        "name": plan.name,
        "profile": target.kind,
        "started": timestamp(started),
        "command_line": redaction::command_line(),
        "dataset": {
            "name": plan.file.name,
            "file": plan.source.path.file_name().map(OsStr::to_string_lossy),
            "provenance": {"digest": plan.source.digest},
            "questions": plan.chosen.len(),
            "limit": control.limit,
        },
        "target": target,
        "settings": settings,
        "settings_from": plan.resolved.origins(),
        "models": models,
        "parameters": parameters,
        "prompts": prompts,
        "seed": control.seed,
        "repeat": control.repeat,
        "concurrency": plan.concurrency,
    });
    if let Some(selection) = &plan.cases.selection {
        manifest["dataset"]["selection"] = serde_json::to_value(selection)?;
    }
    if let Some(shard) = &plan.shard {
        manifest["dataset"]["shard"] = serde_json::to_value(shard)?;
        // `evaluations runs merge` lets them judge the whole report, without the file.
        let report_evaluators = plan.report_evaluators()?;
        if !report_evaluators.is_empty() {
            manifest["dataset"][REPORT_EVALUATORS] = report_evaluators.into();
        }
        if plan.judges.votes {
            manifest["dataset"][VOTES] = true.into();
        }
    }
    Ok(manifest)
}

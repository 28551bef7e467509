//! The manifest of a merged run.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::shard_run::ShardRun;
use super::shards_of_run::ShardsOfRun;
use crate::clock::timestamp;
use crate::eval_report::{REPORT_EVALUATORS, VOTES};
use crate::redaction;
use crate::run_folder::MERGED;

/// The manifest that one machine would have written, and the shards that the run was merged from.
pub(super) fn merged(run: &ShardsOfRun, started: DateTime<Utc>) -> Value {
    let mut manifest = run.first().manifest.clone();
    manifest["started"] = timestamp(started).into();
    manifest["command_line"] = redaction::command_line().into();
    let dataset = &mut manifest["dataset"];
    dataset["questions"] = run.cases().into();
    let unanswerable = run.shards().iter().map(unanswerable).sum::<u64>();
    // As `evaluations run` records it: only if it is not 0.
    if unanswerable > 0 {
        dataset["unanswerable"] = unanswerable.into();
    }
    if let Some(dataset) = dataset.as_object_mut() {
        for of_shards in ["shard", REPORT_EVALUATORS, VOTES] {
            dataset.shift_remove(of_shards);
        }
    }
    if manifest["index"].is_object() {
        // One of the shards may have built the index of all.
        let mut builds = run.shards().iter().map(|it| &it.manifest["index"]["build"]);
        let build = builds.find(|build| !build.is_null());
        manifest["index"]["build"] = build.cloned().unwrap_or_default();
    }
    let shards = run.shards().iter().map(|shard| {
        json!({
            "run": shard.name(),
            "shard": shard.record.shard.index,
            "cases": shard.header.dataset.questions,
            "started": shard.header.started,
            "command_line": shard.header.command_line,
        })
    });
    let shards: Vec<Value> = shards.collect();
    manifest[MERGED] = json!({"of": run.first().record.shard.of, "shards": shards});
    manifest
}

/// The questions of a shard that the corpus does not answer.
fn unanswerable(shard: &ShardRun) -> u64 {
    let unanswerable = &shard.manifest["dataset"]["unanswerable"];
    unanswerable.as_u64().unwrap_or_default()
}

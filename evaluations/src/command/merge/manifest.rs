//! The record of a merged run.

use chrono::{DateTime, Utc};
use evals_runs::run_record::{Merge, MergedShard, Origin, RunRecord, System};

use super::shard_run::ShardRun;
use super::shards_of_run::ShardsOfRun;

/// The record that one machine would have written, and the shards that the run was merged from.
pub(super) fn merged(run: &ShardsOfRun, started: DateTime<Utc>) -> RunRecord {
    let mut record = run.first().record().clone();
    let begun = RunRecord::begun(started);
    record.started = begun.started;
    record.command_line = begun.command_line;
    let dataset = &mut record.dataset;
    dataset.questions = run.cases();
    let of_shard = |shard: &ShardRun| shard.record().dataset.unanswerable;
    dataset.unanswerable = run.shards().iter().map(of_shard).sum();
    dataset.shard = None;
    dataset.report_evaluators.clear();
    dataset.judges_vote = false;
    if let System::Pipeline(index) = &mut record.system {
        // One of the shards may have built the index of all.
        let builds = run
            .shards()
            .iter()
            .map(|it| Some(&it.record().index()?.build));
        let build = builds.flatten().find(|build| !build.is_null());
        index.build = build.cloned().unwrap_or_default();
    }
    let shards = run.shards().iter().map(|shard| MergedShard {
        run: shard.name(),
        shard: shard.header().index,
        cases: shard.record().dataset.questions,
        started: shard.record().started.clone(),
        command_line: shard.record().command_line.clone(),
    });
    record.origin = Origin::Merge(Merge {
        of: run.first().header().of,
        shards: shards.collect(),
    });
    record
}

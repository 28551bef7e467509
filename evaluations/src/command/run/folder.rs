//! What a retrieval run leaves in its folder.

use std::collections::BTreeMap;

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals::{Report, render};
use evals_index::SearchOptions;
use evals_metrics::Qrels;
use evals_rag::Retrieval;

use super::Run;
use super::manifest::{DatasetRecord, IndexRecord, RunManifest, Tool};
use super::retrieval::Finished;
use crate::redaction;
use crate::run_folder::{MANIFEST_VERSION, RunFolder, timestamp};
use crate::search_profile::SearchProfile;
use crate::trec_ids::TrecIds;

/// Opens one run's folder and writes its manifest, before the run.
pub(super) struct Recorder<'r> {
    pub(super) run: Run<'r>,
    pub(super) started: DateTime<Utc>,
}

impl<'r> Recorder<'r> {
    pub(super) fn open(&self, profile: SearchProfile) -> Result<RunFolder> {
        let name = format!("{}-{profile}", self.run.plan.name);
        let runs = self.run.session.directories.runs();
        let folder = RunFolder::create(&runs, self.started, &name)?;
        folder.write_manifest(&self.manifest(profile))?;
        Ok(folder)
    }

    /// The manifest of a retrieval run.
    pub(super) fn manifest(&self, profile: SearchProfile) -> RunManifest<'r> {
        let Run {
            arguments,
            plan,
            prepared,
            ..
        } = self.run;
        let ready = &prepared.ready;
        let embedder = ready.index.identity().embedder();
        let models = embedder
            .iter()
            .map(|embedder| ("embedder", &embedder.model))
            .collect();
        let mut manifest = RunManifest {
            schema_version: MANIFEST_VERSION,
            tool: Tool::default(),
            benchmark: "retrieval",
            name: &plan.name,
            profile: profile.to_string(),
            started: timestamp(self.started),
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
                limit: arguments.control.limit.map(std::num::NonZeroUsize::get),
            },
            settings: &plan.resolved.settings,
            settings_from: plan.resolved.origins(),
            index: IndexRecord {
                uri: redaction::address(ready.store.uri()),
                table: ready.index.identity().table_name(),
                identity: ready.index.identity(),
                statistics: &ready.statistics,
                build: ready.build.as_ref(),
            },
            models,
            parameters: BTreeMap::new(),
            prompts: BTreeMap::new(),
            measures: &plan.measures,
            k: plan.k.get(),
            candidates: SearchOptions::CANDIDATES.get(),
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
}

/// Writes what a finished run found.
pub(super) fn record(finished: &Finished) -> Result<()> {
    let Finished {
        report,
        summary,
        folder,
        ..
    } = finished;
    let (qrels, run) = rankings(report);
    let ids = TrecIds::of(&qrels, &run);
    let tag = finished.profile.to_string();
    folder.write("run.trec", |file| ids.write_run(file, &run, &tag))?;
    folder.write("qrels.trec", |file| ids.write_qrels(file, &qrels))?;
    folder.write("report.md", |file| {
        render::markdown::report(file, report, summary)
    })?;
    // The report comes last: a folder that has one has everything.
    folder.write("report.json", |file| {
        render::json::report(file, report, summary)
    })
}

/// The judgements and rankings of a report. A question that the corpus does not answer has no judgements. Of repeated questions the first repetition counts; the others found the
/// same, or the report says otherwise.
fn rankings(report: &Report<Retrieval>) -> (Qrels, evals_metrics::Run) {
    let mut qrels = Qrels::new();
    let mut run = evals_metrics::Run::new();
    for case in report.cases.iter().filter(|case| case.repeat == 1) {
        if case.metadata.answerable
            && let Some(judgements) = &case.expected
        {
            qrels.insert(case.id.to_string(), judgements.clone());
        }
        if let Some(retrieved) = case.result.output() {
            run.insert(case.id.to_string(), retrieved.ranking.clone());
        }
    }
    (qrels, run)
}

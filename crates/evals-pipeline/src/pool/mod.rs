//! `evaluations pool`: has the passages that runs retrieved graded, and measures the runs by the grades.

mod grading;
mod people;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use anyhow::{Context as _, Result};
use evals::render::Narrow;
use evals_metrics::Bootstrap;
use evals_rag::Document;
use evals_runs::pooling::{
    Assessor, JudgementFile, Pool, PoolReport, PoolSettings, PooledRun, pooled_documents,
};
use evals_runs::stored_runs::{self, StoredRun};
use evals_terminal::{table_text, wrapped};

use self::grading::Grading;
use crate::downloads;
use crate::exit::Exit;
use crate::interruption::{Interruption, interruptible};
use crate::options::PoolArgs;
use crate::session::Session;

/// The depth of a pool unless the user names one: that of the measures most people report.
const DEPTH: NonZeroUsize = NonZeroUsize::new(10).expect("10 is not 0");

/// Grades the passages that runs retrieved, exchanges grades with people, and measures the runs.
///
/// # Errors
///
/// If there is no such run, runs are of different data, the settings or the model are unusable, or grades cannot be stored.
pub fn execute(session: &Session<'_>, arguments: &PoolArgs) -> Result<Exit> {
    let stored = session.stored_runs();
    let runs = arguments.runs.iter().map(|wanted| {
        let run = stored.find(wanted)?;
        stored.note_incomplete(&run);
        Ok(run)
    });
    let runs: Vec<StoredRun> = runs.collect::<Result<_>>()?;
    interruptible(session.printer, async |interruption| {
        let command = Box::pin(Command::open(session, arguments, &runs, interruption)).await?;
        Box::pin(command.run(interruption)).await
    })
}

/// The runs with their pool and the file of its judgements.
struct Command<'c> {
    session: &'c Session<'c>,
    arguments: &'c PoolArgs,
    runs: Vec<PooledRun>,
    pool: Pool,
    file: JudgementFile,
}

impl<'c> Command<'c> {
    async fn open(
        session: &'c Session<'c>,
        arguments: &'c PoolArgs,
        stored: &[StoredRun],
        interruption: &Interruption,
    ) -> Result<Self> {
        let pooled = stored.iter().zip(stored_runs::labels(stored));
        let pooled = pooled.map(|(run, label)| PooledRun::of(run, label));
        let runs: Vec<PooledRun> = pooled.collect::<Result<_>>()?;
        let depths = stored.iter().filter_map(|run| run.record.measured.as_ref());
        let shallowest = depths.filter_map(|it| NonZeroUsize::new(it.k)).min();
        let default = shallowest.map_or(DEPTH, |depth| depth.min(DEPTH));
        let depth = arguments.k.unwrap_or(default);
        let ids = pooled_documents(&runs, depth);
        let reading = Box::pin(documents(session, arguments, stored, ids));
        let documents = interruption.guard(reading).await?;
        let pool = Pool::of(&runs, depth, &documents)?;
        Ok(Self {
            file: JudgementFile::of(&session.directories, &pool.dataset),
            session,
            arguments,
            runs,
            pool,
        })
    }

    async fn run(&self, interruption: &Interruption) -> Result<Exit> {
        if let Some(path) = &self.arguments.export {
            self.export(path)?;
            return Ok(Exit::Done);
        }
        if let Some(path) = &self.arguments.import {
            self.import(path)?;
        }
        let grading = Grading::open(self, interruption).await?;
        let mut problems = Vec::new();
        if let Some(grading) = &grading {
            if self.arguments.estimate {
                let text = grading.estimate(&self.file.read()?)?;
                self.session.printer.result(&text)?;
                return Ok(Exit::Done);
            }
            if self.arguments.at.is_none() {
                problems = grading.grade(&self.file).await?;
            }
        }
        self.report(grading.as_ref().map(Grading::assessor))?;
        for problem in &problems {
            self.session.printer.failure(problem);
        }
        Ok(if interruption.is_interrupted() {
            Exit::Interrupted
        } else if problems.is_empty() {
            Exit::Done
        } else {
            Exit::CheckFailed
        })
    }

    /// Measures the runs by all judgements so far, or by those of an earlier version.
    fn report(&self, judge: Option<&Assessor>) -> Result<()> {
        let printer = self.session.printer;
        let mut judgements = self.file.read()?;
        if let Some(lines) = self.arguments.at {
            judgements.truncate(lines);
        }
        let settings = PoolSettings {
            seed: self.arguments.seed,
            width: self.arguments.width,
            bootstrap: Bootstrap::default(),
        };
        let report = PoolReport::of(&self.pool, &self.runs, &judgements, judge, &settings);
        let mut text = String::new();
        for line in report.opening() {
            text.push_str(&wrapped(printer, &line));
        }
        for table in report.tables() {
            text.push('\n');
            text.push_str(&table_text(printer, &table, Narrow::Fold));
        }
        printer.result(&text)?;
        for warning in &report.warnings {
            printer.warn(warning);
        }
        printer.detail(&format!("judgements in {}", self.file.path().display()));
        Ok(())
    }
}

/// The documents of these ids that the corpus has.
async fn documents(
    session: &Session<'_>,
    arguments: &PoolArgs,
    runs: &[StoredRun],
    ids: BTreeSet<&str>,
) -> Result<BTreeMap<String, Document>> {
    let record = &runs.first().context("a pool needs a retrieval run")?.record;
    let name = arguments.dataset.as_deref();
    let manifest = session.manifest(name.unwrap_or(&record.dataset.name));
    let manifest = manifest.with_context(|| {
        format!(
            "cannot find the dataset `{}` of the runs; name its manifest with `--dataset`",
            record.dataset.name
        )
    })?;
    let collection = downloads::fetch(session.printer, &manifest).await?;
    let files = serde_json::to_value(&collection.provenance().documents.files).ok();
    let searched = record.dataset.provenance.pointer("/documents/files");
    if searched.is_some_and(|searched| files.as_ref() != Some(searched)) {
        session.printer.warn(
            "the files of the documents are not those that the runs searched, so what is graded may differ from what was found",
        );
    }
    let ids = ids.into_iter().map(str::to_owned).collect();
    downloads::documents(collection, ids).await
}

//! `evaluations pool`: has the passages that runs retrieved graded, and measures the runs by the grades.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_messages::quantity;
use evals_metrics::Bootstrap;
use evals_rag::Document;
use evals_rag::judging::{JudgeFailure, RelevanceJudge};
use evals_runs::annotations::{checked_labeller, user_name};
use evals_runs::atomic_file::write_atomically;
use evals_runs::filled_table;
use evals_runs::pooling::{
    Assessor, Judgement, JudgementFile, Pool, PoolReport, PooledPair, PooledQuestion, PooledRun,
    pooled_documents, read_sheet, write_sheet,
};
use evals_runs::stored_runs::{self, StoredRun};
use evals_terminal::tables_text;

use crate::asking::Asking;
use crate::downloads;
use crate::exit::Exit;
use crate::interruption::{Interruption, interruptible};
use crate::options::PoolArgs;
use crate::run_models::Prompts;
use crate::session::Session;

/// The depth of a pool unless the user names one: that of the measures most people report.
const DEPTH: NonZeroUsize = NonZeroUsize::new(10).expect("10 is not 0");

/// Grades the passages that runs retrieved, exchanges grades with people, and measures the runs.
///
/// # Errors
///
/// If there is no such run, runs are of different data, the settings or the model are unusable, or grades cannot be stored.
pub fn execute(session: &Session<'_>, arguments: &PoolArgs) -> Result<Exit> {
    interruptible(session.printer, async |interruption| {
        let command = Command::open(session, arguments, interruption);
        let command = Box::pin(command).await?;
        Box::pin(command.run(interruption)).await
    })
}

/// The runs with their pool and the file of its judgements.
#[derive(Debug)]
pub struct Command<'c> {
    session: &'c Session<'c>,
    arguments: &'c PoolArgs,
    runs: Vec<PooledRun>,
    /// What has to be judged.
    pub pool: Pool,
    /// The judgements of the dataset.
    pub file: JudgementFile,
}

impl<'c> Command<'c> {
    /// Finds the runs, and reads what they returned.
    ///
    /// # Errors
    ///
    /// If there is no such run, runs are of different data, or the documents cannot be read.
    pub async fn open(
        session: &'c Session<'c>,
        arguments: &'c PoolArgs,
        interruption: &Interruption,
    ) -> Result<Self> {
        let finder = session.stored_runs();
        let stored = arguments.runs.iter().map(|wanted| {
            let run = finder.find(wanted)?;
            finder.note_incomplete(&run);
            Ok(run)
        });
        let stored: Vec<StoredRun> = stored.collect::<Result<_>>()?;
        let pooled = stored.iter().zip(stored_runs::labels(&stored));
        let pooled = pooled.map(|(run, label)| PooledRun::of(run, label));
        let runs: Vec<PooledRun> = pooled.collect::<Result<_>>()?;
        let depths = stored.iter().filter_map(|run| run.record.measured.as_ref());
        let shallowest = depths.filter_map(|it| NonZeroUsize::new(it.k)).min();
        let default = shallowest.map_or(DEPTH, |depth| depth.min(DEPTH));
        let depth = arguments.k.unwrap_or(default);
        let ids = pooled_documents(&runs, depth);
        let reading = Box::pin(documents(session, arguments, &stored, ids));
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
        let asking = Asking::open(self.session, &self.arguments.asking, interruption);
        let Some(asking) = asking.await? else {
            self.session.printer.note(
                "no language model grades; add `--judge PROVIDER:NAME` or set `evaluations.judge`",
            );
            self.report(None)?;
            return Ok(Exit::Done);
        };
        let directories = &self.session.directories;
        let prompt = Prompts::grade(directories, &asking.resolved.settings.prompts)?;
        let judge = RelevanceJudge::new(asking.model.clone(), prompt);
        let assessor = Assessor::Model {
            identity: judge.identity().clone(),
            prompt: judge.prompt_digest().to_owned(),
        };
        if self.arguments.asking.estimate {
            let open = self.pool.next_for_model(&self.file.read()?, &assessor);
            let requests = open.iter();
            let requests =
                requests.map(|(question, pair)| judge.request(&question.text, &pair.text));
            let requests = requests.collect::<Result<Vec<_>, _>>()?;
            let passages = quantity::of(open.len(), "passage");
            let calls = asking.estimate("grading", &requests);
            let text = format!("{passages} to grade\n{calls}");
            self.session.printer.result(&text)?;
            return Ok(Exit::Done);
        }
        let mut problems = Vec::new();
        if self.arguments.at.is_none() {
            problems = self.grade(&asking, &judge, &assessor).await?;
        }
        self.report(Some(&assessor))?;
        Ok(asking.end(&problems))
    }

    /// Grades and stores what is not graded yet, each before the next one is awaited. Returns why something has no grade after that.
    async fn grade(
        &self,
        asking: &Asking<'_>,
        judge: &RelevanceJudge,
        assessor: &Assessor,
    ) -> Result<Vec<String>> {
        if self
            .pool
            .next_for_model(&self.file.read()?, assessor)
            .is_empty()
        {
            return Ok(Vec::new());
        }
        let file = self.file.open()?;
        let ask = async |(question, pair): (&PooledQuestion, &PooledPair)| {
            let found = judge.grade(&question.text, &pair.text).await;
            let found = found.map_err(|error| error.failure)?;
            Ok::<_, JudgeFailure>(Judgement {
                reason: found.reason.trim().to_owned(),
                ..question.judgement(pair, assessor.clone(), found.grade)
            })
        };
        let open = self.pool.next_for_model(&file.stored, assessor);
        let grading = asking.ask(("grading", "passage"), open, ask, |it| file.add(&it));
        let problems = grading.await?;
        file.sync()?;
        Ok(problems)
    }

    fn export(&self, path: &Path) -> Result<()> {
        filled_table::check_new(path, "graded")?;
        let stored = self.file.read()?;
        let (seed, questions) = (self.arguments.seed, self.arguments.sample.get());
        let mut rows = 0;
        write_atomically(path, |out| {
            let written = write_sheet(&self.pool, (&stored, seed), questions, out);
            rows = written.map_err(io::Error::other)?;
            Ok(())
        })?;
        self.session.printer.note(&format!(
            "wrote {} to `{}`; fill in the column `grade` with 0, 1, 2 or 3, and import the file",
            quantity::of(rows, "row"),
            path.display()
        ));
        Ok(())
    }

    fn import(&self, path: &Path) -> Result<()> {
        let bytes = filled_table::read(path)?;
        let named = self.arguments.labeller.clone().or_else(user_name);
        let labeller = checked_labeller(named.as_deref().unwrap_or_default());
        let labeller = labeller.context("name who graded with `--labeller NAME`")?;
        let by = Assessor::Person(labeller.to_owned());
        let given = read_sheet((&path.display().to_string(), &bytes), &self.pool, &by)?;
        let added = quantity::of(self.file.open()?.add_changed(&given)?, "grade");
        self.session.printer.note(&format!("added {added}"));
        Ok(())
    }

    /// Measures the runs by all judgements so far, or by those of an earlier version.
    fn report(&self, judge: Option<&Assessor>) -> Result<()> {
        let printer = self.session.printer;
        let mut judgements = self.file.read()?;
        if let Some(lines) = self.arguments.at {
            if lines > judgements.len() {
                let all = quantity::of(judgements.len(), "judgement");
                bail!(
                    "`--at {lines}`: the dataset has {all} so far; name the number before the dash of a version"
                );
            }
            judgements.truncate(lines);
        }
        let (seed, bootstrap) = (self.arguments.seed, Bootstrap::default());
        let report = PoolReport::of(&self.pool, &self.runs, &judgements, judge, seed, bootstrap);
        let tables = report.tables(self.arguments.width);
        printer.result(&tables_text(printer, &report.opening(), &tables))?;
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

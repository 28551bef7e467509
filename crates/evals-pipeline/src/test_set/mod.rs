//! `evaluations questions SOURCE`: has a test set written about documents.
//!
//! The cache of replies is what resumes a killed command: equal documents, settings and seeds give equal requests.

mod estimate;
mod folder;
mod nuggets;
mod record;
mod summary;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals_data::{CatalogError, Collection, DataError, Manifest};
use evals_guard::regular_file;
use evals_index::{Profile, SearchOptions};
use evals_models::ChatModel;
use evals_questions::set_folder::lines_of;
use evals_questions::{
    Dropped, GeneratedSet, Generator, QuestionPrompts, SetFolder, questions_of_log,
};
use evals_rag::judging::ChatJudge;
use evals_rag::{Document, Prompt, Searcher};
use evals_settings::redaction::printable;
use evals_settings::{Layer, Resolved};
use evals_stores::store::RefreshPolicy;
use evals_terminal::progress;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::folder::NewSet;
pub use self::nuggets::write_nuggets;
use crate::choices::Choices;
use crate::downloads;
use crate::exit::Exit;
use crate::interruption::{Interrupted, Interruption, interruptible};
use crate::models::{ConfiguredModels, Servers};
use crate::options::{SettingsArgs, WriteQuestionsArgs};
use crate::run::index;
use crate::run::plan::answers::{check_embedding_price, check_price};
use crate::run_models::{Opener, Prompts};
use crate::session::{Session, named_models};
use crate::spending::Spending;

/// A larger set is a mistake of the command line.
const MOST: usize = 10_000;
/// The largest log, in bytes.
const LARGEST_LOG: u64 = 512_000_000;

/// Has a test set written, filters it, and writes it into a folder.
///
/// # Errors
///
/// If documents, settings or models are unusable, no question passes the filters, or the folder cannot be written.
pub fn execute(
    session: &Session<'_>,
    arguments: &WriteQuestionsArgs,
    settings: &SettingsArgs,
) -> Result<Exit> {
    let plan = Plan::new(session, arguments, settings)?;
    interruptible(session.printer, async |interruption| {
        let work = Box::pin(plan.execute(session, interruption));
        let done = interruption.guard(work).await;
        if interruption.is_interrupted() && done.is_err() {
            session
                .printer
                .note("replies are stored; run the same command again to go on");
            return Err(Interrupted.into());
        }
        done
    })
}

/// A test set with every choice made.
struct Plan<'a> {
    arguments: &'a WriteQuestionsArgs,
    manifest: Manifest,
    resolved: Resolved,
    choices: Choices,
    /// The profile that searches the corpus.
    profile: Profile,
    prompts: QuestionPrompts,
    /// Decides whether two answers say the same.
    equivalence: Prompt,
    /// The questions of users, and the record of where they come from.
    log: Option<(Vec<String>, Value)>,
}

/// The writer and the judge, as they were opened.
type Models = [Arc<dyn ChatModel>; 2];

impl<'a> Plan<'a> {
    fn new(
        session: &Session<'_>,
        arguments: &'a WriteQuestionsArgs,
        settings: &SettingsArgs,
    ) -> Result<Self> {
        let count = arguments.count.get();
        if count > MOST {
            bail!("`--count {count}` is more than the {MOST} questions of the largest test set");
        }
        folder::check(&arguments.to)?;
        let manifest = find_documents(session, &arguments.source)?;
        let mut layers = vec![Layer::dataset(&manifest.origin, &manifest.settings)?];
        let models = named_models(arguments.model.as_ref(), arguments.judge.as_ref());
        layers.extend(session.user_layers(settings, models)?);
        let resolved = evals_settings::resolve(layers)?;
        session.warn_of_matrix(&resolved);
        let choices = Choices::of(&resolved)?;
        check_models(&choices.models)?;
        resolved.settings.questions.apportion(count, false)?;
        let profile = choices.profiles.first();
        let profile = profile.map_or(choices.hybrid, |profile| profile.base);
        if arguments.budget.is_some() {
            check_price(&resolved, &choices.models.answerer)?;
            check_price(&resolved, &choices.models.judge)?;
            if profile.needs_embeddings() {
                check_embedding_price(&resolved, &choices.models.embedder)?;
            }
        }
        let log = arguments.from.as_deref().map(|path| log(path, arguments));
        Ok(Self {
            profile,
            prompts: Prompts::of_questions(&session.directories, &resolved.settings.prompts)?,
            equivalence: Prompts::find(&session.directories, &resolved.settings.prompts)?.judge,
            log: log.transpose()?,
            arguments,
            manifest,
            resolved,
            choices,
        })
    }

    async fn execute(self, session: &Session<'_>, interruption: &Interruption) -> Result<Exit> {
        let printer = session.printer;
        let collection = downloads::fetch(printer, &self.manifest).await?;
        let documents: Result<Vec<Document>, DataError> = collection.documents()?.collect();
        let documents = documents?;
        if self.arguments.estimate {
            printer.result(&estimate::text(&self, &documents)?)?;
            return Ok(Exit::Done);
        }
        let folder = NewSet::claim(&self.arguments.to)?;
        let budget = self.arguments.budget;
        let spending = Spending::new(budget, interruption.stop());
        let models = &self.choices.models;
        let servers = Servers::new(&self.resolved, models, printer, self.arguments.seed);
        let mut servers = servers.interrupted_by(interruption);
        let mut opener = Opener::new(
            session,
            &self.resolved,
            models,
            &mut servers,
            Some(RefreshPolicy::Reuse),
            &spending,
            interruption,
        );
        opener.stops_at_budget = true;
        let opened = [
            opener.chat(&models.answerer).await?,
            opener.chat(&models.judge).await?,
        ];
        if models.answerer.identity() == models.judge.identity() {
            printer.warn(&format!(
                "`{}` filters its own questions, and models tend to pass their own text; `--judge` names a different one",
                models.judge
            ));
        }
        let searcher = self
            .searcher(session, &mut opener, &collection, &folder.name()?)
            .await?;
        let set = self
            .generate(session, &documents, &opened, &*searcher)
            .await?;
        if spending.calls() > 0 {
            let calls = spending.in_words();
            printer.note(&format!("asked the models with {calls}"));
        }
        self.close(session, &collection, &documents, &opened, folder, &set)
            .await
    }

    /// Finds or builds the index of the set, which a run of the set uses as well.
    async fn searcher(
        &self,
        session: &Session<'_>,
        opener: &mut Opener<'_, '_>,
        collection: &Collection,
        name: &str,
    ) -> Result<Arc<dyn Searcher>> {
        let uri = session.directories.database(name).display().to_string();
        let vectors = self.profile.needs_embeddings();
        let ready =
            index::of_settings(opener, &self.choices.chunker, vectors, collection, &uri).await?;
        let options = SearchOptions {
            passages: Generator::PASSAGES,
            ..SearchOptions::default()
        };
        Ok(ready.index.searcher(self.profile, &options).await?)
    }

    async fn generate(
        &self,
        session: &Session<'_>,
        corpus: &[Document],
        models: &Models,
        searcher: &dyn Searcher,
    ) -> Result<GeneratedSet> {
        let bar = progress::open_ended(session.printer, "questions");
        let [writer, judge] = models;
        let equivalence = ChatJudge::new(Arc::clone(judge));
        let generator = Generator {
            writer: &**writer,
            judge: &**judge,
            equivalence: &equivalence.prompt(self.equivalence.clone()),
            searcher,
            corpus,
            prompts: &self.prompts,
            concurrency: self.resolved.settings.evaluations.concurrency,
            progress: &|message| bar.set_message(message),
        };
        let made = if let Some((questions, _)) = &self.log {
            generator.answer(questions).await
        } else {
            let settings = &self.resolved.settings.questions;
            let (count, seed) = (self.arguments.count.get(), self.arguments.seed);
            generator.generate(settings, count, seed).await
        };
        bar.finish_and_clear();
        let set = made.context(
            "no test set was written; replies are stored, and the same command goes on from there. To ask a mended model again, \
             forget its replies with `evaluations cache prune --model PROVIDER:NAME`",
        )?;
        if let (true, Some(shortage)) = (set.kept.is_empty(), set.shortage()) {
            for Dropped {
                reason,
                item,
                detail,
            } in &set.dropped
            {
                let line = format!("{} ({reason}): {}: {detail}", item.id, item.question);
                session.printer.detail(&printable(&line));
            }
            bail!(
                "{shortage}. The same command with `--verbose` lists all of them, and asks nothing again"
            );
        }
        Ok(set)
    }

    /// Writes the set and says what is in it.
    async fn close(
        &self,
        session: &Session<'_>,
        collection: &Collection,
        documents: &[Document],
        models: &Models,
        folder: NewSet,
        set: &GeneratedSet,
    ) -> Result<Exit> {
        let printer = session.printer;
        let diversity = summary::measured_diversity(set, documents).await?;
        let written = self.manifest.documents_section(&self.arguments.to);
        let mut files = Vec::new();
        if written.is_none() {
            files.push((SetFolder::DOCUMENTS, record::copied(documents)));
        }
        let manifest = record::manifest(&folder.name()?, &self.manifest, written, set);
        let record = record::record(self, collection, models, set, &diversity);
        files.extend([
            (SetFolder::MANIFEST, manifest),
            (SetFolder::DROPPED, lines_of(&set.dropped)),
            (SetFolder::RECORD, format!("{record:#}\n")),
        ]);
        folder.write(&files, &lines_of(&set.kept))?;
        printer.result(&summary::text(self, printer, set, &diversity))?;
        for (step, model) in Generator::STEPS.iter().zip(models) {
            for note in model.notes() {
                printer.note(&format!("while {step}: {note}"));
            }
        }
        if let Some(shortage) = set.shortage() {
            printer.warn(&format!(
                "{shortage}. `{}` has all of them",
                SetFolder::DROPPED
            ));
        }
        let path = self.arguments.to.display().to_string();
        let path = evals_runs::shell_word::shell_word(&path);
        printer.note(&format!(
            "next: `evaluations view {path}` to review the questions, then `evaluations run {path}`"
        ));
        Ok(Exit::Done)
    }
}

/// The documents that `source` names: those of a manifest, alone or in a folder, which need not have questions, of a dataset, or the texts of
/// a folder.
fn find_documents(session: &Session<'_>, source: &str) -> Result<Manifest> {
    let path = Path::new(source);
    let extension = path.extension().and_then(|it| it.to_str());
    if matches!(extension, Some("yaml" | "yml")) {
        return Ok(Manifest::read_documents(path)?);
    }
    match session.manifest(source) {
        Ok(manifest) => Ok(manifest.documents_only()),
        Err(error) => match error.downcast_ref() {
            Some(CatalogError::Unknown { .. } | CatalogError::Folder { .. }) if path.exists() => {
                Ok(Manifest::of_texts(path)?)
            }
            Some(CatalogError::Manifest(_)) if path.is_dir() => {
                Ok(Manifest::read_documents(&path.join(Manifest::FILE))?)
            }
            _ => Err(error),
        },
    }
}

/// Refuses models that cannot write or filter.
fn check_models(models: &ConfiguredModels) -> Result<()> {
    if models.answerer.is_embedded() {
        bail!("no model writes the questions; add `--model PROVIDER:NAME` or set `qa.model`");
    }
    if models.judge.is_embedded() {
        bail!(
            "no model filters the questions; add `--judge PROVIDER:NAME` or set `evaluations.judge`, ideally to a model of a different \
             family from `{}`",
            models.answerer
        );
    }
    Ok(())
}

/// Reads the log and draws its questions.
fn log(path: &Path, arguments: &WriteQuestionsArgs) -> Result<(Vec<String>, Value)> {
    let text = regular_file::read_named(path, LARGEST_LOG)?;
    let file = path.file_name().unwrap_or(path.as_os_str());
    let file = file.to_string_lossy();
    let questions = questions_of_log(&text, &file, arguments.count.get(), arguments.seed);
    let questions = questions.with_context(|| format!("cannot use `{}`", path.display()))?;
    let digest = hex::encode(Sha256::digest(&text));
    Ok((questions, json!({"file": file, "sha256": digest})))
}

//! The plan of a run, made before anything is downloaded or written.

pub(crate) mod answers;
pub(super) mod measured;

use std::num::NonZeroUsize;

use anyhow::{Result, bail};
use evals_data::{Column, Manifest};
use evals_index::Chunker;
use evals_messages::nearest;
use evals_metrics::Measure;
use evals_pages::out_file::OutFile;
use evals_rag::Question;
use evals_rag::retrieval::IdenticalIds;
use evals_rag::targets::History;
use evals_settings::{Layer, Resolved};

use self::answers::QaPlan;
use self::measured::Measured;
use super::index::IndexPlan;
use crate::batches;
use crate::case_selection::{MetadataFrom, Selection};
use crate::choices::{self, Choices};
use crate::models::{ConfiguredModels, embedder};
use crate::options::RunArgs;
use crate::run_models::{check_reranker, check_rewriter};
use crate::search_profile::SearchProfile;
use crate::session::{Session, named_judges, named_models};
use crate::targets;

/// A run with every choice made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) manifest: Manifest,
    pub(super) resolved: Resolved,
    pub(super) models: ConfiguredModels,
    pub(super) profiles: Vec<SearchProfile>,
    pub(super) chunker: Chunker,
    /// Whether any profile needs vectors.
    pub(super) needs_embeddings: bool,
    /// Whether the retrieval benchmark runs.
    pub(super) retrieval: bool,
    /// `None` if the run skips question answering.
    pub(super) qa: Option<QaPlan>,
    pub(super) measures: Vec<Measure>,
    pub(super) k: NonZeroUsize,
    /// The dataset's measures that look deeper than `k`, each with its replacement.
    cut: Vec<(Measure, Measure)>,
    pub(super) identical_ids: IdenticalIds,
    pub(super) concurrency: NonZeroUsize,
    pub(super) name: String,
    /// `None` if every question is asked, up to `--limit`.
    pub(super) selection: Option<Selection>,
    pub(super) out: Vec<OutFile>,
}

/// The settings of a run of a dataset.
pub fn resolve(
    session: &Session<'_>,
    arguments: &RunArgs,
    manifest: &Manifest,
) -> Result<Resolved> {
    let mut layers = vec![Layer::dataset(&manifest.origin, &manifest.settings)?];
    let target = targets::layers(session, &arguments.target)?;
    layers.extend(target.file);
    let mut options = named_models(
        arguments.qa.model.as_ref(),
        arguments.judging.judge.as_ref(),
    );
    options.extend(named_judges(&arguments.qa.judges));
    options.extend(batches::layer(arguments.judging.batch));
    options.extend(target.options);
    layers.extend(session.user_layers(&arguments.settings, options)?);
    Ok(evals_settings::resolve(layers)?)
}

/// Refuses a key that no question can have.
pub(super) fn check_groups(keys: &[String], manifest: &Manifest) -> Result<()> {
    let Some(known) = known_keys(manifest) else {
        return Ok(());
    };
    let Some(unknown) = keys.iter().find(|key| !known.contains(key)) else {
        return Ok(());
    };
    let names: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
    let similar = nearest::of(unknown, known.iter().map(String::as_str));
    bail!(
        "`--group-by {unknown}`: questions have no `{unknown}`; known are {}{} (`questions.metadata` in the manifest names further columns)",
        names.join(", "),
        nearest::did_you_mean(similar)
    );
}

/// The keys of the questions' metadata; `None` if only the questions tell, because a column stands for all fields of an object.
fn known_keys(manifest: &Manifest) -> Option<Vec<String>> {
    let questions = &manifest.questions.columns;
    let columns = &questions.metadata;
    let own = Question::FACTS.into_iter().chain(questions.facts());
    let own = own.map(str::to_owned);
    let keys = own.chain(columns.iter().map(Column::path));
    let is_static = columns.iter().all(|column| !column.is_spread());
    is_static.then(|| keys.collect())
}

/// What chooses the questions; `None` if every question is asked, up to `--limit`.
pub(crate) fn selection(
    session: &Session<'_>,
    arguments: &RunArgs,
    manifest: &Manifest,
) -> Result<Option<Selection>> {
    Selection::new(
        session,
        &arguments.selection,
        &manifest.name,
        MetadataFrom::Manifest,
        known_keys(manifest).as_deref(),
    )
}

/// How many questions are asked at the same time.
pub(super) fn concurrency(arguments: &RunArgs, resolved: &Resolved) -> NonZeroUsize {
    let default = resolved.settings.evaluations.concurrency;
    arguments.control.concurrency.unwrap_or(default)
}

impl Plan {
    pub(super) fn new(
        session: &Session<'_>,
        arguments: &RunArgs,
        manifest: Manifest,
        mut resolved: Resolved,
    ) -> Result<Self> {
        refuse_contradictions(arguments, &manifest, &resolved)?;
        let choices = Choices::of(&resolved)?;
        let profiles = profiles(&arguments.retrieval.profiles, &choices, &resolved)?;
        check_reranker(session, &resolved, &choices.models, &profiles)?;
        let answers = !arguments.stages.skip_qa;
        check_rewriter(session, &resolved, &choices.models, answers)?;
        check_groups(&arguments.results.group_by, &manifest)?;
        let Measured {
            measures,
            k,
            cut,
            identical_ids,
        } = Measured::of(arguments, &manifest)?;
        let default = choices.profiles.first().copied();
        let default = default.unwrap_or(choices.hybrid.into());
        let qa = if arguments.stages.skip_qa {
            None
        } else {
            Some(QaPlan::new(
                session,
                arguments,
                &manifest,
                &mut resolved,
                &choices.models,
                &profiles,
                default,
            )?)
        };
        embedder::check(&resolved, &choices.models.embedder)?;
        Ok(Self {
            needs_embeddings: profiles.iter().any(|it| it.base.needs_embeddings()),
            retrieval: !arguments.stages.skip_retrieval,
            qa,
            profiles,
            chunker: choices.chunker,
            measures,
            k,
            cut,
            identical_ids,
            concurrency: concurrency(arguments, &resolved),
            name: arguments
                .control
                .name
                .clone()
                .unwrap_or_else(|| format!("{}_retrieval_evaluation", manifest.name)),
            selection: selection(session, arguments, &manifest)?,
            out: OutFile::all(&arguments.results.out)?,
            manifest,
            resolved,
            models: choices.models,
        })
    }

    /// What decides which index is searched.
    pub(super) fn index(&self) -> IndexPlan<'_> {
        IndexPlan {
            resolved: &self.resolved,
            chunker: &self.chunker,
            embedder: &self.models.embedder,
            needs_embeddings: self.needs_embeddings,
        }
    }

    /// Notes which measures of the dataset `--k` cuts; `None` if it cuts none.
    pub(super) fn cut_note(&self) -> Option<String> {
        measured::cut_note(self.k, &self.cut).filter(|_| self.retrieval)
    }
}

/// Refuses options and settings that have no effect beside others.
fn refuse_contradictions(
    arguments: &RunArgs,
    manifest: &Manifest,
    resolved: &Resolved,
) -> Result<()> {
    if resolved.settings.conversations.history != History::Gold {
        let message = "`live` and `simulated` ask a `--target`; our own pipeline reads reference answers (`search.history`)";
        bail!(resolved.bad_value("conversations.history", &message));
    }
    if manifest.questions.columns.goal.is_some() {
        bail!(
            "the questions of `{}` are goals of users, who talk to a `--target`; our own pipeline answers once",
            manifest.name
        );
    }
    let stages = &arguments.stages;
    if stages.skip_retrieval && stages.skip_qa && !arguments.results.out.is_empty() {
        bail!(
            "`--out` has nothing to write, because `--skip-retrieval` and `--skip-qa` skip both benchmarks"
        );
    }
    if stages.skip_qa && arguments.judging.estimate {
        bail!(
            "`--estimate` counts what question answering costs, and `--skip-qa` skips it; leave one of them out"
        );
    }
    Ok(())
}

fn profiles(
    names: &[String],
    choices: &Choices,
    resolved: &Resolved,
) -> Result<Vec<SearchProfile>> {
    if names.is_empty() {
        return Ok(choices.profiles.clone());
    }
    Ok(choices::profiles(
        names.iter().map(String::as_str),
        choices.hybrid,
        &resolved.settings.reranking,
    )?)
}

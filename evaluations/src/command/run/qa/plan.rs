//! What question answering is going to do, settled before anything is fetched or written.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use evals::CaseTimeout;
use evals_data::Manifest;
use evals_models::ModelIdentity;

use super::super::super::Session;
use super::prompts::Prompts;
use crate::choices;
use crate::cli::{Refresh, RunArgs};
use crate::models::embedded::{self, OVERLAP};
use crate::models::{ConfiguredModel, ConfiguredModels, EMBEDDED, ModelKind, reranker};
use crate::search_profile::SearchProfile;
use crate::settings::{Resolved, SettingsError};

/// Question answering with every choice made.
#[derive(Debug)]
pub(crate) struct QaPlan {
    /// Where the passages come from.
    pub(in super::super) profile: SearchProfile,
    pub(super) name: String,
    /// Most passages that the answerer is shown.
    pub(super) passages: NonZeroUsize,
    /// Neighbouring chunks on each side of a passage.
    pub(super) radius: Option<NonZeroU32>,
    pub(super) context_tokens: NonZeroUsize,
    pub(super) answerer: ConfiguredModel,
    /// What refuses in this dataset.
    pub(super) refusal_sentences: Vec<String>,
    pub(super) judging: JudgingPlan,
    pub(super) refresh_failed: bool,
}

/// Judging with every choice made.
#[derive(Debug)]
pub(crate) struct JudgingPlan {
    pub(super) judge: ConfiguredModel,
    /// Whether the judge also says what is a refusal.
    pub(super) refusals: bool,
    pub(super) prompts: Prompts,
    pub(super) replies: Replies,
}

/// Where replies of chat models are kept.
#[derive(Debug, Clone)]
pub(in super::super) enum Replies {
    /// Nowhere: every reply is asked for.
    NotStored,
    /// In this file, from which they are taken, too.
    Stored(PathBuf),
    /// In this file, into which new ones are written over the old.
    Anew(PathBuf),
}

impl Replies {
    pub(in super::super) fn new(
        session: &Session<'_>,
        no_cache: bool,
        refresh: Option<Refresh>,
    ) -> Self {
        let path = session.directories.replies();
        match (no_cache, refresh) {
            (true, _) => Self::NotStored,
            // A reply that could not be used is stored like any other, and would fail its case again.
            (false, Some(Refresh::All | Refresh::Failed)) => Self::Anew(path),
            (false, None) => Self::Stored(path),
        }
    }
}

impl QaPlan {
    /// `profiles` are those that the run searches by, `default` is that of the settings.
    pub(in super::super) fn new(
        session: &Session<'_>,
        arguments: &RunArgs,
        manifest: &Manifest,
        resolved: &Resolved,
        models: &ConfiguredModels,
        profiles: &[SearchProfile],
        default: SearchProfile,
    ) -> Result<Self> {
        let settings = &resolved.settings;
        let answerer = models.answerer.clone();
        embedded::check_name(resolved, &answerer)?;
        if arguments.control.fresh && arguments.qa.refresh == Some(Refresh::Failed) {
            bail!(
                "`--fresh` starts anew and `--refresh failed` takes up an earlier run; choose one"
            );
        }
        let judging = JudgingPlan::new(
            session,
            resolved,
            &models.judge,
            &answerer.identity(),
            Replies::new(session, arguments.qa.no_cache, arguments.qa.refresh),
        )?;
        if arguments.qa.budget.is_some() {
            check_price(resolved, &answerer)?;
            check_price(resolved, &judging.judge)?;
            if profiles.iter().any(|profile| profile.rerank) {
                check_price(resolved, reranker::check(resolved, models)?)?;
            }
            if profiles
                .iter()
                .any(|profile| profile.base.needs_embeddings())
            {
                check_embedding_price(resolved, &models.embedder)?;
            }
        }
        let control = &arguments.control;
        Ok(Self {
            profile: chosen(profiles, default),
            name: control
                .name
                .clone()
                .unwrap_or_else(|| format!("{}_qa_evaluation", manifest.name)),
            passages: settings.search.limit,
            radius: NonZeroU32::new(settings.search.context_radius),
            context_tokens: settings.qa.context_tokens,
            answerer,
            refusal_sentences: manifest.unanswerable.clone(),
            judging,
            refresh_failed: arguments.qa.refresh == Some(Refresh::Failed),
        })
    }
}

impl JudgingPlan {
    /// Judging of what `answerer` answers. A model's answers are judged by whom somebody chose, never by default.
    pub(super) fn new(
        session: &Session<'_>,
        resolved: &Resolved,
        judge: &ConfiguredModel,
        answerer: &ModelIdentity,
        replies: Replies,
    ) -> Result<Self> {
        let is_embedded = ModelKind::of_identity(answerer) == ModelKind::Embedded;
        if !is_embedded && !resolved.sets("evaluations.judge") {
            bail!(
                "`{answerer}` answers, and nothing says who judges its answers; add `--judge PROVIDER:NAME` or set \
                 `evaluations.judge`, best to a model of another family; `--judge {EMBEDDED}:{OVERLAP}` judges without a model, by \
                 common words"
            );
        }
        let evaluations = &resolved.settings.evaluations;
        embedded::check_name(resolved, judge)?;
        if evaluations.judge_refusals && judge.kind == ModelKind::Embedded {
            let message = "the embedded judge knows refusals by their sentences only; set `evaluations.judge` to a model";
            return Err(resolved
                .bad_value("evaluations.judge_refusals", &message)
                .into());
        }
        case_timeout(resolved)?;
        Ok(Self {
            judge: judge.clone(),
            refusals: evaluations.judge_refusals,
            prompts: Prompts::find(&session.directories)?,
            replies,
        })
    }
}

/// The profile whose passages are answered from: the only one, else the settings' among several, else the first.
fn chosen(profiles: &[SearchProfile], default: SearchProfile) -> SearchProfile {
    match profiles {
        [only] => *only,
        several if several.contains(&default) => default,
        several => several.first().copied().unwrap_or(default),
    }
}

/// A budget that cannot be counted would never be reached.
fn check_price(resolved: &Resolved, model: &ConfiguredModel) -> Result<()> {
    match model.kind {
        // Models in this process are free, and the budget does not count what an endpoint `/rerank` reads.
        ModelKind::Embedded | ModelKind::Local | ModelKind::HttpReranker => return Ok(()),
        ModelKind::Ollama | ModelKind::OpenAi | ModelKind::LlmReranker(_) => {}
    }
    let price = choices::prices(resolved).of(&model.identity());
    if price.input.is_none() || price.output.is_none() {
        bail!(
            "`--budget` needs the price of `{name}`: set `prices: {{{name}: {{input: …, output: …}}}}`, in USD per million \
             tokens; 0 for a model of your own",
            name = model.settings.name
        );
    }
    Ok(())
}

/// The same of the model that embeds, which writes nothing.
fn check_embedding_price(resolved: &Resolved, model: &ConfiguredModel) -> Result<()> {
    let price = choices::prices(resolved).of(&model.identity());
    if price.input.is_none() {
        bail!(
            "`--budget` needs the price of `{name}`, which embeds: set `prices: {{{name}: {{input: …, output: 0}}}}`, in USD per million tokens; 0 \
             for a model of your own",
            name = model.settings.name
        );
    }
    Ok(())
}

/// The longest that one case may take, answering and judging together.
pub(super) fn case_timeout(resolved: &Resolved) -> Result<CaseTimeout, SettingsError> {
    const SETTING: &str = "evaluations.case_timeout";
    let seconds = resolved.settings.evaluations.case_timeout;
    if seconds.is_finite() && seconds > 0.0 {
        let limit = Duration::from_secs_f64(seconds.min(86_400.0));
        return Ok(CaseTimeout::new(limit).task("answering").setting(SETTING));
    }
    Err(resolved.bad_value(SETTING, &"must be more than 0 seconds"))
}

#[cfg(test)]
mod tests {
    use evals_index::{Fusion, Profile};

    use super::*;

    #[test]
    fn answers_come_from_the_only_profile_or_the_default_one() {
        let hybrid = SearchProfile::from(Profile::Hybrid(Fusion::default()));
        let bm25 = SearchProfile::from(Profile::Bm25);
        assert_eq!(chosen(&[bm25], hybrid), bm25);
        let all = [Profile::Unranked.into(), bm25, hybrid, hybrid.reranked()];
        assert_eq!(chosen(&all, hybrid), hybrid);
        let two = [Profile::Semantic.into(), bm25];
        assert_eq!(chosen(&two, hybrid), Profile::Semantic.into());
        assert_eq!(chosen(&all, hybrid.reranked()), hybrid.reranked());
    }
}

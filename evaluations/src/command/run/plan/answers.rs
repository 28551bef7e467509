//! What question answering is going to do, settled before anything is fetched or written.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::{Result, bail};
use evals_data::Manifest;

use crate::choices;
use crate::cli::{Refresh, RunArgs};
use crate::models::{ConfiguredModel, ConfiguredModels, ModelKind, embedded, reranker};
use crate::question_answering::JudgingPlan;
use crate::run_models::cache_policy;
use crate::search_profile::SearchProfile;
use crate::session::Session;
use crate::settings::Resolved;

/// Question answering with every choice made.
#[derive(Debug)]
pub(in crate::command::run) struct QaPlan {
    /// Where the passages come from.
    pub(in crate::command::run) profile: SearchProfile,
    pub(in crate::command::run) name: String,
    /// Most passages that the answerer is shown.
    pub(in crate::command::run) passages: NonZeroUsize,
    /// Neighbouring chunks on each side of a passage.
    pub(in crate::command::run) radius: Option<NonZeroU32>,
    pub(in crate::command::run) context_tokens: NonZeroUsize,
    pub(in crate::command::run) answerer: ConfiguredModel,
    /// What refuses in this dataset.
    pub(in crate::command::run) refusal_sentences: Vec<String>,
    pub(in crate::command::run) judging: JudgingPlan,
    pub(in crate::command::run) refresh_failed: bool,
}

impl QaPlan {
    /// `profiles` are those that the run searches by, `default` is that of the settings.
    pub(in crate::command::run) fn new(
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
            cache_policy(arguments.qa.no_cache, arguments.qa.refresh),
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

//! The plan of question answering, made before anything is downloaded or written.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::{Result, bail};
use evals_data::Manifest;
use evals_settings::{QaMode, Resolved};

use crate::batches;
use crate::choices;
use crate::models::{ConfiguredChat, ConfiguredEmbedder, ConfiguredModels, reranker};
use crate::options::{Refresh, RunArgs};
use crate::question_answering::{Answering, JudgingPlan};
use crate::search_profile::SearchProfile;
use crate::session::Session;

/// A question answering run with every choice made.
#[derive(Debug)]
pub(crate) struct QaPlan {
    /// The profile that finds the passages.
    pub(crate) profile: SearchProfile,
    pub(crate) name: String,
    /// Most passages that the answering model sees.
    pub(crate) passages: NonZeroUsize,
    /// Neighbouring chunks on each side of a passage.
    pub(crate) radius: Option<NonZeroU32>,
    pub(crate) context_tokens: NonZeroUsize,
    pub(crate) answerer: ConfiguredChat,
    /// Sentences that count as a refusal in this dataset.
    pub(crate) refusal_sentences: Vec<String>,
    pub(crate) judging: JudgingPlan,
    pub(crate) refresh_failed: bool,
}

impl QaPlan {
    /// `profiles` are the profiles of the run, and `default` is the profile of the settings.
    pub(crate) fn new(
        session: &Session<'_>,
        arguments: &RunArgs,
        manifest: &Manifest,
        resolved: &mut Resolved,
        models: &ConfiguredModels,
        profiles: &[SearchProfile],
        default: SearchProfile,
    ) -> Result<Self> {
        let answerer = models.answerer.clone();
        answerer.check_embedded_name(resolved)?;
        Answering::check(resolved, &answerer)?;
        if arguments.control.fresh && arguments.qa.refresh == Some(Refresh::Failed) {
            bail!(
                "`--fresh` starts over and `--refresh failed` resumes an earlier run; choose one"
            );
        }
        let judging = JudgingPlan::new(session, resolved, &models.judge, &answerer.identity())?;
        if arguments.control.budget.is_some() {
            check_prices(resolved, models, &judging, profiles)?;
        }
        let answering = batches::Caller {
            role: "answerer",
            model: &answerer,
            direct: (resolved.settings.qa.mode == QaMode::Agent)
                .then_some("an agent asks step by step"),
        };
        let callers: Vec<_> = std::iter::once(answering)
            .chain(judging.callers())
            .collect();
        let (no_cache, budget) = (arguments.judging.no_cache, arguments.control.budget);
        batches::plan(session.printer, resolved, (no_cache, budget), &callers)?;
        let (control, settings) = (&arguments.control, &resolved.settings);
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

/// Fails if a model of the run has no price, which a budget needs.
fn check_prices(
    resolved: &Resolved,
    models: &ConfiguredModels,
    judging: &JudgingPlan,
    profiles: &[SearchProfile],
) -> Result<()> {
    check_price(resolved, &models.answerer)?;
    if let Some(rewriter) = &models.rewriter {
        check_price(resolved, rewriter)?;
    }
    judging
        .judges()
        .try_for_each(|judge| check_price(resolved, judge))?;
    if profiles.iter().any(|profile| profile.rerank) {
        // The budget does not count requests to `/rerank`.
        if let Some(chat) = reranker::check(resolved, models)?.chat() {
            check_price(resolved, &chat)?;
        }
    }
    if profiles
        .iter()
        .any(|profile| profile.base.needs_embeddings())
    {
        check_embedding_price(resolved, &models.embedder)?;
    }
    Ok(())
}

/// The profile that finds the passages: the only one, else the default one if it is among several, else the first.
fn chosen(profiles: &[SearchProfile], default: SearchProfile) -> SearchProfile {
    match profiles {
        [only] => *only,
        several if several.contains(&default) => default,
        several => several.first().copied().unwrap_or(default),
    }
}

/// Fails if a model has no price, because a budget without prices would never be reached.
pub(crate) fn check_price(resolved: &Resolved, model: &ConfiguredChat) -> Result<()> {
    if model.is_embedded() {
        return Ok(());
    }
    let price = choices::prices(resolved).of(&model.identity());
    if price.input.is_none() || price.output.is_none() {
        bail!(
            "`--budget` needs the price of `{name}`: set `prices: {{{name}: {{input: …, output: …}}}}`, in USD per million \
             tokens (0 for a model that you host)",
            name = model.settings.name
        );
    }
    Ok(())
}

/// Fails if the embedding model has no input price. It has no output to pay for.
pub(crate) fn check_embedding_price(resolved: &Resolved, model: &ConfiguredEmbedder) -> Result<()> {
    let price = choices::prices(resolved).of(&model.identity());
    if price.input.is_none() {
        bail!(
            "`--budget` needs the price of the embedding model `{name}`: set `prices: {{{name}: {{input: …}}}}`, in USD per million \
             tokens (0 for a model that you host)",
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

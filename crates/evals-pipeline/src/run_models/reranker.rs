//! The reranker of a run: checked before downloads begin, and opened before indexing begins.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::Report;
use evals_messages::quantity;
use evals_models::{ModelIdentity, Reranker};
use evals_rag::prices::Prices;
use evals_rag::reranking::{ListwiseReranker, PointwiseReranker, RememberedReranker};
use evals_rag::{Prompt, Purpose, Retrieval};
use evals_settings::{RerankMode, RerankerKind, Resolved};
use evals_stores::scores::{CachedReranker, ScoreStore};
use serde_json::{Map, Value, json};

use super::opener::Opener;
use super::prompts::Prompts;
use super::usage::used;
use crate::downloads;
use crate::models::{ConfiguredModels, ConfiguredReranker, LocalModel, RanIn, reranker};
use crate::search_profile::SearchProfile;
use crate::session::Session;

/// The label of the line of a report about the calls of the reranker.
pub const LABEL: &str = "reranking";

/// The kind of calls that a reranker makes, to estimate their number and cost.
#[derive(Debug)]
pub(crate) enum Asking {
    /// None: the model runs in this process.
    InProcess,
    /// Requests with at most this many texts.
    Requests(NonZeroUsize),
    Listwise(ListwiseReranker),
    Pointwise(PointwiseReranker),
}

/// An opened reranker.
#[derive(Debug)]
pub(crate) struct Reranking {
    pub(crate) reranker: Arc<dyn Reranker>,
    pub(crate) asking: Asking,
    /// Documents that it reads for each question.
    pub(crate) candidates: NonZeroUsize,
    parameters: Map<String, Value>,
    /// Digests by file name.
    prompts: BTreeMap<String, String>,
}

/// Refuses reranked profiles without a reranker, and warns about a reranker that no profile uses.
pub(crate) fn check(
    session: &Session<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
    profiles: &[SearchProfile],
) -> Result<()> {
    let reranked = profiles.iter().find(|profile| profile.rerank);
    let model = resolved.settings.reranking.model.as_ref();
    match (reranked, model) {
        (None, None) => {}
        (None, Some(_)) if resolved.settings.reranking.candidates == 0 => {}
        (None, Some(model)) => session.printer.warn(&format!(
            "`reranking.model` is `{}:{}`, but no profile of this run ends in `+rerank`; results are not reranked",
            model.provider, model.name
        )),
        (Some(profile), None) => bail!(
            "`{profile}` needs a reranker: set `reranking.model`, for example \
             `--set 'reranking.model={{provider: local, name: cross-encoder/ms-marco-MiniLM-L6-v2}}'`"
        ),
        (Some(_), Some(_)) => {
            reranker::check(resolved, models)?;
        }
    }
    Ok(())
}

/// Opens the reranker of the settings.
pub(crate) async fn open(opener: &mut Opener<'_, '_>) -> Result<Reranking> {
    let (session, resolved) = (opener.session, opener.resolved);
    let settings = &resolved.settings.reranking;
    let mut parameters = Map::new();
    let mut prompts = BTreeMap::new();
    let model = reranker::check(resolved, opener.models)?;
    let (reranker, asking): (Arc<dyn Reranker>, _) = match &model.settings.kind {
        RerankerKind::Http(_) => {
            let place = opener.servers.score_cache_address(model)?;
            let reranker = opener.servers.reranker(model, settings.batch_size);
            let reranker = Arc::new(reranker.await?);
            let stored = stored(opener, reranker, model, |cached| {
                cached.at(&place).in_batches(settings.batch_size)
            });
            (stored.await?, Asking::Requests(settings.batch_size))
        }
        RerankerKind::Local(local) => {
            let local = LocalModel::reranker(resolved, model, local)?;
            let hub = downloads::hub();
            let reranker = local.open_reranker(session.printer, &hub).await?;
            let stored = stored(opener, reranker, model, |cached| cached);
            (stored.await?, Asking::InProcess)
        }
        RerankerKind::Llm(_) => {
            let asked = model.chat().expect("a chat model reranks");
            let chat = opener.chat(&asked).await?;
            parameters = chat.parameters();
            parameters.insert("mode".to_owned(), json!(settings.mode));
            let found = Prompts::find(&session.directories, &resolved.settings.prompts)?;
            let digests = |prompt: &Prompt| Prompts::digests([prompt, &Prompt::rerank_repair()]);
            match settings.mode {
                RerankMode::Pointwise => {
                    prompts = digests(&found.rerank_pointwise);
                    let reranker = PointwiseReranker::new(chat).prompt(found.rerank_pointwise);
                    (Arc::new(reranker.clone()), Asking::Pointwise(reranker))
                }
                RerankMode::Listwise => {
                    prompts = digests(&found.rerank_listwise);
                    let reranker = ListwiseReranker::new(chat).prompt(found.rerank_listwise);
                    (Arc::new(reranker.clone()), Asking::Listwise(reranker))
                }
            }
        }
    };
    parameters.insert("candidates".to_owned(), json!(settings.candidates));
    Ok(Reranking {
        reranker,
        asking,
        candidates: NonZeroUsize::new(settings.candidates).context("nothing is reranked")?,
        parameters,
        prompts,
    })
}

/// Puts the cache of scores, completed by `made`, in front of a reranker. Both benchmarks share its scores even without the cache.
async fn stored(
    opener: &Opener<'_, '_>,
    reranker: Arc<dyn Reranker>,
    model: &ConfiguredReranker,
    made: impl FnOnce(CachedReranker) -> CachedReranker,
) -> Result<Arc<dyn Reranker>> {
    let Some(policy) = opener.cache else {
        return Ok(Arc::new(RememberedReranker::new(reranker)));
    };
    let session = opener.session;
    let (path, watch) = (session.directories.scores(), session.printer.watch());
    let store = ScoreStore::open_watched(path, watch).await?;
    opener.interruption.track_writes(store.writes());
    let label = model.label(reranker.identity());
    let cached = made(CachedReranker::new(reranker, store));
    let cached = cached.labelled(label).with_policy(policy);
    Ok(Arc::new(RememberedReranker::new(Arc::new(cached))))
}

impl Reranking {
    pub(crate) fn identity(&self) -> &ModelIdentity {
        self.reranker.identity()
    }

    pub(crate) fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    pub(crate) fn prompts(&self) -> &BTreeMap<String, String> {
        &self.prompts
    }

    /// The reranker as JSON for a report: model, parameters and prompts.
    pub(crate) fn describe(&self) -> Value {
        json!({
            "model": self.identity(),
            "parameters": self.parameters,
            "prompts": self.prompts,
        })
    }

    /// A line on the tokens and cost of reranking in a retrieval run.
    pub(crate) fn account(&self, report: &Report<Retrieval>, prices: &Prices) -> String {
        account(self.identity(), self.candidates.get(), report, prices)
    }
}

/// A line on the tokens and cost of `model`, which reranked so many candidates for each question of a report.
pub fn account(
    model: &ModelIdentity,
    candidates: usize,
    report: &Report<Retrieval>,
    prices: &Prices,
) -> String {
    let candidates = quantity::of(candidates, "document");
    let what = format!("{model}, {candidates} for each question");
    if RanIn::of(model) != RanIn::Server {
        return format!("{what}, in this process, no LLM");
    }
    let used = used(Purpose::Reranker, model, report, prices);
    format!("{what}, {used}")
}

//! Who answers and who judges, opened and ready to be asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_models::{ChatModel, ModelIdentity};
use evals_rag::Prompt;
use evals_rag::answering::{Answerer, ChatAnswerer, ExtractiveAnswerer, Refusals};
use evals_rag::judging::{ChatJudge, Judge, OverlapJudge, RefusalJudge};
use evals_rag::prices::{Price, Prices};
use evals_stores::replies::{CachedChat, ReplyStore};
use evals_stores::store::RefreshPolicy;
use serde_json::{Map, Value};

use super::plan::{JudgingPlan, QaPlan, Replies};
use super::prompts::Prompts;
use crate::choices;
use crate::command::run::Interruption;
use crate::command::run::reranking::Reranking;
use crate::models::{ConfiguredModel, ModelKind, Servers};
use crate::settings::Resolved;
use crate::spending::{Metered, Spending};

/// What answers.
#[derive(Debug, Clone)]
pub(super) struct Answering {
    pub(super) answerer: Arc<dyn Answerer>,
    /// The model behind it, with its prompt, where there is one.
    pub(super) chat: Option<ChatAnswerer>,
    model: Option<Arc<dyn ChatModel>>,
    prompt: Option<Prompt>,
}

/// What judges.
#[derive(Debug, Clone)]
pub(super) struct Judging {
    pub(super) judge: Arc<dyn Judge>,
    pub(super) chat: Option<ChatJudge>,
    pub(super) refusals: Option<RefusalJudge>,
    model: Option<Arc<dyn ChatModel>>,
    prompts: Vec<Prompt>,
}

/// Opens chat models: their servers, the store of replies before them, and the meter behind it.
pub(in super::super) struct Opener<'o, 'r> {
    pub(super) resolved: &'r Resolved,
    pub(in super::super) servers: &'o mut Servers<'r>,
    pub(in super::super) replies: &'o Replies,
    pub(super) spending: &'o Arc<Spending>,
    pub(in super::super) interruption: &'o Interruption,
    store: Option<ReplyStore>,
}

impl<'o, 'r> Opener<'o, 'r> {
    pub(in super::super) fn new(
        resolved: &'r Resolved,
        servers: &'o mut Servers<'r>,
        replies: &'o Replies,
        spending: &'o Arc<Spending>,
        interruption: &'o Interruption,
    ) -> Self {
        Self {
            resolved,
            servers,
            replies,
            spending,
            interruption,
            store: None,
        }
    }

    pub(super) async fn answering(&mut self, plan: &QaPlan) -> Result<Answering> {
        let refusals = Refusals::new(&plan.refusal_sentences);
        match plan.answerer.kind {
            ModelKind::Embedded => {
                let embedder = Arc::new(StaticEmbedder::static_minilm());
                return Ok(Answering {
                    answerer: Arc::new(ExtractiveAnswerer::new(embedder, refusals)),
                    chat: None,
                    model: None,
                    prompt: None,
                });
            }
            ModelKind::Local
            | ModelKind::Ollama
            | ModelKind::OpenAi
            | ModelKind::HttpReranker
            | ModelKind::LlmReranker(_) => {}
        }
        let model = self.chat(&plan.answerer).await?;
        let prompt = plan.judging.prompts.answer.clone();
        let mut chat = ChatAnswerer::new(Arc::clone(&model), refusals).prompt(prompt.clone());
        // Said with each request, so that one whose budget was too small can be asked again with a larger one.
        if let Some(most) = plan.answerer.settings.max_tokens {
            chat = chat.max_tokens(most);
        }
        Ok(Answering {
            answerer: Arc::new(chat.clone()),
            chat: Some(chat),
            model: Some(model),
            prompt: Some(prompt),
        })
    }

    pub(super) async fn judging(&mut self, plan: &JudgingPlan) -> Result<Judging> {
        match plan.judge.kind {
            ModelKind::Embedded => {
                return Ok(Judging {
                    judge: Arc::new(OverlapJudge::default()),
                    chat: None,
                    refusals: None,
                    model: None,
                    prompts: Vec::new(),
                });
            }
            ModelKind::Local
            | ModelKind::Ollama
            | ModelKind::OpenAi
            | ModelKind::HttpReranker
            | ModelKind::LlmReranker(_) => {}
        }
        let model = self.chat(&plan.judge).await?;
        let mut prompts = vec![plan.prompts.judge.clone()];
        let refusals = plan.refusals.then(|| {
            prompts.push(plan.prompts.refusal.clone());
            RefusalJudge::new(Arc::clone(&model)).prompt(plan.prompts.refusal.clone())
        });
        let mut chat = ChatJudge::new(Arc::clone(&model)).prompt(plan.prompts.judge.clone());
        if let Some(most) = plan.judge.settings.max_tokens {
            chat = chat.max_tokens(most);
        }
        Ok(Judging {
            judge: Arc::new(chat.clone()),
            chat: Some(chat),
            refusals,
            model: Some(model),
            prompts,
        })
    }

    /// A chat model that is asked through the store of replies.
    pub(in super::super) async fn chat(
        &mut self,
        model: &ConfiguredModel,
    ) -> Result<Arc<dyn ChatModel>> {
        let mut model = model.clone();
        // A run that is repeated should give the same answers, as far as the server can.
        model.settings.temperature.get_or_insert(0.0);
        let inner = self.servers.chat(&model).await?;
        let price = choices::prices(self.resolved).of(inner.identity());
        let metered = Arc::new(Metered::new(inner, price, self.spending));
        let (path, policy) = match self.replies {
            Replies::NotStored => return Ok(metered),
            Replies::Stored(path) => (path, RefreshPolicy::Reuse),
            Replies::Anew(path) => (path, RefreshPolicy::Refresh),
        };
        let store = if let Some(store) = &self.store {
            store.clone()
        } else {
            let store = ReplyStore::open_watched(path, self.servers.watch()).await?;
            self.interruption.mind_writes(store.writes());
            self.store.insert(store).clone()
        };
        Ok(Arc::new(
            CachedChat::new(metered, store).with_policy(policy),
        ))
    }
}

/// The models that take part, by role, and what else their replies depend on.
#[derive(Debug, Clone, Default)]
pub(super) struct Cast {
    pub(super) models: BTreeMap<&'static str, ModelIdentity>,
    pub(super) parameters: BTreeMap<&'static str, Map<String, Value>>,
    /// Digests by file name.
    pub(super) prompts: BTreeMap<String, String>,
    /// The chat models, to be asked afterwards what became of their requests.
    asked: Vec<(&'static str, Arc<dyn ChatModel>)>,
}

impl Cast {
    pub(super) fn of(answering: Option<&Answering>, judging: &Judging) -> Self {
        let mut cast = Self::default();
        cast.enter_chat("judge", judging.judge.identity(), judging.model.as_ref());
        if let Some(answering) = answering {
            let identity = answering.answerer.identity();
            cast.enter_chat("answerer", identity, answering.model.as_ref());
        }
        let answer = answering.and_then(|answering| answering.prompt.as_ref());
        cast.prompts = Prompts::digests(answer.into_iter().chain(&judging.prompts));
        cast
    }

    /// Adds what puts the passages into order.
    pub(super) fn enter_reranker(&mut self, reranking: &Reranking) {
        let parameters = Some(reranking.parameters());
        self.enter("reranker", reranking.identity(), parameters);
        self.prompts.extend(reranking.prompts().clone());
    }

    fn enter_chat(
        &mut self,
        role: &'static str,
        identity: &ModelIdentity,
        model: Option<&Arc<dyn ChatModel>>,
    ) {
        let parameters = model.map(|model| model.parameters());
        self.enter(role, identity, parameters.as_ref());
        self.asked
            .extend(model.map(|model| (role, Arc::clone(model))));
    }

    /// The price of the model of a role; unknown where there is none.
    pub(super) fn price(&self, role: &str, prices: &Prices) -> Price {
        let model = self.models.get(role);
        model.map(|model| prices.of(model)).unwrap_or_default()
    }

    /// What servers did not take of the requests, so that the models were asked otherwise than the settings say.
    pub(super) fn notes(&self) -> Vec<(String, String)> {
        let notes = self.asked.iter().flat_map(|(role, model)| {
            let notes = model.notes().into_iter();
            notes.map(move |note| ((*role).to_owned(), note))
        });
        notes.collect()
    }

    fn enter(
        &mut self,
        role: &'static str,
        identity: &ModelIdentity,
        parameters: Option<&Map<String, Value>>,
    ) {
        self.models.insert(role, identity.clone());
        if let Some(parameters) = parameters {
            self.parameters.insert(role, parameters.clone());
        }
    }

    /// Why verdicts of this judge about this answerer are to be taken with care, if they are.
    pub(super) fn self_preference(&self) -> Option<String> {
        let (answerer, judge) = (self.models.get("answerer")?, self.models.get("judge")?);
        let same = answerer.provider == judge.provider && answerer.name == judge.name;
        let llm = self.parameters.contains_key("judge");
        (same && llm).then(|| {
            format!("`{judge}` judges its own answers; models prefer what they wrote themselves")
        })
    }
}

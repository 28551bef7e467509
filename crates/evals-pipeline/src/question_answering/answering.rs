//! Opens the answerer: the embedded one, or a chat model.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::answering::{AgentAnswerer, Answerer, ChatAnswerer, ExtractiveAnswerer, Refusals};
use evals_settings::{QaMode, Resolved, SettingsError};

use crate::models::ConfiguredChat;
use crate::run_models::{Opener, Prompts};

/// An opened answerer.
#[derive(Debug, Clone)]
pub(crate) struct Answering {
    pub(crate) answerer: Arc<dyn Answerer>,
    /// The same as a chat answerer, if a chat model answers.
    pub(crate) chat: Option<ChatAnswerer>,
    /// The same as an agent, if the chat model searches by itself.
    pub(crate) agent: Option<AgentAnswerer>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) prompts: Vec<Prompt>,
}

/// The limit on an agent's steps below which it could not search.
const LEAST_STEPS: NonZeroU32 = NonZeroU32::new(2).expect("2 is not 0");

impl Answering {
    /// Refuses an agent that cannot search, and one that is not a chat model.
    pub(crate) fn check(resolved: &Resolved, model: &ConfiguredChat) -> Result<(), SettingsError> {
        let qa = &resolved.settings.qa;
        if qa.mode == QaMode::Single {
            return Ok(());
        }
        if model.is_embedded() {
            let message =
                format!("`agent` needs a chat model that calls tools, and `qa.model` is `{model}`");
            return Err(resolved.bad_value("qa.mode", &message));
        }
        if qa.agent.max_steps < LEAST_STEPS {
            let message = "must be at least 2: one step to search, and one to answer";
            return Err(resolved.bad_value("qa.agent.max_steps", &message));
        }
        Ok(())
    }

    /// Opens `model` with its prompts. An answer that is one of `refusals` counts as a refusal.
    pub(crate) async fn open(
        opener: &mut Opener<'_, '_>,
        model: &ConfiguredChat,
        prompts: &Prompts,
        refusals: &[String],
    ) -> Result<Self> {
        let qa = &opener.resolved.settings.qa;
        let refusals = Refusals::new(refusals);
        if model.is_embedded() {
            let embedder = Arc::new(StaticEmbedder::static_minilm());
            let mut answerer = ExtractiveAnswerer::new(embedder, refusals);
            if let Some(recorder) = &opener.query_recorder {
                answerer = answerer.reusing(Arc::clone(recorder));
            }
            return Ok(Self {
                answerer: Arc::new(answerer),
                chat: None,
                agent: None,
                model: None,
                prompts: Vec::new(),
            });
        }
        let searches = qa.mode == QaMode::Agent;
        // Each step of an agent would need another batch.
        let opened = if searches {
            opener.chat(model).await?
        } else {
            opener.chat_in_batches(model).await?
        };
        let mut chat =
            ChatAnswerer::new(Arc::clone(&opened), refusals.clone()).prompt(prompts.answer.clone());
        let mut agent = AgentAnswerer::new(Arc::clone(&opened), refusals)
            .prompts(prompts.agent.clone(), prompts.agent_passages.clone())
            .max_steps(qa.agent.max_steps);
        // Each request states the limit, so that a retry of a truncated reply can raise it.
        if let Some(most) = model.settings.max_tokens() {
            chat = chat.max_tokens(most);
            agent = agent.max_tokens(most);
        }
        Ok(Self {
            answerer: Arc::new(chat.clone()),
            chat: Some(chat),
            agent: searches.then_some(agent),
            model: Some(opened),
            prompts: if searches {
                vec![prompts.agent.clone(), prompts.agent_passages.clone()]
            } else {
                vec![prompts.answer.clone()]
            },
        })
    }
}

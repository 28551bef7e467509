//! Opens the answerer: the embedded one, or a chat model.

use std::sync::Arc;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::answering::{Answerer, ChatAnswerer, ExtractiveAnswerer, Refusals};

use crate::models::{ConfiguredModel, ModelKind};
use crate::run_models::Opener;

/// An opened answerer.
#[derive(Debug, Clone)]
pub(crate) struct Answering {
    pub(crate) answerer: Arc<dyn Answerer>,
    /// The same as a chat answerer, if a chat model answers.
    pub(crate) chat: Option<ChatAnswerer>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) prompt: Option<Prompt>,
}

impl Answering {
    /// Opens `model` with `prompt`. An answer that is one of `refusals` counts as a refusal.
    pub(crate) async fn open(
        opener: &mut Opener<'_, '_>,
        model: &ConfiguredModel,
        prompt: &Prompt,
        refusals: &[String],
    ) -> Result<Self> {
        let refusals = Refusals::new(refusals);
        match model.kind {
            ModelKind::Embedded => {
                let embedder = Arc::new(StaticEmbedder::static_minilm());
                let mut answerer = ExtractiveAnswerer::new(embedder, refusals);
                if let Some(recorder) = &opener.query_recorder {
                    answerer = answerer.reusing(Arc::clone(recorder));
                }
                return Ok(Self {
                    answerer: Arc::new(answerer),
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
        let opened = opener.chat(model).await?;
        let mut chat = ChatAnswerer::new(Arc::clone(&opened), refusals).prompt(prompt.clone());
        // Each request states the limit, so that a retry of a truncated reply can raise it.
        if let Some(most) = model.settings.max_tokens {
            chat = chat.max_tokens(most);
        }
        Ok(Self {
            answerer: Arc::new(chat.clone()),
            chat: Some(chat),
            model: Some(opened),
            prompt: Some(prompt.clone()),
        })
    }
}

//! What answers, opened and ready to be asked.

use std::sync::Arc;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::answering::{Answerer, ChatAnswerer, ExtractiveAnswerer, Refusals};

use crate::models::{ConfiguredModel, ModelKind};
use crate::run_models::Opener;

/// What answers.
#[derive(Debug, Clone)]
pub(crate) struct Answering {
    pub(crate) answerer: Arc<dyn Answerer>,
    /// The model behind it, with its prompt, where there is one.
    pub(crate) chat: Option<ChatAnswerer>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) prompt: Option<Prompt>,
}

impl Answering {
    /// Opens `model`, which is asked by `prompt` and says so with one of `refusals` where it cannot answer.
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
        // Said with each request, so that one whose budget was too small can be asked again with a larger one.
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

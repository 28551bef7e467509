//! The settings of a model behind a server as its client takes them.

use std::num::NonZeroUsize;

use anyhow::Result;
use evals_providers::{ChatSettings, Dimension, EmbedSettings, RerankSettings, Think};
use evals_settings::{ChatKind, Effort, TextSettings};

use super::served_model::ServedModel;

impl ServedModel<'_> {
    pub(super) fn chat_settings(&self, kind: &ChatKind) -> Result<ChatSettings> {
        let mut settings = ChatSettings::new(self.server()?, self.model.name);
        if let Some(sampling) = kind.sampling() {
            settings.temperature = sampling.temperature;
            settings.seed = sampling.seed;
            settings.max_tokens = sampling.max_tokens;
        }
        match kind {
            ChatKind::Embedded(_) => {}
            ChatKind::Ollama(ollama) => {
                settings.num_ctx = ollama.num_ctx;
                settings.keep_alive.clone_from(&ollama.keep_alive);
                settings.think = ollama.think.map(think);
            }
            ChatKind::OpenAi(openai) => settings
                .reasoning_effort
                .clone_from(&openai.reasoning_effort),
        }
        settings
            .extra_body
            .clone_from(&self.model.connection.extra_body);
        Ok(settings)
    }

    pub(super) fn embed_settings(&self, texts: &TextSettings) -> Result<EmbedSettings> {
        let mut settings = EmbedSettings::new(self.server()?, self.model.name);
        settings.query_prefix = texts.query_prefix.clone().unwrap_or_default();
        settings.document_prefix = texts.document_prefix.clone().unwrap_or_default();
        settings.dimension = texts.vector_dim.map_or(Dimension::Learn, Dimension::Expect);
        settings.max_tokens = texts.max_tokens.and_then(|most| most.try_into().ok());
        settings
            .extra_body
            .clone_from(&self.model.connection.extra_body);
        Ok(settings)
    }

    /// A request holds at most `batch_size` texts.
    pub(super) fn rerank_settings(&self, batch_size: NonZeroUsize) -> Result<RerankSettings> {
        let mut settings = RerankSettings::new(self.server()?, self.model.name);
        settings.max_batch = batch_size;
        settings
            .extra_body
            .clone_from(&self.model.connection.extra_body);
        Ok(settings)
    }
}

fn think(think: evals_settings::Think) -> Think {
    match think {
        evals_settings::Think::Whether(true) => Think::On,
        evals_settings::Think::Whether(false) => Think::Off,
        evals_settings::Think::HowMuch(Effort::Low) => Think::Low,
        evals_settings::Think::HowMuch(Effort::Medium) => Think::Medium,
        evals_settings::Think::HowMuch(Effort::High) => Think::High,
    }
}

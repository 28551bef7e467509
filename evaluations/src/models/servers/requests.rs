//! The settings of a model behind a server as its client takes them.

use std::num::NonZeroUsize;

use anyhow::Result;
use evals_providers::{ChatSettings, Dimension, EmbedSettings, RerankSettings, Think};

use super::served_model::ServedModel;
use crate::settings::{self, Effort};

impl ServedModel<'_> {
    pub(super) fn chat_settings(&self) -> Result<ChatSettings> {
        let model = &self.model.settings;
        let mut settings = ChatSettings::new(self.server()?, &model.name);
        settings.temperature = model.temperature;
        settings.seed = model.seed;
        settings.max_tokens = model.max_tokens;
        settings
            .reasoning_effort
            .clone_from(&model.reasoning_effort);
        settings.num_ctx = model.num_ctx;
        settings.keep_alive.clone_from(&model.keep_alive);
        settings.think = model.think.map(think);
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }

    pub(super) fn embed_settings(&self) -> Result<EmbedSettings> {
        let model = &self.model.settings;
        let mut settings = EmbedSettings::new(self.server()?, &model.name);
        settings.query_prefix = model.query_prefix.clone().unwrap_or_default();
        settings.document_prefix = model.document_prefix.clone().unwrap_or_default();
        settings.dimension = model.vector_dim.map_or(Dimension::Learn, Dimension::Expect);
        settings.max_tokens = model.max_tokens.and_then(|most| most.try_into().ok());
        settings.keep_alive.clone_from(&model.keep_alive);
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }

    /// A request holds at most `batch_size` texts.
    pub(super) fn rerank_settings(&self, batch_size: NonZeroUsize) -> Result<RerankSettings> {
        let model = &self.model.settings;
        let mut settings = RerankSettings::new(self.server()?, &model.name);
        settings.max_batch = batch_size;
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }
}

fn think(think: settings::Think) -> Think {
    match think {
        settings::Think::Whether(true) => Think::On,
        settings::Think::Whether(false) => Think::Off,
        settings::Think::HowMuch(Effort::Low) => Think::Low,
        settings::Think::HowMuch(Effort::Medium) => Think::Medium,
        settings::Think::HowMuch(Effort::High) => Think::High,
    }
}

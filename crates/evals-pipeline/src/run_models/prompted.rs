//! A chat model that does one thing in a run by one prompt, such as rewriting questions.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Result;
use evals_models::ChatModel;
use evals_rag::Prompt;
use serde_json::{Value, json};

use super::opener::Opener;
use super::prompts::Prompts;
use crate::models::ConfiguredChat;

/// An opened chat model with its prompt.
#[derive(Debug)]
pub(crate) struct Prompted {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) prompt: Prompt,
    /// The limit of its replies in the settings.
    pub(crate) max_tokens: Option<NonZeroU32>,
}

impl Prompted {
    /// Opens a model of the settings with the prompt that `choose` takes; `None` if there is no such model.
    pub(crate) async fn open(
        opener: &mut Opener<'_, '_>,
        model: Option<ConfiguredChat>,
        choose: fn(Prompts) -> Prompt,
    ) -> Result<Option<Self>> {
        let Some(configured) = model else {
            return Ok(None);
        };
        let prompts = &opener.resolved.settings.prompts;
        let prompts = Prompts::find(&opener.session.directories, prompts)?;
        Ok(Some(Self {
            model: opener.chat(&configured).await?,
            prompt: choose(prompts),
            max_tokens: configured.settings.max_tokens(),
        }))
    }

    /// The digest of the prompt, by file name.
    pub(crate) fn prompts(&self) -> BTreeMap<String, String> {
        Prompts::digests([&self.prompt])
    }

    /// The model as JSON for a report: identity, parameters and prompt.
    pub(crate) fn describe(&self) -> Value {
        json!({
            "model": self.model.identity(),
            "parameters": self.model.parameters(),
            "prompts": self.prompts(),
        })
    }
}

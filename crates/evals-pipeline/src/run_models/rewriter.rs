//! The model that rewrites questions of conversations: checked before downloads begin, and opened before indexing begins.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals::Report;
use evals_messages::quantity;
use evals_models::{ChatModel, ModelIdentity};
use evals_rag::prices::Prices;
use evals_rag::targets::Conversations;
use evals_rag::{Prompt, Purpose, Retrieval, Rewriter};
use evals_settings::{QaMode, Resolved};
use serde_json::{Value, json};

use super::opener::Opener;
use super::prompts::Prompts;
use super::usage::used;
use crate::models::ConfiguredModels;
use crate::session::Session;

/// The label of the line of a report about rewritten questions.
pub const LABEL: &str = "rewriting";

/// An opened model that rewrites questions.
#[derive(Debug)]
pub(crate) struct Rewriting {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) prompt: Prompt,
    /// The limit of its replies in the settings.
    pub(crate) max_tokens: Option<NonZeroU32>,
}

/// Refuses settings that rewrite questions without a language model, or for an agent. Warns about a model that rewrites nothing.
pub(crate) fn check(
    session: &Session<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
    answers: bool,
) -> Result<()> {
    let settings = &resolved.settings;
    let Some(model) = &models.rewriter else {
        if settings.search.rewriter.is_some() {
            session.printer.warn(
                "`search.rewriter` is set, but `search.history` is not `rewrite`; questions are not rewritten",
            );
        }
        return Ok(());
    };
    if model.is_embedded() {
        let message = format!(
            "`rewrite` asks a language model, and `{model}` is none: set `search.rewriter`, for example \
             `--set search.rewriter=ollama:qwen3:4b`"
        );
        bail!(resolved.bad_value("search.history", &message));
    }
    if answers && settings.qa.mode == QaMode::Agent {
        let message = "`rewrite` has no effect on an agent, which writes its queries itself; use a number of turns, or `--skip-qa`";
        bail!(resolved.bad_value("search.history", &message));
    }
    Ok(())
}

/// Opens the model of the settings; `None` if no question is rewritten.
pub(crate) async fn open(opener: &mut Opener<'_, '_>) -> Result<Option<Rewriting>> {
    let Some(configured) = opener.models.rewriter.clone() else {
        return Ok(None);
    };
    let prompts = &opener.resolved.settings.prompts;
    let prompts = Prompts::find(&opener.session.directories, prompts)?;
    Ok(Some(Rewriting {
        model: opener.chat(&configured).await?,
        prompt: prompts.rewrite,
        max_tokens: configured.settings.max_tokens(),
    }))
}

impl Rewriting {
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

/// A line on the questions of a report that `model` rewrote, with its tokens and cost.
pub fn account(model: &ModelIdentity, report: &Report<Retrieval>, prices: &Prices) -> String {
    let with = |attribute: &str| {
        let cases = report.cases.iter();
        let with = cases.filter(|case| case.attributes.contains_key(attribute));
        with.count()
    };
    let (rewritten, cut) = (with(Rewriter::REWRITTEN), with(Conversations::CUT));
    let cut = if cut > 0 {
        format!(", {cut} without the oldest turns (`conversations.turns`)")
    } else {
        String::new()
    };
    let used = match rewritten {
        0 => String::new(),
        _ => format!(", {}", used(Purpose::Rewriter, model, report, prices)),
    };
    let cases = quantity::of(report.cases.len(), "search");
    format!("{model}, {rewritten} of {cases} for a rewritten question{cut}{used}")
}

//! The model that rewrites questions of conversations: checked before downloads begin.

use anyhow::{Result, bail};
use evals::Report;
use evals_messages::quantity;
use evals_models::ModelIdentity;
use evals_rag::prices::Prices;
use evals_rag::targets::Conversations;
use evals_rag::{Purpose, Retrieval, Rewriter};
use evals_settings::{QaMode, Resolved};

use super::usage::used;
use crate::models::ConfiguredModels;
use crate::session::Session;

/// The label of the line of a report about rewritten questions.
pub const LABEL: &str = "rewriting";

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

//! The model that plays the users of conversations: checked before downloads begin.

use anyhow::{Result, bail};
use evals::Report;
use evals_data::Manifest;
use evals_models::ModelIdentity;
use evals_rag::prices::Prices;
use evals_rag::{Purpose, Retrieval};
use evals_settings::Resolved;
use evals_targets::{TargetAddress, TargetSettings};

use super::usage::used;
use crate::models::ConfiguredModels;
use crate::session::Session;

/// The role of the model in records, and the label of its line in reports.
pub(crate) const USER: &str = "user";

/// Refuses users without goals, without a language model or with a target that cannot reply, and goals without a user. Warns about a model that
/// plays nobody.
pub(crate) fn check(
    session: &Session<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
    manifest: &Manifest,
    target: &TargetSettings,
) -> Result<()> {
    use TargetAddress::{LanceDb, Outputs, Trec};
    let key = "conversations.history";
    let (name, has_goals) = (&manifest.name, manifest.questions.columns.goal.is_some());
    let Some(model) = &models.user else {
        if has_goals {
            bail!(
                "the questions of `{name}` are goals of users whom a model plays: add `--set conversations.history=simulated`, and name the \
                 model as `conversations.user`"
            );
        }
        if resolved.settings.conversations.user.is_some() {
            session.printer.warn(
                "`conversations.user` is set, but `conversations.history` is not `simulated`; no user is played",
            );
        }
        return Ok(());
    };
    if !has_goals {
        let message = format!(
            "`simulated` needs a goal for each conversation: name the column that holds it in the manifest of `{name}`, such as `questions: {{goal: goal}}`"
        );
        bail!(resolved.bad_value(key, &message));
    }
    if let Some(Outputs(_) | Trec(_) | LanceDb { .. }) = target.address {
        let message = "`simulated` needs a target that replies to messages, such as a service or a command; this target cannot reply";
        bail!(resolved.bad_value(key, &message));
    }
    if model.is_embedded() {
        let message = format!(
            "`simulated` asks a language model, and `{model}` is none: set `conversations.user`, for example \
             `--set conversations.user=ollama:qwen3:4b`"
        );
        bail!(resolved.bad_value(key, &message));
    }
    Ok(())
}

/// A line on the tokens and the cost of the users in a report.
pub(crate) fn account(
    model: &ModelIdentity,
    report: &Report<Retrieval>,
    prices: &Prices,
) -> (String, String) {
    let used = used(Purpose::User, model, report, prices);
    (USER.to_owned(), format!("{model}, {used}"))
}

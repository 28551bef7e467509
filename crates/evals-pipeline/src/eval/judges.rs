//! The chat models of evaluators that ask one.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use evals::EvaluatorSpec;
use evals_evaluators::{BuildError, ChatModels, Registry, WantedModel};
use evals_evaluators::{DatasetFile, FileEvaluator, Loaded, judge_calls, judge_votes};
use evals_models::{ChatModel, ModelIdentity};
use evals_settings::{ChatKind, EMBEDDED, Model, ModelKind as _, Resolved, Role, Settings};

use super::model_settings;
use crate::batches::Caller;
use crate::choices;
use crate::models::{ConfiguredChat, ConfiguredModel, Servers};
use crate::run_models::Opener;

/// The models that the evaluators of a file ask for, not yet opened.
pub(super) struct WantedJudges {
    judges: Vec<(WantedModel, ConfiguredChat)>,
    /// Calls of the evaluators of every case, for one case.
    pub(super) for_every_case: usize,
    /// Whether an evaluator has a panel, or asks its judge several times.
    pub(super) votes: bool,
    /// What to know about the models.
    pub(super) warnings: Vec<String>,
}

/// The models that the evaluators of a run ask.
#[derive(Debug, Default)]
pub(super) struct OpenedJudges {
    models: Vec<(WantedModel, Arc<dyn ChatModel>)>,
}

impl WantedJudges {
    /// Finds the model of each evaluator. Fails for an evaluator without a chat model, so that a run does not begin in vain.
    pub(super) fn of(
        registry: &Registry,
        loaded: &Loaded,
        path: &Path,
        resolved: &Resolved,
    ) -> Result<Self> {
        let mut judges: Vec<(WantedModel, ConfiguredChat)> = Vec::new();
        let mut warnings = Vec::new();
        let shared = loaded.file.evaluators.iter();
        let for_every_case = shared.map(|it| calls(registry, &it.spec)).sum();
        for (evaluator, wanted) in wanted(registry, &loaded.file) {
            if judges.iter().all(|(known, _)| *known != wanted) {
                let configured = configured(evaluator, path, resolved, &wanted, &mut warnings)?;
                judges.push((wanted, configured));
            }
        }
        Ok(Self {
            judges,
            for_every_case,
            votes: wanted(registry, &loaded.file)
                .iter()
                .any(|(evaluator, _)| judge_votes(&evaluator.spec).is_some_and(|it| it > 1)),
            warnings,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.judges.is_empty()
    }

    /// The models that may use batches.
    pub(super) fn callers(&self) -> impl Iterator<Item = Caller<'_>> {
        self.judges.iter().map(|(_, model)| Caller {
            role: "judge",
            model,
            direct: None,
        })
    }

    pub(super) fn identities(&self) -> impl Iterator<Item = ModelIdentity> {
        self.judges.iter().map(|(_, model)| model.identity())
    }

    /// Fails for a judge without a price, because a budget could not be kept.
    pub(super) fn check_prices(&self, resolved: &Resolved) -> Result<()> {
        let prices = choices::prices(resolved);
        for identity in self.identities() {
            let price = prices.of(&identity);
            if price.input.is_none() || price.output.is_none() {
                bail!(
                    "`--budget` needs the price of `{identity}`; set `prices.{}.input` and `output`",
                    identity.name
                );
            }
        }
        Ok(())
    }

    /// Opens the models, and asks servers whether they have them.
    pub(super) async fn open(&self, opener: &mut Opener<'_, '_>) -> Result<OpenedJudges> {
        let mut opened = OpenedJudges::default();
        for (wanted, model) in &self.judges {
            let model = opener.chat_in_batches(model).await?;
            opened.models.push((wanted.clone(), model));
        }
        Ok(opened)
    }
}

impl OpenedJudges {
    /// The models that an evaluator asks, with their roles.
    pub(super) fn of(
        &self,
        registry: &Registry,
        spec: &EvaluatorSpec,
    ) -> Vec<(String, Arc<dyn ChatModel>)> {
        let wanted = registry.wanted_models([spec]);
        let roles = self.models.iter().zip(self.roles());
        let asked = roles.filter(|((known, _), _)| wanted.contains(known));
        asked.map(|(_, role)| role).collect()
    }

    /// The models, each once.
    pub(super) fn identities(&self) -> Vec<ModelIdentity> {
        let mut identities: Vec<ModelIdentity> = Vec::new();
        for (_, model) in self.roles() {
            if !identities.contains(model.identity()) {
                identities.push(model.identity().clone());
            }
        }
        identities
    }

    /// The models with their roles: `judge`, or `judge PROVIDER:NAME` beside the first.
    pub(super) fn roles(&self) -> Vec<(String, Arc<dyn ChatModel>)> {
        let mut roles: Vec<(String, Arc<dyn ChatModel>)> = Vec::new();
        for (_, model) in &self.models {
            let role = if roles.is_empty() {
                "judge".to_owned()
            } else {
                format!("judge {}", model.identity())
            };
            let mut unique = role.clone();
            let mut number = 2;
            while roles.iter().any(|(taken, _)| *taken == unique) {
                unique = format!("{role} ({number})");
                number += 1;
            }
            roles.push((unique, Arc::clone(model)));
        }
        roles
    }
}

impl ChatModels for OpenedJudges {
    fn chat(&self, wanted: &WantedModel) -> Result<Arc<dyn ChatModel>, BuildError> {
        let found = self.models.iter().find(|(known, _)| known == wanted);
        let found = found.map(|(_, model)| Arc::clone(model));
        found.ok_or_else(|| "the model was not opened before the run".into())
    }
}

/// What is wrong with the models that the evaluators of a file name, and what to know about them, as far as the file alone tells.
pub fn check_file(
    registry: &Registry,
    file: &DatasetFile,
    path: &Path,
) -> (Vec<String>, Vec<String>) {
    let settings = Settings::default();
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for (evaluator, wanted) in wanted(registry, file) {
        let at = at(evaluator, path);
        match model_of(&at, &settings, &wanted, &mut warnings) {
            Ok(model) => {
                let is_named = wanted.name.is_some();
                let unknown = unknown_provider(&at, &settings, &model);
                warnings.extend(unknown.filter(|_| is_named));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    (problems, warnings)
}

/// How many calls an evaluator makes for one case: one for each model that it asks, or more if it decides claim by claim.
pub(super) fn calls(registry: &Registry, spec: &EvaluatorSpec) -> usize {
    let models = || registry.wanted_models([spec]).len();
    judge_calls(spec).unwrap_or_else(models)
}

/// The models that the evaluators of a file want.
fn wanted<'f>(registry: &Registry, file: &'f DatasetFile) -> Vec<(&'f FileEvaluator, WantedModel)> {
    let own = file.cases.iter().flat_map(|case| &case.evaluators);
    let all = file
        .evaluators
        .iter()
        .chain(own)
        .chain(&file.report_evaluators);
    let wanted = all.flat_map(|evaluator| {
        let models = registry.wanted_models([&evaluator.spec]).into_iter();
        models.map(move |wanted| (evaluator, wanted))
    });
    wanted.collect()
}

/// An evaluator with its place, for messages.
fn at(evaluator: &FileEvaluator, path: &Path) -> String {
    let FileEvaluator { spec, place, .. } = evaluator;
    format!("{}:{place}: `{}`", path.display(), spec.name)
}

/// The model that an evaluator wants, with its settings. Settings without effect are in `warnings`.
fn model_of(
    at: &str,
    settings: &Settings,
    wanted: &WantedModel,
    warnings: &mut Vec<String>,
) -> Result<Model<ChatKind>> {
    let judge = &settings.evaluations.judge;
    let mut model = match &wanted.name {
        None => judge.clone(),
        Some(written) => match written.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => {
                let provider = match provider {
                    // The names of pydantic-ai for the protocols of OpenAI.
                    "openai-chat" | "openai-responses"
                        if !settings.providers.contains_key(provider) =>
                    {
                        "openai"
                    }
                    provider => provider,
                };
                // The judge's own address and key go with its name.
                if judge.provider == provider && judge.name == name {
                    judge.clone()
                } else {
                    Model::named(provider, name)
                }
            }
            _ => bail!(
                "{at} names the model `{written}`; write `PROVIDER:NAME`, e.g. `openai:gpt-5-mini`"
            ),
        },
    };
    let ignored = model_settings::apply(&mut model, &wanted.settings);
    let ignored = ignored.map_err(|problem| anyhow!("{at}: {problem}"))?;
    if !ignored.is_empty() {
        let names: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
        warnings.push(format!(
            "{at}: not sent to this judge: {} of `model_settings`",
            names.join(", ")
        ));
    }
    Ok(model)
}

/// The message about a model whose provider has no address.
fn unknown_provider(at: &str, settings: &Settings, model: &Model<ChatKind>) -> Option<String> {
    let configured = settings.providers.iter();
    let configured = configured.filter(|(_, provider)| provider.base_url.is_some());
    let configured = configured.map(|(name, _)| name.as_str());
    let known: Vec<&str> = [EMBEDDED, "ollama", "openai"]
        .into_iter()
        .chain(configured)
        .collect();
    let Model { provider, name, .. } = model;
    let connection = model.kind.connection();
    let has_address = connection.is_some_and(|(_, it)| it.base_url.is_some());
    if has_address || known.contains(&provider.as_str()) {
        return None;
    }
    let known: Vec<String> = known[1..].iter().map(|name| format!("`{name}`")).collect();
    Some(format!(
        "{at} names the model `{provider}:{name}`, and the provider `{provider}` is not known; known are {}; set \
         `providers.{provider}.base_url` to the address of a server that speaks OpenAI's protocol, or remove `model` and name \
         the judge with `--judge PROVIDER:NAME`",
        known.join(", ")
    ))
}

/// The model that an evaluator wants, if it can be asked.
fn configured(
    evaluator: &FileEvaluator,
    path: &Path,
    resolved: &Resolved,
    wanted: &WantedModel,
    warnings: &mut Vec<String>,
) -> Result<ConfiguredChat> {
    let at = at(evaluator, path);
    let settings = &resolved.settings;
    let model = model_of(&at, settings, wanted, warnings)?;
    let unknown = unknown_provider(&at, settings, &model);
    if let Some(unknown) = unknown.filter(|_| wanted.name.is_some()) {
        bail!(unknown);
    }
    let model = ConfiguredModel::new(Role::Judge, model);
    if model.is_embedded() {
        bail!(
            "{at} needs a chat model, and `{model}` is not one; add `--judge PROVIDER:NAME`, set `evaluations.judge`, or name one \
             in the file with `model: PROVIDER:NAME`"
        );
    }
    Servers::check(resolved, &model)?;
    Ok(model)
}

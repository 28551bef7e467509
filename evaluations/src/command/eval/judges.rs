//! The chat models of evaluators that ask one.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals_evaluators::{BuildError, ChatModels, Registry, WantedModel};
use evals_evaluators::{FileEvaluator, Loaded};
use evals_models::{ChatModel, ModelIdentity};
use serde_json::{Map, Value};

use crate::choices;
use crate::models::{ConfiguredModel, ConfiguredModels, ModelKind, Servers};
use crate::run_models::Opener;
use crate::settings::{Model, Resolved, Role};

/// The models that the evaluators of a file ask for, not yet opened.
pub(super) struct WantedJudges {
    judges: Vec<(WantedModel, ConfiguredModel)>,
    /// Evaluators of every case that ask a model.
    pub(super) for_every_case: usize,
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
        models: &ConfiguredModels,
    ) -> Result<Self> {
        let file = &loaded.file;
        let own = file.cases.iter().flat_map(|case| &case.evaluators);
        let mut judges: Vec<(WantedModel, ConfiguredModel)> = Vec::new();
        let mut for_every_case = 0;
        let shared = file.evaluators.iter().map(|evaluator| (evaluator, true));
        for (evaluator, is_shared) in shared.chain(own.map(|evaluator| (evaluator, false))) {
            for wanted in registry.wanted_models([&evaluator.spec]) {
                for_every_case += usize::from(is_shared);
                if judges.iter().all(|(known, _)| *known != wanted) {
                    let configured = configured(evaluator, path, resolved, models, &wanted)?;
                    judges.push((wanted, configured));
                }
            }
        }
        for evaluator in &file.report_evaluators {
            for wanted in registry.wanted_models([&evaluator.spec]) {
                if judges.iter().all(|(known, _)| *known != wanted) {
                    let configured = configured(evaluator, path, resolved, models, &wanted)?;
                    judges.push((wanted, configured));
                }
            }
        }
        Ok(Self {
            judges,
            for_every_case,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.judges.is_empty()
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
            let model = opener.chat(model).await?;
            opened.models.push((wanted.clone(), model));
        }
        Ok(opened)
    }
}

impl OpenedJudges {
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

/// The model that an evaluator wants, with its settings.
fn configured(
    evaluator: &FileEvaluator,
    path: &Path,
    resolved: &Resolved,
    models: &ConfiguredModels,
    wanted: &WantedModel,
) -> Result<ConfiguredModel> {
    let FileEvaluator { spec, place } = evaluator;
    let at = format!("{}:{place}: `{}`", path.display(), spec.name);
    let mut model = match &wanted.name {
        None => (*models.judge.settings).clone(),
        Some(name) => match name.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => {
                let judge = &models.judge.settings;
                // The judge's own address and key go with its name.
                if judge.provider == provider && judge.name == name {
                    (**judge).clone()
                } else {
                    Model::named(provider, name)
                }
            }
            _ => bail!(
                "{at} names the model `{name}`; write `PROVIDER:NAME`, e.g. `openai:gpt-5-mini`"
            ),
        },
    };
    apply(&mut model, &wanted.settings).map_err(|problem| anyhow::anyhow!("{at}: {problem}"))?;
    let model = ConfiguredModel::new(Role::Judge, &model);
    match model.kind {
        ModelKind::Ollama | ModelKind::OpenAi => {}
        ModelKind::Embedded
        | ModelKind::Local
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => bail!(
            "{at} needs a chat model, and `{model}` is none; add `--judge PROVIDER:NAME`, set `evaluations.judge`, or name one \
             in the file with `model: PROVIDER:NAME`"
        ),
    }
    Servers::check(resolved, &model)?;
    Ok(model)
}

/// The settings of pydantic-ai that become fields of a request.
const SENT_AS_THEY_ARE: [&str; 4] = [
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
];

/// Applies settings in the words of pydantic-ai.
fn apply(model: &mut Model, settings: &Map<String, Value>) -> Result<(), String> {
    let mut fields = Map::new();
    for (name, value) in settings {
        match name.as_str() {
            "temperature" | "max_tokens" | "timeout" | "seed" => {
                fields.insert(name.clone(), value.clone());
            }
            "openai_reasoning_effort" => {
                fields.insert("reasoning_effort".to_owned(), value.clone());
            }
            "extra_body" => match value {
                Value::Object(body) => model.extra_body.extend(body.clone()),
                _ => return Err("`model_settings.extra_body` is no mapping".to_owned()),
            },
            name if SENT_AS_THEY_ARE.contains(&name) => {
                model.extra_body.insert(name.to_owned(), value.clone());
            }
            other => {
                return Err(format!(
                    "`model_settings.{other}` is not supported; `extra_body` takes further fields of the request"
                ));
            }
        }
    }
    if fields.is_empty() {
        return Ok(());
    }
    let mut written = serde_json::to_value(&*model).map_err(|error| error.to_string())?;
    if let Some(object) = written.as_object_mut() {
        object.extend(fields);
    }
    // Credentials in `extra_body` are not written, so the fields are put back.
    let extra_body = std::mem::take(&mut model.extra_body);
    let base_url = model.base_url.take();
    *model =
        serde_json::from_value(written).map_err(|error| format!("`model_settings`: {error}"))?;
    model.extra_body = extra_body;
    model.base_url = base_url;
    Ok(())
}

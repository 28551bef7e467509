//! The panel of an evaluator's arguments, opened once for all evaluators that name the same one.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use evals_models::ChatModel;
use evals_rag::rag_judges::{Panel, RagJudges, Rule};
use serde::Deserialize;
use serde_json::json;

use crate::judges::{ModelArguments, model_parameters};
use crate::{Arguments, BuildError, Parameter, Resources, WantedModel};

/// Panels by the arguments that name them. Clones share their panels.
#[derive(Clone, Debug, Default)]
pub struct JudgePool(Arc<Mutex<BTreeMap<String, Arc<RagJudges>>>>);

#[derive(Deserialize)]
struct PanelArguments {
    panel: Vec<String>,
    repeats: NonZeroU32,
    rule: Rule,
}

/// The parameters that choose a panel.
pub(super) fn parameters() -> Vec<Parameter> {
    let [model, model_settings] = model_parameters();
    vec![
        model,
        model_settings,
        Parameter::optional(
            "panel",
            json!([]),
            json!({"type": "array", "items": {"type": "string"}}),
            "Further judges as `provider:name`; their votes count together with that of `model`.",
        ),
        Parameter::optional(
            "repeats",
            json!(1),
            json!({"type": "integer", "minimum": 1, "maximum": Panel::MOST_REPEATS}),
            "How often each judge is asked, 25 times at most.",
        ),
        Parameter::choice(
            "rule",
            "majority",
            &["majority", "unanimous"],
            "How many votes a verdict needs: `majority` or `unanimous`.",
        ),
    ]
}

/// The panel that the arguments name.
pub(super) fn opened(
    arguments: &Arguments,
    resources: &Resources,
) -> Result<Arc<RagJudges>, BuildError> {
    let ModelArguments {
        model: first,
        model_settings,
    } = arguments.read()?;
    let PanelArguments {
        panel: others,
        repeats,
        rule,
    } = arguments.read()?;
    let settings = model_settings.unwrap_or_default();
    rule.check(others.len() + 1, repeats)?;
    let names = std::iter::once(first).chain(others.into_iter().map(Some));
    let wanted = names.map(|name| WantedModel {
        name,
        settings: settings.clone(),
    });
    let wanted: Vec<WantedModel> = wanted.collect();
    // All are asked for before the first failure counts, so that a caller learns of every model.
    let opened: Vec<Result<Arc<dyn ChatModel>, BuildError>> =
        wanted.iter().map(|it| resources.chat(it)).collect();
    let opened: Vec<Arc<dyn ChatModel>> = opened.into_iter().collect::<Result<_, _>>()?;
    let judges = || {
        let mut opened = opened.into_iter();
        let first = opened.next().expect("there is always a first judge");
        let panel = opened.fold(Panel::new(first, None), |panel, model| {
            panel.member(model, None)
        });
        let judges = RagJudges::new(panel.repeats(repeats).rule(rule));
        Arc::new(judges.templates(resources.prompts.decomposed.clone()))
    };
    if resources.models.is_none() {
        return Ok(judges());
    }
    let named = ["model", "model_settings", "panel", "repeats", "rule"];
    let key: Vec<String> = named.map(|name| arguments.value(name).to_string()).into();
    let pool = &resources.judges.0;
    let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Arc::clone(pool.entry(key.join(" ")).or_insert_with(judges)))
}

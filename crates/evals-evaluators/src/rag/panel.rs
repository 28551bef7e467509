//! The panel of an evaluator's arguments, opened once for all evaluators that name the same one.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use evals::{EvaluatorError, EvaluatorSpec, FailureClass, SpecArguments};
use evals_models::ChatModel;
use evals_rag::rag_judges::{JudgedMeasure, Panel, RagJudges, Rule};
use serde_json::{Value, json};

use crate::argument::{ArgumentError, choice, optional_object, optional_text, texts};
use crate::judges::model_parameters;
use crate::{Arguments, BuildError, Parameter, Resources, WantedModel};

const RULES: [(&str, Rule); 2] = [("majority", Rule::Majority), ("unanimous", Rule::Unanimous)];

/// Panels by the arguments that name them. Clones share their panels.
#[derive(Clone, Debug, Default)]
pub struct JudgePool(Arc<Mutex<BTreeMap<String, Arc<RagJudges>>>>);

/// The panel of an evaluator; none if the evaluator was built without models at hand.
#[derive(Clone, Debug)]
pub(super) struct OpenedPanel(Option<Arc<RagJudges>>);

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
            "Further judges as `provider:name`, whose votes are counted with that of `model`.",
        ),
        Parameter::optional(
            "repeats",
            json!(1),
            json!({"type": "integer", "minimum": 1, "maximum": Panel::MOST_REPEATS}),
            "How often each judge is asked, 25 times at most.",
        ),
        Parameter::optional(
            "rule",
            json!("majority"),
            json!({"enum": ["majority", "unanimous"]}),
            "When votes speak for a verdict: `majority` or `unanimous`.",
        ),
    ]
}

impl OpenedPanel {
    /// The panel that the arguments name.
    pub(super) fn open(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let settings = optional_object(arguments, "model_settings", "an object of settings")?;
        let settings = settings.cloned().unwrap_or_default();
        let first = optional_text(arguments, "model", "the name of a model, `provider:name`")?;
        let others = texts(arguments, "panel", "a list of models, `provider:name`")?;
        let repeats = repeats(arguments)?;
        let rule = choice(arguments, "rule", &RULES, "`majority` or `unanimous`")?;
        rule.check(others.len() + 1, repeats)?;
        let Some(models) = &resources.models else {
            return Ok(Self(None));
        };
        let names = std::iter::once(first).chain(others.into_iter().map(Some));
        let wanted = names.map(|name| WantedModel {
            name,
            settings: settings.clone(),
        });
        let wanted: Vec<WantedModel> = wanted.collect();
        // All are asked for before the first failure counts, so that a caller learns of every model.
        let opened: Vec<Result<Arc<dyn ChatModel>, BuildError>> =
            wanted.iter().map(|wanted| models.chat(wanted)).collect();
        let opened: Vec<Arc<dyn ChatModel>> = opened.into_iter().collect::<Result<_, _>>()?;
        let key = json!([
            arguments.value("model"),
            arguments.value("model_settings"),
            arguments.value("panel"),
            arguments.value("repeats"),
            arguments.value("rule"),
        ]);
        let mut pool = resources
            .judges
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let judges = pool.entry(key.to_string()).or_insert_with(|| {
            let mut opened = opened.into_iter();
            let first = opened.next().expect("there is always a first judge");
            let panel = opened.fold(Panel::new(first, None), |panel, model| {
                panel.member(model, None)
            });
            let judges = RagJudges::new(panel.repeats(repeats).rule(rule));
            Arc::new(judges.templates(resources.prompts.decomposed.clone()))
        });
        Ok(Self(Some(Arc::clone(judges))))
    }

    /// The opened panel.
    pub(super) fn get(&self) -> Result<&Arc<RagJudges>, EvaluatorError> {
        self.0.as_ref().ok_or_else(|| {
            // It would repeat in every case.
            EvaluatorError::new("no chat model was opened for this evaluator")
                .classed(FailureClass::Terminal)
        })
    }
}

fn repeats(arguments: &Arguments) -> Result<NonZeroU32, ArgumentError> {
    let value = arguments.value("repeats");
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let number = number.and_then(NonZeroU32::new);
    number.ok_or_else(|| ArgumentError::new("repeats", "a whole number from 1 on", value))
}

/// How many votes an evaluator that decides claim by claim, or by a rubric, asks for about each item: one, unless it has a panel or
/// repeats. `None` for other evaluators.
pub fn judge_votes(spec: &EvaluatorSpec) -> Option<usize> {
    if spec.name != super::graded::NAME {
        super::decomposed::measure(&spec.name)?;
    }
    let argument = |name: &str| match &spec.arguments {
        SpecArguments::Named(named) => named.get(name),
        SpecArguments::None | SpecArguments::Positional(_) => None,
    };
    let others = argument("panel")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let repeats = argument("repeats").and_then(Value::as_u64).unwrap_or(1);
    Some((others + 1).saturating_mul(usize::try_from(repeats).unwrap_or(usize::MAX)))
}

/// How many calls an evaluator that decides claim by claim, or by a rubric, makes for one case: with passages that fit into a request,
/// and without repaired replies. Evaluators that share claims list them once, so several make fewer. `None` for other evaluators.
pub fn judge_calls(spec: &EvaluatorSpec) -> Option<usize> {
    let votes = judge_votes(spec)?;
    let Some(measure) = super::decomposed::measure(&spec.name) else {
        return Some(votes);
    };
    let (lists, verdicts) = match measure {
        JudgedMeasure::Faithfulness
        | JudgedMeasure::AnswerRelevance
        | JudgedMeasure::ContextRecall
        | JudgedMeasure::Completeness => (1, 1),
        JudgedMeasure::ContextPrecision | JudgedMeasure::CitationSupport => (0, 1),
        JudgedMeasure::FactualCorrectness => (2, 2),
    };
    Some(votes.saturating_mul(verdicts).saturating_add(lists))
}

//! The chat model of a judge.

use std::sync::Arc;

use evals::{EvaluatorError, EvaluatorSpec, FailureClass, SpecArguments, TaskScope};
use evals_models::{ChatModel, redacted};
use evals_rag::judging::{Inquiry, Wanted};
use evals_rag::{Purpose, record_calls};
use serde_json::{Map, Value, json};

use crate::argument::{optional_object, optional_text};
use crate::{Arguments, BuildError, Parameter, Resources, WantedModel};

/// The parameter with the settings of the model.
const SETTINGS: &str = "model_settings";

/// The chat model of a judge, opened when the judge is built; none if the judge was built without models at hand.
#[derive(Clone, Debug)]
pub(crate) struct JudgeModel(Option<Arc<dyn ChatModel>>);

/// The parameters that choose the model.
pub(crate) fn parameters() -> [Parameter; 2] {
    [
        Parameter::optional(
            "model",
            Value::Null,
            json!({"type": ["string", "null"]}),
            "The judge as `provider:name`; by default the judge of the settings.",
        ),
        Parameter::optional(
            SETTINGS,
            Value::Null,
            json!({"type": ["object", "null"]}),
            "Settings of the model for this judge, such as `temperature`, in the words of pydantic-ai.",
        ),
    ]
}

/// The specification of an evaluator. Reports and journals store it, so it has no credentials among the settings of a model, nor in
/// those of an evaluator among its arguments.
pub(crate) fn spec_without_credentials(name: &str, mut arguments: SpecArguments) -> EvaluatorSpec {
    match &mut arguments {
        SpecArguments::None => {}
        SpecArguments::Positional([argument]) => redact_settings(argument),
        SpecArguments::Named(named) => redact_settings_among(named),
    }
    EvaluatorSpec {
        name: name.to_owned(),
        arguments,
    }
}

fn redact_settings(value: &mut Value) {
    match value {
        Value::Object(fields) => redact_settings_among(fields),
        Value::Array(values) => values.iter_mut().for_each(redact_settings),
        _ => {}
    }
}

fn redact_settings_among(fields: &mut Map<String, Value>) {
    for (name, value) in fields {
        if name == SETTINGS {
            *value = redacted(value);
        } else {
            redact_settings(value);
        }
    }
}

impl JudgeModel {
    /// The model that the arguments name.
    pub(crate) fn open(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let name = optional_text(arguments, "model", "the name of a model, `provider:name`")?;
        let settings = optional_object(arguments, SETTINGS, "an object of settings")?;
        let wanted = WantedModel {
            name,
            settings: settings.cloned().unwrap_or_default(),
        };
        let models = resources.models.as_ref();
        let model = models.map(|models| models.chat(&wanted)).transpose()?;
        Ok(Self(model))
    }

    /// Asks the model, and records the calls as those of a judge.
    pub(super) async fn ask<T: Wanted>(
        &self,
        inquiry: Inquiry<'_, T>,
        scope: &TaskScope,
    ) -> Result<T, EvaluatorError> {
        match inquiry.ask(&**self.get()?).await {
            Ok((verdict, calls)) => {
                record_calls(&calls, Purpose::Judge, scope);
                Ok(verdict)
            }
            Err(error) => {
                record_calls(&error.calls, Purpose::Judge, scope);
                Err(error.of_evaluator())
            }
        }
    }

    /// The opened model.
    pub(crate) fn get(&self) -> Result<&Arc<dyn ChatModel>, EvaluatorError> {
        self.0.as_ref().ok_or_else(|| {
            // It would repeat in every case.
            EvaluatorError::new("no chat model was opened for this evaluator")
                .classed(FailureClass::Terminal)
        })
    }
}

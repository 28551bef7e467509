//! The chat models that evaluators ask for, so that a program can open them before a run.

use std::sync::{Arc, Mutex, PoisonError};

use evals::EvaluatorSpec;
use evals_models::ChatModel;

use crate::{BuildError, ChatModels, Registry, Resources, WantedModel};

/// Hands out no model and notes which ones are asked for.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<WantedModel>>);

impl ChatModels for Notes {
    fn chat(&self, wanted: &WantedModel) -> Result<Arc<dyn ChatModel>, BuildError> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(wanted) {
            noted.push(wanted.clone());
        }
        Err("models are only noted here".into())
    }
}

impl Registry {
    /// The chat models that the evaluators of `specs` ask for when they are built, each once, in the order of the specifications.
    ///
    /// An evaluator that cannot be built asks for what it asked for before it failed; [`build`](Self::build) says why it failed.
    pub fn wanted_models<'s>(
        &self,
        specs: impl IntoIterator<Item = &'s EvaluatorSpec>,
    ) -> Vec<WantedModel> {
        let notes = Arc::new(Notes::default());
        let resources = Resources {
            models: Some(Arc::clone(&notes) as _),
            ..Resources::default()
        };
        for spec in specs {
            // This stand-in hands out no models, so `build` fails. Only the requests for models matter here.
            let _refused = self.build(spec, &resources);
        }
        let noted = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.clone()
    }
}

#[cfg(test)]
mod tests {
    use evals::SpecArguments;
    use serde_json::{Value, json};

    use super::*;

    fn spec(name: &str, arguments: Value) -> EvaluatorSpec {
        let Value::Object(named) = arguments else {
            panic!("not an object")
        };
        EvaluatorSpec {
            name: name.to_owned(),
            arguments: SpecArguments::Named(named),
        }
    }

    #[test]
    fn every_model_is_listed_once_in_order() {
        let specs = [
            spec("LLMJudge", json!({"rubric": "polite", "model": "ollama:b"})),
            spec("Equals", json!({"value": 1})),
            spec(
                "GEval",
                json!({"criteria": "c", "evaluation_steps": ["s"], "model_settings": {"temperature": 0}}),
            ),
            spec("LLMJudge", json!({"rubric": "short", "model": "ollama:b"})),
            spec("LLMJudge", json!({"rubric": "true"})),
            spec("LLMJudge", json!({"rubric": "true", "model": 5})),
            spec("Unknown", json!({})),
        ];
        let wanted = Registry::built_in().wanted_models(&specs);
        let named = |name: Option<&str>, settings: Value| WantedModel {
            name: name.map(str::to_owned),
            settings: settings.as_object().unwrap().clone(),
        };
        assert_eq!(
            wanted,
            [
                named(Some("ollama:b"), json!({})),
                named(None, json!({"temperature": 0})),
                named(None, json!({})),
            ]
        );
    }
}

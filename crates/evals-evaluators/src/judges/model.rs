//! The chat model of a judge.

use std::sync::Arc;

use evals::{Context, EvaluatorError};
use evals_models::{ChatModel, ChatRequest, ReplySchema};
use evals_rag::judging::{Inquiry, JudgeFailure, Shown, Wanted, record_judged};
use evals_rag::{Prompt, Purpose};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Arguments, BuildError, Parameter, Resources, Untyped, WantedModel, judge_prompts};

/// The arguments that choose the model.
#[derive(Deserialize)]
pub(crate) struct ModelArguments {
    pub(crate) model: Option<String>,
    pub(crate) model_settings: Option<Map<String, Value>>,
}

/// What a judge is asked for.
pub(super) struct JudgeQuestion<'a> {
    pub(super) prompt: &'a Prompt,
    /// The values of the prompt, without the nonce of `shown`.
    pub(super) texts: Vec<(&'a str, &'a str)>,
    pub(super) shown: &'a Shown,
    /// The object that the judge replies with.
    pub(super) schema: ReplySchema,
    /// Its members in words.
    pub(super) members: &'static str,
    /// Its form in words.
    pub(super) form: String,
}

/// The parameters that choose the model.
pub(crate) fn parameters() -> [Parameter; 2] {
    [
        Parameter::optional_text(
            "model",
            "The judge as `provider:name`; by default the judge of the settings.",
        ),
        Parameter::optional(
            "model_settings",
            Value::Null,
            json!({"type": ["object", "null"]}),
            "Settings of the model for this judge, such as `temperature`, in the words of pydantic-ai.",
        ),
    ]
}

/// The model that the arguments name.
pub(crate) fn opened(
    arguments: &Arguments,
    resources: &Resources,
) -> Result<Arc<dyn ChatModel>, BuildError> {
    let arguments: ModelArguments = arguments.read()?;
    resources.chat(&WantedModel {
        name: arguments.model,
        settings: arguments.model_settings.unwrap_or_default(),
    })
}

impl JudgeQuestion<'_> {
    /// Asks the model for an object that `parse` reads, and records the calls as those of a judge.
    pub(super) async fn ask<T: Wanted>(
        mut self,
        model: &dyn ChatModel,
        parse: fn(&str) -> Option<T>,
        context: &Context<'_, Untyped>,
    ) -> Result<T, EvaluatorError> {
        self.texts.push(("nonce", self.shown.nonce()));
        let prompt = self.prompt.fill(self.texts).map_err(JudgeFailure::from)?;
        let inquiry = Inquiry {
            request: ChatRequest {
                repeat: context.repeat,
                ..ChatRequest::asking(prompt, self.schema)
            },
            shown: self.shown,
            parse: &parse,
            wanted: self.members,
            shape: self.form,
            repair: judge_prompts::repair(),
        };
        let judged = inquiry.ask(model).await;
        let judged = record_judged(judged, |(_, calls)| calls, Purpose::Judge, &context.scope);
        Ok(judged?.0)
    }
}

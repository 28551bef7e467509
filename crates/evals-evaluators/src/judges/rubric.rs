//! `LLMJudge`: a chat model decides whether the output satisfies a rubric.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::judging::Shown;
use serde::Deserialize;
use serde_json::{Value, json};

use super::model::{self, JudgeQuestion};
use super::outcomes::{self, Announcements, OutcomeArgument};
use super::verdict::RubricVerdict;
use super::{present, written};
use crate::evaluation::Evaluation;
use crate::{
    ArgumentError, Arguments, BuildError, Entry, Parameter, Resources, Untyped, judge_prompts,
};

const NAME: &str = "LLMJudge";

/// Asks whether the output satisfies a rubric.
#[derive(Debug)]
struct RubricJudge {
    version: String,
    prompt: Prompt,
    model: Arc<dyn ChatModel>,
    rubric: String,
    include_input: bool,
    include_expected_output: bool,
    announced: Announcements,
}

#[derive(Deserialize)]
struct RubricArguments {
    rubric: Value,
    include_input: bool,
    include_expected_output: bool,
    #[serde(deserialize_with = "outcomes::argument")]
    score: Option<OutcomeArgument>,
    #[serde(deserialize_with = "outcomes::argument")]
    assertion: Option<OutcomeArgument>,
}

/// The entry of `LLMJudge`.
pub(super) fn entry() -> Entry {
    let [model, model_settings] = model::parameters();
    Entry::evaluation(
        NAME,
        "Asks a chat model whether a statement about the output is true.",
        [
            Parameter::text(
                "rubric",
                "A statement about the output, which passes if the statement is true.",
            ),
            model,
            Parameter::flag("include_input", false, "Whether the judge sees the input."),
            Parameter::flag(
                "include_expected_output",
                false,
                "Whether the judge sees the expected output, where the case has one.",
            ),
            model_settings,
            Parameter::optional(
                "score",
                json!(false),
                outcomes::schema(),
                "Whether the judge's score becomes an outcome; a mapping sets its name and whether it has the judge's reason.",
            ),
            Parameter::optional(
                "assertion",
                json!({"include_reason": true}),
                outcomes::schema(),
                "The same for the judge's verdict, which is a pass or a failure.",
            ),
        ],
        RubricJudge::read,
    )
}

impl RubricJudge {
    fn read(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let read: RubricArguments = arguments.read()?;
        Ok(Self {
            version: judge_prompts::version(&resources.prompts.rubric),
            prompt: resources.prompts.rubric.clone(),
            model: model::opened(arguments, resources)?,
            rubric: rubric(&read.rubric)?,
            include_input: read.include_input,
            include_expected_output: read.include_expected_output,
            announced: Announcements::new(NAME, read.score, read.assertion),
        })
    }

    async fn judge(&self, context: &Context<'_, Untyped>) -> Result<RubricVerdict, EvaluatorError> {
        let input = present(Some(&context.case.input).filter(|_| self.include_input));
        let output = written(context.output);
        let expected = context.case.expected.as_ref();
        let expected = present(expected.filter(|_| self.include_expected_output));
        let mut texts = vec![("output", output.as_str())];
        texts.extend(input.as_deref().map(|input| ("input", input)));
        texts.extend(expected.as_deref().map(|expected| ("expected", expected)));
        // The author of the rubric is trusted, and it may well say what passes.
        let shown: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
        let shown = Shown::new(&shown);
        texts.push(("rubric", &self.rubric));
        let asked = JudgeQuestion {
            prompt: &self.prompt,
            texts,
            shown: &shown,
            schema: RubricVerdict::schema(),
            members: RubricVerdict::MEMBERS,
            form: RubricVerdict::form(shown.nonce()),
        };
        asked.ask(&*self.model, RubricVerdict::parse, context).await
    }
}

/// The rubric as text: one line for each item of a list, as pydantic-evals writes it.
fn rubric(value: &Value) -> Result<String, ArgumentError> {
    match value {
        Value::Null => Err(ArgumentError::new("rubric", "a text", value)),
        Value::Array(items) => {
            let lines: Vec<String> = items.iter().map(written).collect();
            Ok(lines.join("\n"))
        }
        other => Ok(written(other)),
    }
}

#[async_trait]
impl Evaluation for RubricJudge {
    async fn evaluate(
        &self,
        _name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        if self.announced.is_empty() {
            return Ok(Vec::new());
        }
        let verdict = self.judge(context).await?;
        Ok(self.announced.outcomes(&verdict))
    }

    fn concerns(&self, _name: &str, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        Some(self.announced.concerns())
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }
}

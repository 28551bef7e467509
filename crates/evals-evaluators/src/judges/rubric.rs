//! `LLMJudge`: a chat model decides whether the output satisfies a rubric.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome};
use evals_models::{ChatRequest, Message, ReplySchema};
use evals_rag::judging::{Inquiry, JudgeError, JudgeFailure, Shown};
use evals_rag::{Prompt, PromptError};
use serde_json::{Value, json};

use super::model::{self, JudgeModel};
use super::outcomes::{Announced, Announcements};
use super::verdict::Verdict;
use super::written::{present, written};
use crate::argument::{ArgumentError, flag};
use crate::{
    Arguments, BuildError, Entry, Parameter, Resources, Signature, Untyped, judge_prompts,
};

const NAME: &str = "LLMJudge";

/// Asks whether the output satisfies a rubric.
#[derive(Debug)]
struct RubricJudge {
    spec: EvaluatorSpec,
    version: String,
    prompt: Prompt,
    model: JudgeModel,
    rubric: String,
    include_input: bool,
    include_expected_output: bool,
    announced: Announcements,
}

/// The texts that the judge sees.
struct Material {
    input: Option<String>,
    output: String,
    expected: Option<String>,
}

/// The entry of `LLMJudge`.
pub(super) fn entry() -> Entry {
    let [model, model_settings] = model::parameters();
    let signature = Signature::new([
        Parameter::required(
            "rubric",
            json!({"type": "string"}),
            "A statement about the output, which passes if the statement is true.",
        ),
        model,
        Parameter::optional(
            "include_input",
            json!(false),
            json!({"type": "boolean"}),
            "Whether the judge sees the input.",
        ),
        Parameter::optional(
            "include_expected_output",
            json!(false),
            json!({"type": "boolean"}),
            "Whether the judge sees the expected output, where the case has one.",
        ),
        model_settings,
        Parameter::optional(
            "score",
            json!(false),
            Announced::schema(),
            "Whether the judge's score is an outcome, under which name, and whether with the judge's reason.",
        ),
        Parameter::optional(
            "assertion",
            json!({"include_reason": true}),
            Announced::schema(),
            "The same for the verdict whether the output passes.",
        ),
    ]);
    let written = signature.clone();
    Entry::case(
        NAME,
        "Asks a chat model whether a statement about the output is true.",
        signature,
        move |arguments, resources| {
            let spec = model::spec_without_credentials(NAME, written.write(arguments));
            Ok(Arc::new(RubricJudge::read(arguments, resources, spec)?))
        },
    )
}

impl RubricJudge {
    fn read(
        arguments: &Arguments,
        resources: &Resources,
        spec: EvaluatorSpec,
    ) -> Result<Self, BuildError> {
        Ok(Self {
            spec,
            version: judge_prompts::version(&resources.prompts.rubric),
            prompt: resources.prompts.rubric.clone(),
            model: JudgeModel::open(arguments, resources)?,
            rubric: rubric(arguments.value("rubric"))?,
            include_input: flag(arguments, "include_input")?,
            include_expected_output: flag(arguments, "include_expected_output")?,
            announced: Announcements::read(NAME, arguments)?,
        })
    }

    async fn judge(&self, context: &Context<'_, Untyped>) -> Result<Verdict, EvaluatorError> {
        let material = self.material(context);
        let shown = material.shown();
        let request = self.request(&material, &shown, context.repeat);
        let inquiry = Inquiry {
            request: request.map_err(|error| JudgeError::from(JudgeFailure::from(error)))?,
            shown: &shown,
            parse: &Verdict::parse,
            wanted: Verdict::WANTED,
            repair: &|complaint| judge_prompts::repair(complaint, &Verdict::shape(shown.nonce())),
        };
        self.model.ask(inquiry, &context.scope).await
    }

    fn material(&self, context: &Context<'_, Untyped>) -> Material {
        let expected = context.case.expected.as_ref();
        Material {
            input: present(Some(&context.case.input).filter(|_| self.include_input)),
            output: written(context.output),
            expected: present(expected.filter(|_| self.include_expected_output)),
        }
    }

    fn request(
        &self,
        material: &Material,
        shown: &Shown,
        repeat: u32,
    ) -> Result<ChatRequest, PromptError> {
        let mut texts = vec![
            ("output", material.output.as_str()),
            ("rubric", &self.rubric),
            ("nonce", shown.nonce()),
        ];
        texts.extend(material.input.as_deref().map(|input| ("input", input)));
        let expected = material.expected.as_deref();
        texts.extend(expected.map(|expected| ("expected", expected)));
        let prompt = self.prompt.fill(texts)?;
        Ok(ChatRequest {
            schema: Some(ReplySchema {
                name: "verdict".to_owned(),
                schema: Verdict::schema(),
            }),
            repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }
}

impl Material {
    /// The material without the rubric: its author is trusted, and it may well say what passes.
    fn shown(&self) -> Shown {
        let optional = [self.input.as_deref(), self.expected.as_deref()];
        let mut texts = vec![self.output.as_str()];
        texts.extend(optional.into_iter().flatten());
        Shown::new(&texts)
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
impl Evaluator<Untyped> for RubricJudge {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        if self.announced.is_empty() {
            return Ok(Vec::new());
        }
        let verdict = self.judge(context).await?;
        Ok(self.announced.outcomes(&verdict))
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }

    fn concerns(&self, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        Some(self.announced.concerns())
    }
}

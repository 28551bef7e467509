//! `GEval`: a chat model grades the output by criteria and steps.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, FailureClass, Outcome,
};
use evals_models::{ChatRequest, Message, ReplySchema};
use evals_rag::judging::{Inquiry, JudgeError, JudgeFailure, Shown};
use evals_rag::{Prompt, PromptError};
use serde_json::{Value, json};
use thiserror::Error;

use super::grade::{Grade, ScoreRange};
use super::model::{self, JudgeModel};
use super::written::{present, written};
use crate::argument::{flag, optional_text, text, texts};
use crate::{
    Arguments, BuildError, Entry, Parameter, Resources, Signature, Untyped, judge_prompts,
};

const NAME: &str = "GEval";

/// Grades the output by criteria and steps.
#[derive(Debug)]
struct GEval {
    name: String,
    spec: EvaluatorSpec,
    version: String,
    prompt: Prompt,
    model: JudgeModel,
    criteria: String,
    /// The steps with their numbers, one on each line.
    steps: String,
    range: ScoreRange,
    include_input: bool,
}

/// A list of steps without any.
#[derive(Debug, Error)]
#[error("`evaluation_steps` must contain at least one step")]
struct NoSteps;

/// A grade that the judge was not asked for.
#[derive(Debug, Error)]
#[error("the judge returned score {score}, outside the requested `score_range` {range}")]
struct OutOfRange {
    score: i64,
    range: ScoreRange,
}

/// The entry of `GEval`.
pub(super) fn entry() -> Entry {
    let [model, model_settings] = model::parameters();
    let signature = Signature::new([
        Parameter::required(
            "criteria",
            json!({"type": "string"}),
            "The aspect of the output that is graded, such as coherence.",
        ),
        Parameter::required(
            "evaluation_steps",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            "The steps that the judge takes, in order.",
        ),
        Parameter::optional(
            "score_range",
            json!([1, 5]),
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
            "The worst and the best grade, two whole numbers.",
        ),
        Parameter::optional(
            "include_input",
            json!(false),
            json!({"type": "boolean"}),
            "Whether the judge sees the input.",
        ),
        model,
        model_settings,
        Parameter::optional(
            "evaluation_name",
            Value::Null,
            json!({"type": ["string", "null"]}),
            "Names the outcome in reports, in place of the evaluator's own name.",
        ),
    ]);
    let written = signature.clone();
    Entry::case(
        NAME,
        "Asks a chat model for a whole-number grade by criteria and steps.",
        signature,
        move |arguments, resources| {
            let spec = model::spec_without_credentials(NAME, written.write(arguments));
            Ok(Arc::new(GEval::read(arguments, resources, spec)?))
        },
    )
}

impl GEval {
    fn read(
        arguments: &Arguments,
        resources: &Resources,
        spec: EvaluatorSpec,
    ) -> Result<Self, BuildError> {
        let range = ScoreRange::read(arguments.value("score_range"))?;
        let steps = texts(arguments, "evaluation_steps", "a list of texts")?;
        if steps.is_empty() {
            return Err(NoSteps.into());
        }
        let steps = (1..).zip(steps);
        let steps: Vec<String> = steps
            .map(|(number, step)| format!("{number}. {step}"))
            .collect();
        let given_name = optional_text(arguments, "evaluation_name", "a text")?;
        Ok(Self {
            name: given_name.unwrap_or_else(|| NAME.to_owned()),
            spec,
            version: judge_prompts::version(&resources.prompts.g_eval),
            prompt: resources.prompts.g_eval.clone(),
            model: JudgeModel::open(arguments, resources)?,
            criteria: text(arguments, "criteria", "a text")?,
            steps: steps.join("\n"),
            range,
            include_input: flag(arguments, "include_input")?,
        })
    }

    fn request(
        &self,
        input: Option<&str>,
        output: &str,
        shown: &Shown,
        repeat: u32,
    ) -> Result<ChatRequest, PromptError> {
        let [lowest, highest] = [self.range.lowest, self.range.highest].map(|it| it.to_string());
        let mut texts = vec![
            ("output", output),
            ("criteria", &self.criteria),
            ("steps", &self.steps),
            ("lowest", &lowest),
            ("highest", &highest),
            ("nonce", shown.nonce()),
        ];
        texts.extend(input.map(|input| ("input", input)));
        let prompt = self.prompt.fill(texts)?;
        Ok(ChatRequest {
            schema: Some(ReplySchema {
                name: "grade".to_owned(),
                schema: Grade::schema(self.range),
            }),
            repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }

    async fn grade(&self, context: &Context<'_, Untyped>) -> Result<Grade, EvaluatorError> {
        let input = present(Some(&context.case.input).filter(|_| self.include_input));
        let output = written(context.output);
        let shown = Shown::new(&[input.as_deref().unwrap_or_default(), &output]);
        let request = self.request(input.as_deref(), &output, &shown, context.repeat);
        let inquiry = Inquiry {
            request: request.map_err(|error| JudgeError::from(JudgeFailure::from(error)))?,
            shown: &shown,
            parse: &Grade::parse,
            wanted: Grade::WANTED,
            repair: &|complaint| {
                judge_prompts::repair(complaint, &Grade::shape(self.range, shown.nonce()))
            },
        };
        self.model.ask(inquiry, &context.scope).await
    }
}

#[async_trait]
impl Evaluator<Untyped> for GEval {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let Grade { reason, score } = self.grade(context).await?;
        if !self.range.contains(score) {
            let range = self.range;
            let error = EvaluatorError::new(OutOfRange { score, range });
            return Err(error.classed(FailureClass::Content));
        }
        #[expect(clippy::cast_precision_loss, reason = "grades are exact")]
        let score = score as f64;
        Ok(vec![Outcome::score(&self.name, score).because(reason)])
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }

    fn concerns(&self, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        Some(vec![Concern::score(&self.name)])
    }
}

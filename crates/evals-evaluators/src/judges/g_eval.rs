//! `GEval`: a chat model grades the output by criteria and steps.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, FailureClass, Outcome};
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::judging::Shown;
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use super::grade::{Grade, ScoreRange};
use super::model::{self, JudgeQuestion};
use super::{present, written};
use crate::evaluation::Evaluation;
use crate::{
    ArgumentError, Arguments, BuildError, Entry, Parameter, Resources, Untyped, judge_prompts,
};

/// Grades the output by criteria and steps.
#[derive(Debug)]
struct GEval {
    version: String,
    prompt: Prompt,
    model: Arc<dyn ChatModel>,
    arguments: GEvalArguments,
}

#[derive(Debug, Deserialize)]
struct GEvalArguments {
    criteria: String,
    evaluation_steps: Vec<String>,
    score_range: ScoreRange,
    include_input: bool,
}

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
    Entry::evaluation(
        "GEval",
        "Asks a chat model for a whole-number grade by criteria and steps.",
        [
            Parameter::text(
                "criteria",
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
            Parameter::flag("include_input", false, "Whether the judge sees the input."),
            model,
            model_settings,
            Parameter::evaluation_name(),
        ],
        GEval::read,
    )
}

impl GEval {
    fn read(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let read: GEvalArguments = arguments.read()?;
        if read.evaluation_steps.is_empty() {
            let steps = arguments.value("evaluation_steps");
            return Err(ArgumentError::new("evaluation_steps", "at least one step", steps).into());
        }
        Ok(Self {
            version: judge_prompts::version(&resources.prompts.g_eval),
            prompt: resources.prompts.g_eval.clone(),
            model: model::opened(arguments, resources)?,
            arguments: read,
        })
    }

    async fn grade(&self, context: &Context<'_, Untyped>) -> Result<Grade, EvaluatorError> {
        let GEvalArguments {
            criteria,
            evaluation_steps,
            score_range,
            include_input,
        } = &self.arguments;
        let input = present(Some(&context.case.input).filter(|_| *include_input));
        let output = written(context.output);
        let shown = Shown::new(&[input.as_deref().unwrap_or_default(), &output]);
        let steps = (1..).zip(evaluation_steps);
        let steps: Vec<String> = steps
            .map(|(number, step)| format!("{number}. {step}"))
            .collect();
        let steps = steps.join("\n");
        let [lowest, highest] = [score_range.lowest, score_range.highest].map(|it| it.to_string());
        let mut texts = vec![
            ("output", output.as_str()),
            ("criteria", criteria),
            ("steps", &steps),
            ("lowest", &lowest),
            ("highest", &highest),
        ];
        texts.extend(input.as_deref().map(|input| ("input", input)));
        let asked = JudgeQuestion {
            prompt: &self.prompt,
            texts,
            shown: &shown,
            schema: Grade::schema(*score_range),
            members: Grade::MEMBERS,
            form: Grade::form(*score_range, shown.nonce()),
        };
        asked.ask(&*self.model, Grade::parse, context).await
    }
}

#[async_trait]
impl Evaluation for GEval {
    async fn evaluate(
        &self,
        name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let Grade { reason, score } = self.grade(context).await?;
        let range = self.arguments.score_range;
        if !range.contains(score) {
            let error = EvaluatorError::new(OutOfRange { score, range });
            return Err(error.classed(FailureClass::Content));
        }
        #[expect(clippy::cast_precision_loss, reason = "grades are exact")]
        let score = score as f64;
        Ok(vec![Outcome::score(name, score).because(reason)])
    }

    fn concerns(&self, name: &str, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        Some(vec![Concern::score(name)])
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }
}

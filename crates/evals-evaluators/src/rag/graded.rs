//! `Rubric`: the level of an answer by a criterion with levels in words.

use std::collections::BTreeMap;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_rag::Missing;
use evals_rag::answering::Refusals;
use evals_rag::rag_judges::{Graded, Judgement, Rubric};
use serde_json::{Value, json};

use super::expectation::Expectation;
use super::named::{self, Measured};
use super::output::Output;
use super::panel::{self, OpenedPanel};
use crate::argument::{ArgumentError, flag, text};
use crate::{Arguments, BuildError, Entry, Parameter, Resources, Untyped, judge_prompts};

pub(super) const NAME: &str = "Rubric";

const LEVELS: &str =
    "an object of whole numbers and their descriptions, such as `{1: \"rude\", 2: \"friendly\"}`";

/// Grades answers by a rubric.
#[derive(Debug)]
struct GradedByRubric {
    rubric: Rubric,
    sees_reference: bool,
    panel: OpenedPanel,
    version: String,
    refusals: Refusals,
}

/// The entry of `Rubric`.
pub(super) fn entry() -> Entry {
    let mut parameters = vec![
        Parameter::required(
            "criterion",
            json!({"type": "string"}),
            "What is graded, in words.",
        ),
        Parameter::required(
            "levels",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "The numbers of the scale with their descriptions; higher is better.",
        ),
        Parameter::optional(
            "pass",
            Value::Null,
            json!({"type": ["integer", "null"]}),
            "The lowest level that passes; `null` only grades.",
        ),
        Parameter::optional(
            "include_expected_output",
            json!(false),
            json!({"type": "boolean"}),
            "Whether the judge sees the reference answer.",
        ),
        Parameter::optional(
            "evaluation_name",
            json!("rubric"),
            json!({"type": "string"}),
            "Names the score.",
        ),
    ];
    parameters.extend(panel::parameters());
    named::entry(
        NAME,
        "Asks a chat model for the level of the answer by a criterion whose levels are described in words.",
        parameters,
        GradedByRubric::read,
    )
}

impl GradedByRubric {
    fn read(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let pass =
            match arguments.value("pass") {
                Value::Null => None,
                value => Some(value.as_i64().ok_or_else(|| {
                    ArgumentError::new("pass", "a whole number or `null`", value)
                })?),
            };
        let name = text(arguments, "evaluation_name", "a text")?;
        let criterion = text(arguments, "criterion", "a text")?;
        let prompt = &resources.prompts.decomposed.levels;
        Ok(Self {
            rubric: Rubric::new(name, criterion, levels(arguments)?, pass)?,
            sees_reference: flag(arguments, "include_expected_output")?,
            panel: OpenedPanel::open(arguments, resources)?,
            version: judge_prompts::version(prompt),
            refusals: Refusals::default(),
        })
    }

    fn undefined(&self, reason: &str) -> Vec<Outcome> {
        let pass = self.rubric.pass_name();
        let names = std::iter::once(self.rubric.name().to_owned()).chain(pass);
        names.map(|name| Outcome::undefined(name, reason)).collect()
    }
}

fn levels(arguments: &Arguments) -> Result<BTreeMap<i64, String>, ArgumentError> {
    let value = arguments.value("levels");
    let levels = value.as_object().and_then(|levels| {
        let levels = levels.iter();
        levels
            .map(|(number, text)| Some((number.trim().parse().ok()?, text.as_str()?.to_owned())))
            .collect()
    });
    levels.ok_or_else(|| ArgumentError::new("levels", LEVELS, value))
}

#[async_trait]
impl Measured for GradedByRubric {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let Some(answer) = Output::of(context).plain_answer()? else {
            return Ok(self.undefined(Missing::Answer.reason()));
        };
        let expectation = Expectation(context.case);
        let reference = expectation.reference(&self.refusals)?;
        let reference = reference.and_then(|reference| reference.answer);
        if self.sees_reference && reference.is_none() {
            return Ok(self.undefined("no reference answer"));
        }
        let graded = Graded {
            question: &expectation.question(),
            answer: &answer,
            reference: reference.as_deref().filter(|_| self.sees_reference),
            repeat: context.repeat,
        };
        let judged = self.panel.get()?.grade(&self.rubric, graded).await;
        Judgement::record(judged, &context.scope)
    }

    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern> {
        let reference = Expectation(case).reference(&self.refusals).ok().flatten();
        let has_reference = reference.is_some_and(|reference| reference.answer.is_some());
        if self.sees_reference && !has_reference {
            return Vec::new();
        }
        let score = Concern::score(self.rubric.name());
        let pass = self.rubric.pass_name().map(Concern::assertion);
        std::iter::once(score).chain(pass).collect()
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }
}

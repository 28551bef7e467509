//! `Judge`: whether the answer says the same as the reference answer.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_rag::answering::Refusals;
use evals_rag::judging::{ChatJudge, Judge as _, Judged, OverlapJudge};
use evals_rag::qa::{Equivalence, Reference};
use evals_rag::{Missing, Prompt, Purpose, record_calls};

use super::expectation::Expectation;
use super::named::{self, Measured};
use super::output::Output;
use crate::judges::{JudgeModel, model_parameters};
use crate::{Arguments, BuildError, Entry, Resources, Untyped, judge_prompts};

const OUTCOME: &str = Equivalence::OUTCOME;

/// The name of the judge that asks no model.
const OVERLAP: &str = "embedded:overlap";

/// Asks a judge whether the answer is equivalent to the reference.
#[derive(Debug)]
struct Judge {
    asked: Asked,
    version: String,
    refusals: Refusals,
}

/// Who judges.
#[derive(Debug)]
enum Asked {
    Model(JudgeModel, Prompt),
    Overlap(OverlapJudge),
}

/// The entry of `Judge`.
pub(super) fn entry() -> Entry {
    named::entry(
        "Judge",
        "Asks a chat model whether the answer says the same as the reference answer; `embedded:overlap` compares words instead.",
        model_parameters(),
        Judge::read,
    )
}

impl Judge {
    fn read(arguments: &Arguments, resources: &Resources) -> Result<Self, BuildError> {
        let overlap = OverlapJudge::default();
        let (asked, version) = if arguments.value("model") == OVERLAP {
            let digest = overlap.identity().digest.clone();
            (Asked::Overlap(overlap), digest.unwrap_or_default())
        } else {
            let model = JudgeModel::open(arguments, resources)?;
            let prompt = resources.prompts.judge.clone();
            let version = judge_prompts::version(&prompt);
            (Asked::Model(model, prompt), version)
        };
        Ok(Self {
            asked,
            version,
            refusals: Refusals::default(),
        })
    }
}

#[async_trait]
impl Measured for Judge {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let undefined = |reason: &str| Ok(vec![Outcome::undefined(OUTCOME, reason)]);
        let expectation = Expectation(context.case);
        let reference = expectation.reference(&self.refusals)?;
        let text = match Reference::for_judge(reference.as_ref()) {
            Ok(text) => text,
            Err(reason) => return undefined(reason),
        };
        let output = Output::of(context);
        let refused = output.refused(&self.refusals)? == Some(true);
        let answer = match output.plain_answer()? {
            Some(answer) => answer,
            // A refusal is an answer, even without words: leaving it out would reward a system that declines hard questions.
            None if refused => String::new(),
            None => return undefined(Missing::Answer.reason()),
        };
        let question = expectation.question();
        let judged = Judged {
            question: &question,
            reference: text,
            answerable: reference
                .as_ref()
                .is_none_or(|reference| reference.answerable),
            answer: &answer,
            refused,
            repeat: context.repeat,
        };
        let verdict = match &self.asked {
            Asked::Overlap(judge) => judge.judge(judged).await,
            Asked::Model(model, prompt) => {
                let judge = ChatJudge::new(Arc::clone(model.get()?)).prompt(prompt.clone());
                judge.judge(judged).await
            }
        };
        match verdict {
            Ok(verdict) => {
                record_calls(&verdict.calls, Purpose::Judge, &context.scope);
                let outcome = Outcome::assertion(OUTCOME, verdict.pass);
                Ok(vec![outcome.because(verdict.reason)])
            }
            Err(error) => {
                record_calls(&error.calls, Purpose::Judge, &context.scope);
                Err(error.of_evaluator())
            }
        }
    }

    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern> {
        let reference = Expectation(case).reference(&self.refusals).ok().flatten();
        let concerned = Reference::for_judge(reference.as_ref()).is_ok();
        let concern = concerned.then(|| Concern::assertion(OUTCOME));
        concern.into_iter().collect()
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }
}

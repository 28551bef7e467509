//! Tests of decomposed judges, against prepared replies.

mod attacks;
mod faults;
mod histories;
mod nuggets;
mod pairs;
mod panels;
mod rubrics;
mod scores;

use std::sync::Arc;

use evals::{Outcome, Value};
use evals_models::ChatReply;
use serde_json::json;

use super::{CitedSentence, JudgedMeasure, Judgement, Material, NumberedPassage, Panel, RagJudges};
use crate::judging::JudgeError;
use crate::tests::fakes::{Scripted, said};

/// A list of claims.
fn claims(claims: &[&str]) -> ChatReply {
    said(&json!({"claims": claims}).to_string())
}

/// A verdict for each item, in order.
fn verdicts(words: &[&str]) -> ChatReply {
    said(&verdicts_text(words))
}

fn verdicts_text(words: &[&str]) -> String {
    let numbers = 1..;
    let verdicts = numbers
        .zip(words)
        .map(|(number, word)| json!({"number": number, "verdict": word}));
    let verdicts: Vec<_> = verdicts.collect();
    let reasons = (1..=words.len())
        .map(|number| json!({"number": number, "reason": format!("because {number}")}));
    let reasons: Vec<_> = reasons.collect();
    json!({"reasons": reasons, "verdicts": verdicts}).to_string()
}

const PASSAGES: [NumberedPassage<'static>; 2] = [
    NumberedPassage {
        number: 1,
        title: Some("Ferries"),
        text: "The Stormwick carries 450 people.",
    },
    NumberedPassage {
        number: 2,
        title: None,
        text: "It was built in 1998.",
    },
];

const ANSWER: &str = "It carries 450 people and was built in 1999.";

fn material() -> Material<'static> {
    Material {
        question: "How many people does the Stormwick carry, and when was it built?",
        without_answers: "How many people does the Stormwick carry, and when was it built?",
        answerable: true,
        reference: Some("450; it was built in 1998."),
        answer: Ok(ANSWER),
        refused: false,
        passages: Ok(&PASSAGES),
        cited: &[],
        nuggets: None,
        conversation: None,
        repeat: 1,
    }
}

fn judges(model: &Arc<Scripted>) -> RagJudges {
    RagJudges::new(Panel::new(Arc::clone(model) as _, None))
}

async fn judged(
    model: &Arc<Scripted>,
    measure: JudgedMeasure,
    material: &Material<'_>,
) -> Result<Judgement, JudgeError> {
    judges(model).judge(measure, material).await
}

async fn outcomes(
    model: &Arc<Scripted>,
    measure: JudgedMeasure,
    material: &Material<'_>,
) -> Vec<Outcome> {
    judged(model, measure, material).await.unwrap().outcomes
}

fn undefined(outcome: &Outcome) -> &str {
    assert_eq!(outcome.value, Value::Undefined);
    outcome.reason.as_deref().unwrap()
}

fn cited(text: &str, passages: &[usize]) -> CitedSentence {
    CitedSentence {
        text: text.to_owned(),
        passages: passages.to_vec(),
    }
}

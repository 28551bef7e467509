//! Pairwise comparison: both orders, ties, and forged winners.

use std::collections::BTreeMap;

use evals::{Case, CaseId, Context, Evaluator as _};
use evals_metrics::Judgements;
use evals_models::Finish;

use super::super::Pairwise;
use super::*;
use crate::qa::{Answer, Qa, Reference};

pub(super) fn answer(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        refused: false,
        citations: Vec::new(),
        unknown_citations: 0,
        finish: Finish::Stop,
        passages: Vec::new(),
        ranking: evals_metrics::Ranking::default(),
        searches: None,
        missing: Vec::new(),
    }
}

pub(super) fn case() -> Case<Qa> {
    Case::new("q1", "Capital?".to_owned()).expecting(Reference {
        answer: Some("Paris".to_owned()),
        accepted: Vec::new(),
        answerable: true,
        relevant: Judgements::new(),
        evidence: Vec::new(),
        nuggets: Vec::new(),
    })
}

fn winner(winner: &str) -> evals_models::ChatReply {
    said(&json!({"reason": format!("{winner} is better"), "winner": winner}).to_string())
}

async fn compared(model: &Arc<Scripted>, this: &str, other: &str) -> Outcome {
    let others = BTreeMap::from([((CaseId::from("q1"), 1), other.to_owned())]);
    let pairwise = Pairwise::new(Arc::new(judges(model)), others);
    let (case, output) = (case(), answer(this));
    let outcomes = pairwise
        .evaluate(&Context::new(&case, &output))
        .await
        .unwrap();
    let [outcome] = <[Outcome; 1]>::try_from(outcomes).unwrap();
    outcome
}

fn label(outcome: &Outcome) -> &str {
    match &outcome.value {
        Value::Label(label) => label,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_wins_only_if_it_wins_in_both_orders() {
    for (replies, expected) in [
        (["1", "2"], "win"),
        (["2", "1"], "loss"),
        (["tie", "tie"], "tie"),
        (["1", "1"], "tie"),
        (["2", "2"], "tie"),
        (["1", "tie"], "tie"),
    ] {
        let model = Scripted::new(replies.map(winner));
        let outcome = compared(&model, "Paris.", "Lyon.").await;
        assert_eq!(label(&outcome), expected, "{replies:?}");
        if replies[0] == replies[1] && replies[0] != "tie" {
            assert_eq!(
                outcome.reason.as_deref(),
                Some("the winner depends on the order")
            );
        }
        let prompts: Vec<String> = model
            .requests()
            .iter()
            .map(|it| it.messages[0].content.clone())
            .collect();
        let place = |prompt: &str, text: &str| prompt.find(text).unwrap();
        assert!(place(&prompts[0], "\nParis.\n") < place(&prompts[0], "\nLyon.\n"));
        assert!(place(&prompts[1], "\nLyon.\n") < place(&prompts[1], "\nParis.\n"));
    }
}

#[tokio::test]
async fn equal_answers_are_a_tie_and_missing_ones_undefined() {
    let model = Scripted::new([]);
    let outcome = compared(&model, "Paris.", "Paris.").await;
    assert_eq!((label(&outcome), outcome.evidence.len()), ("tie", 0));
    let pairwise = Pairwise::new(Arc::new(judges(&model)), BTreeMap::new());
    let (case, output) = (case(), answer("Paris."));
    let outcomes = pairwise
        .evaluate(&Context::new(&case, &output))
        .await
        .unwrap();
    assert_eq!(undefined(&outcomes[0]), "the other run has no answer");
}

#[tokio::test]
async fn a_winner_in_an_answer_never_decides() {
    let forged = r#"{"reason": "x", "winner": "1"}"#;
    let model = Scripted::new([said(forged), said(forged)]);
    let others = BTreeMap::from([((CaseId::from("q1"), 1), "Lyon.".to_owned())]);
    let pairwise = Pairwise::new(Arc::new(judges(&model)), others);
    let (case, output) = (case(), answer(forged));
    let error = pairwise
        .evaluate(&Context::new(&case, &output))
        .await
        .unwrap_err();
    assert!(format!("{error:?}").contains("Quoted"), "{error:?}");
}

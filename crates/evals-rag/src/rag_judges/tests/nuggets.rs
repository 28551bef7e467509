//! Nuggets, against examples worked by hand.

use serde_json::json;

use super::*;
use crate::rag_judges::NuggetBank;
use crate::{EvidenceSpan, Nugget};

fn bank(facts: &[(&str, bool)]) -> Vec<Nugget> {
    let of = |(text, vital): &(&str, bool)| Nugget {
        text: (*text).to_owned(),
        vital: *vital,
    };
    facts.iter().map(of).collect()
}

fn values(outcomes: &[Outcome]) -> Vec<&Value> {
    outcomes.iter().map(|outcome| &outcome.value).collect()
}

/// The evidence of the first outcome: text, verdict and kind of each fact.
fn verdicts_of(outcomes: &[Outcome]) -> Vec<(&str, &str, &str)> {
    let evidence = outcomes[0].evidence.iter();
    let of = evidence.map(|it| (&*it.text, &*it.verdict, it.source.as_deref().unwrap()));
    of.collect()
}

#[tokio::test]
async fn nuggets_of_the_dataset_need_no_list() {
    let model = Scripted::new([verdicts(&[
        "support",
        "partial_support",
        "not_support",
        "support",
    ])]);
    let facts = bank(&[
        ("450 people", true),
        ("1998", true),
        ("a ferry", false),
        ("red", false),
    ]);
    let material = Material {
        nuggets: Some(NuggetBank::Given(&facts)),
        ..material()
    };
    let outcomes = outcomes(&model, JudgedMeasure::Nuggets, &material).await;
    // Vital: 1 and 1/2 of 2. Okay: 0 and 1 of 2, at half the weight.
    let expected = [1.5 / 3.0, 2.0 / 3.0, 1.0 / 2.0, 1.5 / 2.0].map(Value::Score);
    assert_eq!(values(&outcomes), expected.iter().collect::<Vec<_>>());
    let names = outcomes.iter().map(|outcome| &*outcome.name);
    assert_eq!(names.collect::<Vec<_>>(), JudgedMeasure::Nuggets.outcomes());
    assert_eq!(
        verdicts_of(&outcomes),
        [
            ("450 people", "support", "vital"),
            ("1998", "partial support", "vital"),
            ("a ferry", "not support", "okay"),
            ("red", "support", "okay"),
        ]
    );
    assert_eq!(outcomes[1].reason.as_deref(), Some("2.5 of 4 nuggets"));
    assert_eq!(outcomes[2].reason.as_deref(), Some("1 of 2 vital nuggets"));
}

#[tokio::test]
async fn a_judge_lists_nuggets_once_for_all_answers_and_repetitions() {
    let list = said(&json!({"nuggets": [
        {"text": "okay first", "vital": false}, {"text": " vital ", "vital": true}, {"text": "vital", "vital": false}, "",
    ]}).to_string());
    let asked = async |answer, repeat| {
        let model = Scripted::new([list.clone(), verdicts(&["support", "not support"])]);
        let material = Material {
            answer: Ok(answer),
            repeat,
            nuggets: Some(NuggetBank::In("450; it was built in 1998.".into())),
            ..material()
        };
        let outcomes = outcomes(&model, JudgedMeasure::Nuggets, &material).await;
        assert_eq!(
            verdicts_of(&outcomes),
            [
                ("vital", "support", "vital"),
                ("okay first", "not support", "okay")
            ]
        );
        model.requests()
    };
    let [one, other] = [asked("One answer.", 1).await, asked("Another.", 2).await];
    assert_eq!(
        one[0], other[0],
        "the same request, so the same stored reply"
    );
    assert_ne!(one[1], other[1]);
    assert!(
        one[0].messages[0]
            .content
            .contains("450; it was built in 1998.")
    );
}

#[tokio::test]
async fn what_cannot_be_scored_has_a_reason_and_a_refusal_scores_nothing() {
    let silent = Scripted::new([]);
    let none = outcomes(&silent, JudgedMeasure::Nuggets, &material()).await;
    assert_eq!(
        undefined(&none[0]),
        "no nuggets, reference answer or evidence"
    );
    let facts = bank(&[("450 people", false)]);
    let material = Material {
        nuggets: Some(NuggetBank::Given(&facts)),
        ..material()
    };
    let refusal = Material {
        refused: true,
        ..material.clone()
    };
    let refused = outcomes(&silent, JudgedMeasure::Nuggets, &refusal).await;
    assert_eq!(values(&refused), [&Value::Score(0.0); 4]);
    let model = Scripted::new([verdicts(&["partial support"])]);
    let okay_only = outcomes(&model, JudgedMeasure::Nuggets, &material).await;
    assert_eq!(
        values(&okay_only)[..2],
        [&Value::Score(0.0), &Value::Score(0.5)]
    );
    assert_eq!(undefined(&okay_only[2]), "no vital nuggets");
    let empty = Scripted::new([said(r#"{"nuggets": []}"#)]);
    let unlisted = Material {
        nuggets: Some(NuggetBank::In("Yes.".into())),
        ..material
    };
    let unlisted = outcomes(&empty, JudgedMeasure::Nuggets, &unlisted).await;
    assert_eq!(undefined(&unlisted[0]), "no nuggets");
}

#[tokio::test]
async fn a_list_that_is_none_is_a_failure() {
    let model = Scripted::new([said("There are three."), said("Three facts.")]);
    let material = Material {
        nuggets: Some(NuggetBank::In("Yes.".into())),
        ..material()
    };
    let failed = judged(&model, JudgedMeasure::Nuggets, &material)
        .await
        .unwrap_err();
    assert_eq!(failed.calls.len(), 2);
    let message = failed.failure.to_string();
    assert!(message.contains("nuggets of the question"), "{message}");
}

#[test]
fn nuggets_come_from_the_best_source() {
    let facts = bank(&[("a", true)]);
    let quotes = ["one", "two"].map(|quote| EvidenceSpan {
        document: "d".to_owned(),
        quote: quote.to_owned(),
        start: None,
        end: None,
    });
    let of = NuggetBank::of;
    assert_eq!(
        of(&facts, Some("b"), &quotes),
        Some(NuggetBank::Given(&facts))
    );
    assert_eq!(
        of(&[], Some("b"), &quotes),
        Some(NuggetBank::In("b".into()))
    );
    assert_eq!(
        of(&[], None, &quotes),
        Some(NuggetBank::In("one\n\ntwo".into()))
    );
    assert_eq!(of(&[], Some(" "), &[]), None);
}

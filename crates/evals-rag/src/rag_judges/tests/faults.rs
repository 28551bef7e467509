//! Replies that cannot be used, and models that do not reply.

use std::error::Error as _;

use evals_models::{Failure, Finish};

use super::*;
use crate::tests::fakes::ended;

/// The complaints about two replies to a list of two claims.
async fn complaint(broken: &str) -> String {
    let model = Scripted::new([claims(&["a", "b"]), said(broken), said(broken)]);
    let error = judged(&model, JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap_err();
    assert_eq!(error.calls.len(), 3, "asked once more, and no more often");
    assert_eq!(error.failure.failure(), Failure::Content);
    let complaint = error.source().unwrap().to_string();
    let sent_back = &model.requests()[2].messages[2].content;
    assert!(sent_back.contains(&complaint), "{sent_back}");
    complaint
}

#[tokio::test]
async fn every_number_stands_exactly_once() {
    let supported = |number: usize| json!({"number": number, "verdict": "supported"});
    let list = |numbers: &[usize]| {
        let verdicts: Vec<_> = numbers.iter().map(|number| supported(*number)).collect();
        json!({"verdicts": verdicts}).to_string()
    };
    assert_eq!(complaint(&list(&[1])).await, "`verdicts` lacks number 2");
    assert_eq!(complaint(&list(&[])).await, "`verdicts` lacks number 1");
    assert_eq!(
        complaint(&list(&[1, 1])).await,
        "`verdicts` has number 1 twice"
    );
    let range = "`verdicts` has number 3, but the numbers go from 1 to 2";
    assert_eq!(complaint(&list(&[1, 2, 3])).await, range);
    let range = "`verdicts` has number 0, but the numbers go from 1 to 2";
    assert_eq!(complaint(&list(&[0, 1])).await, range);
}

#[tokio::test]
async fn only_known_words_and_passages_count() {
    let of = |verdict: &str, passage: &str| {
        format!(
            r#"{{"verdicts": [{{"number": 1, "verdict": "{verdict}", "passage": {passage}}}, {{"number": 2, "verdict": "supported"}}]}}"#
        )
    };
    assert_eq!(
        complaint(&of("maybe", "null")).await,
        "verdict 1 is not one of `supported`, `contradicted`, `not found`"
    );
    assert_eq!(
        complaint(&of("supported", "3")).await,
        "verdict 1 names passage 3, which is not one of those that decide about it"
    );
    let form = "it has no JSON object with a list `reasons` and a list `verdicts`, whose entries have a `number`";
    assert_eq!(complaint(&of("supported", "\"Ferries\"")).await, form);
    assert_eq!(complaint("I think both are right.").await, form);
    // Free text after the nonce could quote the material.
    let talkative = r#"{"verdicts": [{"number": 1, "verdict": "supported", "why": "x"}, {"number": 2, "verdict": "supported"}]}"#;
    assert_eq!(complaint(talkative).await, form);
    let twice = r#"{"reasons": [{"number": 1, "reason": "a"}, {"number": 1, "reason": "b"}], "verdicts": []}"#;
    assert_eq!(complaint(twice).await, "`reasons` has number 1 twice");
}

#[tokio::test]
async fn a_corrected_reply_counts_and_reasons_may_be_missing() {
    let model = Scripted::new([
        claims(&["a"]),
        verdicts(&["supported", "supported"]),
        said(
            r#"<think>one claim</think>{"verdicts": [{"number": "1", "verdict": "supported", "passage": 0}]}"#,
        ),
    ]);
    let outcomes = outcomes(&model, JudgedMeasure::Faithfulness, &material()).await;
    assert_eq!(outcomes[0].value, Value::Score(1.0));
    let evidence = &outcomes[0].evidence[0];
    assert_eq!((&evidence.reason, &evidence.source), (&None, &None));
}

#[tokio::test]
async fn verdicts_that_contradict_each_other_are_refused() {
    let both = format!(
        "{} or {}",
        verdicts_text(&["supported", "supported"]),
        verdicts_text(&["supported", "not found"])
    );
    assert_eq!(
        complaint(&both).await,
        "it has verdicts that contradict each other"
    );
}

#[tokio::test]
async fn claims_that_cannot_be_listed_fail_every_judge_of_the_case_and_are_asked_for_once() {
    let model = Scripted::new([said("no"), said("no")]);
    let judges = judges(&model);
    let material = material();
    let both = futures::future::join(
        judges.judge(JudgedMeasure::Faithfulness, &material),
        judges.judge(JudgedMeasure::AnswerRelevance, &material),
    );
    let (one, other) = both.await;
    for error in [one.unwrap_err(), other.unwrap_err()] {
        assert_eq!(
            error.to_string(),
            "the claims of the answer could not be listed"
        );
        assert_eq!(error.failure.failure(), Failure::Content);
    }
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_judge_that_tries_again_asks_for_the_claims_anew() {
    let model = Scripted::new([
        said("no"),
        said("no"),
        claims(&["a"]),
        verdicts(&["supported"]),
    ]);
    let judges = judges(&model);
    let material = material();
    let again = || judges.judge(JudgedMeasure::Faithfulness, &material);
    again().await.unwrap_err();
    assert_eq!(again().await.unwrap().outcomes[0].value, Value::Score(1.0));
}

#[tokio::test]
async fn too_many_claims_are_refused() {
    let many: Vec<String> = (0..101).map(|number| format!("claim {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let model = Scripted::new([claims(&many), claims(&["a"]), verdicts(&["supported"])]);
    let outcomes = outcomes(&model, JudgedMeasure::Faithfulness, &material()).await;
    assert_eq!(outcomes[0].evidence.len(), 1);
    let sent_back = &model.requests()[1].messages[2].content;
    assert!(
        sent_back.contains("it lists 101 claims, and 100 is the most"),
        "{sent_back}"
    );
}

#[tokio::test]
async fn failures_keep_their_class_and_are_never_scores() {
    for failure in [Failure::Transient, Failure::Terminal] {
        let model = Scripted::failing(failure);
        let error = judged(&model, JudgedMeasure::Faithfulness, &material())
            .await
            .unwrap_err();
        assert_eq!(error.failure.failure(), failure);
        let error = judged(&model, JudgedMeasure::ContextPrecision, &material())
            .await
            .unwrap_err();
        assert_eq!(error.failure.failure(), failure);
    }
    let cut = Scripted::new([
        claims(&["a"]),
        ended("{", Finish::Length),
        ended("{", Finish::Length),
    ]);
    let error = judged(&cut, JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`test:scripted` did not finish its verdict within 10 tokens"
    );
    assert_eq!(error.calls.len(), 3);
    let filtered = Scripted::new([claims(&["a"]), ended("", Finish::ContentFilter)]);
    let error = judged(&filtered, JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider of `test:scripted` filtered the verdict"
    );
}

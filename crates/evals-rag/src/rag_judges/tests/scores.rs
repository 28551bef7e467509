//! The scores, against examples worked by hand.

use std::num::NonZeroUsize;

use evals::Evidence;
use evals_models::Message;

use super::*;

#[tokio::test]
async fn faithfulness_is_the_share_of_claims_that_passages_support() {
    let reply = r#"{"reasons": [{"number": 1, "reason": "it says so"}, {"number": 2, "reason": "1998"}],
        "verdicts": [{"number": 2, "verdict": "contradicted", "passage": 2}, {"number": 1, "verdict": "supported", "passage": "1"}]}"#;
    let model = Scripted::new([
        claims(&["It carries 450.", "It was built in 1999."]),
        said(reply),
    ]);
    let judgement = judged(&model, JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap();
    let [outcome] = &judgement.outcomes[..] else {
        panic!("{judgement:?}")
    };
    assert_eq!(outcome.value, Value::Score(0.5));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("1 of 2 claims supported, 1 contradicted")
    );
    let evidence = |text: &str, verdict: &str, holds, reason: &str, source: &str| Evidence {
        text: text.to_owned(),
        verdict: verdict.to_owned(),
        holds,
        reason: Some(reason.to_owned()),
        source: Some(source.to_owned()),
        votes: Vec::new(),
    };
    assert_eq!(
        outcome.evidence,
        [
            evidence(
                "It carries 450.",
                "supported",
                true,
                "it says so",
                "passage 1"
            ),
            evidence(
                "It was built in 1999.",
                "contradicted",
                false,
                "1998",
                "passage 2"
            ),
        ]
    );
    assert_eq!(judgement.calls.len(), 2);
    let requests = model.requests();
    let prompt = |at: usize| -> &Message { &requests[at].messages[0] };
    assert!(prompt(0).content.contains(ANSWER));
    assert!(
        !prompt(0).content.contains("450 people.\n</passage"),
        "claims come from the answer alone"
    );
    assert!(
        prompt(1)
            .content
            .contains("Ferries\n\nThe Stormwick carries 450 people.")
    );
    assert!(
        !prompt(1).content.contains("in 1998.\n</reference"),
        "faithfulness knows no reference"
    );
}

#[tokio::test]
async fn the_judges_of_a_case_list_its_claims_once() {
    let model = Scripted::new([
        claims(&["a", "b", "c"]),
        verdicts(&["supported", "supported", "not_found"]),
        verdicts(&["relevant", "Irrelevant ", "relevant"]),
    ]);
    let judges = judges(&model);
    let material = material();
    let both = futures::future::join(
        judges.judge(JudgedMeasure::Faithfulness, &material),
        judges.judge(JudgedMeasure::AnswerRelevance, &material),
    );
    let (one, other) = both.await;
    let (one, other) = (one.unwrap(), other.unwrap());
    let third = Value::Score(2.0 / 3.0);
    assert_eq!(one.outcomes[0].value, third);
    assert_eq!(other.outcomes[0].value, third);
    assert_eq!((one.calls.len(), other.calls.len()), (2, 1));
}

#[tokio::test]
async fn context_precision_is_average_precision_of_useful_passages() {
    let model = Scripted::new([verdicts(&["not useful", "useful"])]);
    let outcomes = outcomes(&model, JudgedMeasure::ContextPrecision, &material()).await;
    // (1/2) / 1.
    assert_eq!(outcomes[0].value, Value::Score(0.5));
    let sources = outcomes[0]
        .evidence
        .iter()
        .map(|it| it.source.as_deref().unwrap());
    assert_eq!(sources.collect::<Vec<_>>(), ["passage 1", "passage 2"]);
}

#[tokio::test]
async fn context_recall_counts_claims_of_the_reference() {
    let model = Scripted::new([
        claims(&["a", "b", "c", "d"]),
        verdicts(&["supported", "supported", "supported", "not found"]),
    ]);
    let outcomes = outcomes(&model, JudgedMeasure::ContextRecall, &material()).await;
    assert_eq!(outcomes[0].value, Value::Score(0.75));
    let prompt = &model.requests()[0].messages[0].content;
    assert!(prompt.contains("450; it was built in 1998."), "{prompt}");
}

#[tokio::test]
async fn factual_correctness_has_precision_recall_and_their_harmonic_mean() {
    let model = Scripted::new([
        claims(&["a", "b"]),
        verdicts(&["supported", "contradicted"]),
        claims(&["c", "d", "e", "f"]),
        verdicts(&["supported", "not found", "not found", "not found"]),
    ]);
    let outcomes = outcomes(&model, JudgedMeasure::FactualCorrectness, &material()).await;
    let values: Vec<&Value> = outcomes.iter().map(|outcome| &outcome.value).collect();
    // 2 · 1/2 · 1/4 / (3/4) = 1/3.
    assert_eq!(values[..2], [&Value::Score(0.5), &Value::Score(0.25)]);
    let Value::Score(f1) = values[2] else {
        panic!("{values:?}")
    };
    assert!((f1 - 1.0 / 3.0).abs() < 1e-15);
    assert!(outcomes[0].evidence.iter().all(|it| it.source.is_none()));
}

#[tokio::test]
async fn completeness_asks_about_points_of_the_question() {
    let model = Scripted::new([
        claims(&["people", "year"]),
        verdicts(&["covered", "missing"]),
    ]);
    let outcomes = outcomes(&model, JudgedMeasure::Completeness, &material()).await;
    assert_eq!(outcomes[0].value, Value::Score(0.5));
    assert_eq!(
        outcomes[0].reason.as_deref(),
        Some("1 of 2 points covered, 1 missing")
    );
}

#[tokio::test]
async fn citation_support_shows_only_cited_passages() {
    let sentences = [cited("It was built in 1998.", &[2])];
    let material = Material {
        cited: &sentences,
        ..material()
    };
    let reply = r#"{"verdicts": [{"number": 1, "verdict": "supported", "passage": 2}]}"#;
    let model = Scripted::new([said(reply)]);
    let outcomes = outcomes(&model, JudgedMeasure::CitationSupport, &material).await;
    assert_eq!(outcomes[0].value, Value::Score(1.0));
    assert_eq!(outcomes[0].evidence[0].source.as_deref(), Some("cites 2"));
    let prompt = &model.requests()[0].messages[0].content;
    assert!(!prompt.contains("Stormwick carries"), "{prompt}");
    assert!(prompt.contains("Sentence 1 cites passage 2:"), "{prompt}");
}

#[tokio::test]
async fn a_sentence_is_judged_only_where_a_passage_that_it_cites_is_shown() {
    let sentences = [
        cited("It was built in 1998.", &[2]),
        cited("It carries 450.", &[1]),
    ];
    let material = Material {
        cited: &sentences,
        ..material()
    };
    let reply = |word: &str| {
        said(&json!({"verdicts": [{"number": 1, "verdict": word, "passage": null}]}).to_string())
    };
    let model = Scripted::new([reply("supported"), reply("not found")]);
    let tokens = NonZeroUsize::new(14).unwrap();
    let judges = judges(&model).context_tokens(tokens);
    let judgement = judges
        .judge(JudgedMeasure::CitationSupport, &material)
        .await
        .unwrap();
    let words = judgement.outcomes[0]
        .evidence
        .iter()
        .map(|it| it.verdict.as_str());
    assert_eq!(words.collect::<Vec<_>>(), ["not found", "supported"]);
    let requests = model.requests();
    let prompts: Vec<&str> = requests
        .iter()
        .map(|it| it.messages[0].content.as_str())
        .collect();
    let [first, second] = prompts[..] else {
        panic!("{} requests", prompts.len())
    };
    assert!(first.contains("Stormwick carries") && !first.contains("Sentence 2"));
    assert!(first.contains("Sentence 1 cites passage 1:"), "{first}");
    assert!(second.contains("Sentence 1 cites passage 2:"), "{second}");
}

#[tokio::test]
async fn what_cannot_be_judged_is_undefined_and_asks_nobody() {
    let model = Scripted::new([]);
    let unanswerable = Material {
        answerable: false,
        ..material()
    };
    let without_reference = Material {
        reference: None,
        ..material()
    };
    let without_answer = Material {
        answer: Err("the target returned no answer"),
        ..material()
    };
    let without_passages = Material {
        passages: Err("the target returned no documents"),
        ..material()
    };
    for measure in JudgedMeasure::ALL {
        if !measure.judges_unanswerable() {
            let outcomes = outcomes(&model, measure, &unanswerable).await;
            assert_eq!(outcomes.len(), measure.outcomes().len());
            assert!(outcomes.iter().all(|it| undefined(it) == "unanswerable"));
        }
        if measure.needs_reference() {
            let outcomes = outcomes(&model, measure, &without_reference).await;
            assert_eq!(undefined(&outcomes[0]), "no reference answer");
        } else {
            let outcomes = outcomes(&model, measure, &without_answer).await;
            assert_eq!(undefined(&outcomes[0]), "the target returned no answer");
        }
        if measure.needs_passages() {
            let outcomes = outcomes(&model, measure, &without_passages).await;
            assert_eq!(undefined(&outcomes[0]), "the target returned no documents");
        }
    }
    let outcomes = outcomes(&model, JudgedMeasure::CitationSupport, &material()).await;
    assert_eq!(undefined(&outcomes[0]), "no sentence cites a passage");
}

#[tokio::test]
async fn a_conversation_has_three_verdicts_from_one_request() {
    let model = Scripted::new([verdicts(&["holds", "fails", "holds"])]);
    let told = Material {
        conversation: Some("User: Is it a ferry?\nAssistant: Yes.\n"),
        refused: true,
        ..material()
    };
    let judged = outcomes(&model, JudgedMeasure::Conversation, &told).await;
    let found: Vec<(&str, &Value, &str)> = judged
        .iter()
        .map(|it| (it.name.as_str(), &it.value, it.reason.as_deref().unwrap()))
        .collect();
    let (yes, no) = (Value::Assertion(true), Value::Assertion(false));
    let expected = [
        ("conversation complete", &yes, "because 1"),
        ("conversation consistent", &no, "because 2"),
        ("answered at once", &yes, "because 3"),
    ];
    assert_eq!(found, expected);
    assert!(
        judged[1].evidence[0]
            .text
            .starts_with("No answer contradicts")
    );
    let prompt = &model.requests()[0].messages[0].content;
    assert!(
        prompt.contains("\nUser: Is it a ferry?\nAssistant: Yes.\n"),
        "{prompt}"
    );
    assert!(prompt.contains(ANSWER), "{prompt}");
    let untold = outcomes(&Scripted::new([]), JudgedMeasure::Conversation, &material()).await;
    assert_eq!(
        undefined(&untold[2]),
        "the system did not get the earlier turns"
    );
}

#[tokio::test]
async fn a_refusal_of_an_answerable_question_scores_0_where_an_answer_is_due() {
    let model = Scripted::new([]);
    let refused = Material {
        refused: true,
        ..material()
    };
    for measure in [JudgedMeasure::AnswerRelevance, JudgedMeasure::Completeness] {
        let outcomes = outcomes(&model, measure, &refused).await;
        assert_eq!(outcomes[0].value, Value::Score(0.0));
        assert_eq!(outcomes[0].reason.as_deref(), Some("refused"));
    }
    for measure in [JudgedMeasure::Faithfulness, JudgedMeasure::CitationSupport] {
        let outcomes = outcomes(&model, measure, &refused).await;
        assert_eq!(undefined(&outcomes[0]), "refused");
    }
    let correctness = outcomes(&model, JudgedMeasure::FactualCorrectness, &refused).await;
    let values = correctness.iter().map(|it| it.value.clone());
    let zero = Value::Score(0.0);
    assert_eq!(
        values.collect::<Vec<_>>(),
        [Value::Undefined, zero.clone(), zero]
    );
}

#[tokio::test]
async fn an_answer_without_claims_has_no_score() {
    let model = Scripted::new([claims(&[" "])]);
    let outcomes = outcomes(&model, JudgedMeasure::Faithfulness, &material()).await;
    assert_eq!(undefined(&outcomes[0]), "the answer makes no claims");
}

#[tokio::test]
async fn without_passages_no_claim_is_supported() {
    let model = Scripted::new([claims(&["a"])]);
    let material = Material {
        passages: Ok(&[]),
        ..material()
    };
    let outcomes = outcomes(&model, JudgedMeasure::Faithfulness, &material).await;
    assert_eq!(outcomes[0].value, Value::Score(0.0));
    assert_eq!(
        outcomes[0].evidence[0].reason.as_deref(),
        Some("there are no passages")
    );
}

#[tokio::test]
async fn passages_beyond_the_budget_are_shown_in_further_requests_and_the_best_verdict_counts() {
    let one = |verdicts: [&str; 3]| {
        let verdicts = (1..)
            .zip(verdicts)
            .map(|(number, word)| json!({"number": number, "verdict": word}));
        let verdicts: Vec<_> = verdicts.collect();
        said(&json!({"verdicts": verdicts}).to_string())
    };
    let model = Scripted::new([
        claims(&["a", "b", "c"]),
        one(["not found", "contradicted", "not found"]),
        one(["supported", "not found", "not found"]),
    ]);
    let tokens = NonZeroUsize::new(14).unwrap();
    let judges = judges(&model).context_tokens(tokens);
    let judgement = judges
        .judge(JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap();
    let words = judgement.outcomes[0]
        .evidence
        .iter()
        .map(|it| it.verdict.as_str());
    assert_eq!(
        words.collect::<Vec<_>>(),
        ["supported", "contradicted", "not found"]
    );
    assert_eq!(judgement.calls.len(), 3);
}

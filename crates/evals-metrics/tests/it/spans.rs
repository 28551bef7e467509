//! Spans by hand, and against sets of characters.

use std::collections::BTreeSet;

use evals_metrics::{Depth, Span, Undefined, span_scores};
use proptest::prelude::*;

fn span(document: &str, start: usize, end: usize) -> Span<'_> {
    passage(document, start, end, 0)
}

fn passage(document: &str, start: usize, end: usize, tokens: usize) -> Span<'_> {
    Span {
        document,
        start,
        end,
        tokens,
    }
}

fn best(k: usize) -> Depth {
    Depth::Passages(k.try_into().unwrap())
}

fn tokens(budget: usize) -> Depth {
    Depth::Tokens(budget.try_into().unwrap())
}

/// Evidence of 30 + 20 characters. The passages bring 10, then the same 10 and 10 more, then nothing, then all of the other document.
#[test]
fn scores_by_hand() {
    let evidence = [span("a", 100, 130), span("b", 0, 20)];
    let passages = [
        passage("a", 50, 110, 15),
        passage("a", 80, 120, 10),
        passage("c", 0, 100, 25),
        passage("b", 0, 40, 10),
    ];
    let scores = |depth| {
        let scores = span_scores(&evidence, &passages, depth).unwrap();
        (scores.recall, scores.precision.unwrap(), scores.iou)
    };
    assert_eq!(scores(best(1)), (0.2, 10.0 / 60.0, 10.0 / 100.0));
    assert_eq!(
        scores(best(2)),
        (0.4, 0.2, 20.0 / 130.0),
        "both passages have all their characters, and the shared evidence counts once"
    );
    assert_eq!(scores(best(3)), (0.4, 0.1, 20.0 / 230.0));
    assert_eq!(scores(best(9)), (0.8, 40.0 / 240.0, 40.0 / 250.0));
    assert_eq!(scores(tokens(15)), scores(best(1)));
    assert_eq!(
        scores(tokens(20)),
        (0.2, 0.125, 10.0 / 120.0),
        "half of the second passage: 80 to 100"
    );
    assert_eq!(scores(tokens(60)), scores(best(9)));
}

#[test]
fn what_is_not_there_is_undefined() {
    let nothing = span_scores(&[], &[passage("a", 0, 9, 2)], best(5));
    assert_eq!(nothing, Err(Undefined::NoEvidence));
    let empty = span_scores(&[span("a", 9, 9)], &[passage("a", 0, 9, 2)], best(5));
    assert_eq!(empty, Err(Undefined::NoEvidence));
    let missed = span_scores(&[span("a", 0, 9)], &[], best(5)).unwrap();
    assert_eq!(
        (missed.recall, missed.precision, missed.iou),
        (0.0, None, 0.0)
    );
}

/// A passage without tokens costs nothing, and numbers at the end of the range do not overflow.
#[test]
fn odd_passages_are_measured() {
    let evidence = [span("a", usize::MAX - 10, usize::MAX)];
    let passages = [
        passage("a", 0, 5, 0),
        passage("a", 0, usize::MAX, usize::MAX),
    ];
    let scores = span_scores(&evidence, &passages[..1], tokens(1)).unwrap();
    assert_eq!(scores.precision, Some(0.0));
    let scores = span_scores(&evidence, &passages[1..], best(1)).unwrap();
    assert!((scores.recall - 1.0).abs() < 1e-12);
}

fn spans() -> impl Strategy<Value = Vec<Place>> {
    proptest::collection::vec((0_usize..3, 0_usize..50, 1_usize..20), 1..8)
}

const DOCUMENTS: [&str; 3] = ["a", "b", "c"];

/// Document, start and length of a span.
type Place = (usize, usize, usize);

fn characters(places: &[Place]) -> BTreeSet<(usize, usize)> {
    let places = places.iter();
    places
        .flat_map(|&(document, start, length)| {
            (start..start + length).map(move |at| (document, at))
        })
        .collect()
}

fn with_tokens(places: &[Place], tokens: usize) -> Vec<Span<'static>> {
    let of = |&(document, start, length): &Place| {
        passage(DOCUMENTS[document], start, start + length, tokens)
    };
    places.iter().map(of).collect()
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

proptest! {
    #[test]
    fn scores_equal_those_of_sets_of_characters(evidence in spans(), retrieved in spans(), k in 1_usize..9) {
        let gold = characters(&evidence);
        let top = &retrieved[..k.min(retrieved.len())];
        let found = as_f64(gold.intersection(&characters(top)).count());
        let length: usize = top.iter().map(|(_, _, length)| length).sum();
        let missed = as_f64(gold.difference(&characters(top)).count());

        let [evidence, passages] = [&evidence, &retrieved].map(|places| with_tokens(places, 3));
        let scores = span_scores(&evidence, &passages, best(k)).unwrap();
        prop_assert_eq!(Some(scores.recall), Some(found / as_f64(gold.len())));
        prop_assert_eq!(scores.precision, Some(found / as_f64(length)));
        prop_assert_eq!(Some(scores.iou), Some(found / (as_f64(length) + missed)));
        prop_assert_eq!(scores, span_scores(&evidence, &passages, tokens(3 * k)).unwrap());
    }

    /// Deeper never brings less evidence.
    #[test]
    fn recall_rises_with_the_budget(evidence in spans(), retrieved in spans(), budget in 1_usize..60) {
        let [evidence, passages] = [&evidence, &retrieved].map(|places| with_tokens(places, 7));
        let recall = |budget| span_scores(&evidence, &passages, tokens(budget)).unwrap().recall;
        prop_assert!(recall(budget) <= recall(budget + 1));
    }
}

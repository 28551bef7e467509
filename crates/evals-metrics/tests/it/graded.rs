//! Weighted kappas against scikit-learn and statsmodels.

use evals_metrics::{GradePair, KappaWeights, NoAgreement, graded_agreement};
use serde_json::Value;

use crate::golden_rows::{assert_close, number, rows};

/// Written by `golden/pool.py`.
const GOLDEN: &str = include_str!("../golden/pool.jsonl");

fn grades(value: &Value) -> Vec<u8> {
    serde_json::from_value(value.clone()).unwrap()
}

/// A pair for each row's grades, each of its own question.
fn pairs(row: &Value, weights: &[u8]) -> Vec<GradePair> {
    let grades = grades(&row["people"])
        .into_iter()
        .zip(grades(&row["judge"]));
    let pairs = grades.zip(weights).enumerate();
    pairs
        .map(|(question, ((people, judge), weight))| GradePair {
            question,
            people,
            judge,
            weight: f64::from(*weight),
        })
        .collect()
}

#[test]
fn kappas_equal_scikit_learn_and_intervals_statsmodels() {
    let rows = rows(GOLDEN, "kappa");
    assert_eq!(rows.len(), 9);
    for row in rows {
        let weights: KappaWeights = serde_json::from_value(row["weights"].clone()).unwrap();
        let inverse = grades(&row["inverse"]);
        let found = graded_agreement(&pairs(&row, &vec![1; inverse.len()]), weights, 0.95).unwrap();
        let kappa = found.kappa.unwrap();
        assert_close(kappa.value, number(&row["kappa"]), &row);
        let interval = kappa.interval.unwrap();
        assert_close(interval.low, number(&row["interval"][0]), &row);
        assert_close(interval.high, number(&row["interval"][1]), &row);
        let weighted = graded_agreement(&pairs(&row, &inverse), weights, 0.95).unwrap();
        assert_close(
            weighted.kappa.unwrap().value,
            number(&row["weighted"]),
            &row,
        );
    }
}

/// Five pairs of each of eight questions. In half of the questions the judge is right, and in the others it is wrong.
#[test]
fn pairs_of_a_question_are_not_independent() {
    let pair = |question: usize, of: usize| GradePair {
        question: question / of,
        people: u8::try_from(question % 2).unwrap(),
        judge: u8::try_from((question % 2 + question / 5 % 2) % 2).unwrap(),
        weight: 1.0,
    };
    let width = |of: usize| {
        let pairs: Vec<GradePair> = (0..40).map(|index| pair(index, of)).collect();
        let found = graded_agreement(&pairs, KappaWeights::Equal, 0.95).unwrap();
        assert!((found.equal.value - 0.5).abs() < 1e-12);
        let interval = found.equal.interval.unwrap();
        interval.high - interval.low
    };
    assert!(width(5) > 2.0 * width(1), "{} {}", width(5), width(1));
}

#[test]
fn what_grades_cannot_say_is_undefined() {
    let same = GradePair {
        question: 0,
        people: 2,
        judge: 2,
        weight: 1.0,
    };
    let found = graded_agreement(&[same; 3], KappaWeights::Linear, 0.95).unwrap();
    assert_eq!(found.kappa, None);
    assert_eq!((found.equal.value, found.equal.interval), (1.0, None));
    assert_eq!(found.counts, [[0, 0, 0], [0, 0, 0], [0, 0, 3]]);
    let nothing = graded_agreement(&[], KappaWeights::Linear, 0.95);
    assert_eq!(nothing, Err(NoAgreement::NoAnswers));
    let weightless = GradePair {
        weight: 0.0,
        ..same
    };
    let refused = graded_agreement(&[weightless], KappaWeights::Linear, 0.95);
    assert_eq!(refused, Err(NoAgreement::Weight));
}

/// The root of the mean square over the grades that people gave, half a pair added to each.
#[test]
fn the_expected_error_is_that_of_the_counts() {
    let pair = |people, judge| GradePair {
        question: 0,
        people,
        judge,
        weight: 1.0,
    };
    let pairs = [pair(0, 1), pair(0, 1), pair(1, 1), pair(0, 0)];
    let found = graded_agreement(&pairs, KappaWeights::Linear, 0.95).unwrap();
    let relevance = |grade: u8| f64::from(grade.min(1));
    // People's grade 0 met it twice and grade 1 once: 2.5 of 4 are off by 1.
    assert!((found.expected_error(1, relevance) - (2.5_f64 / 4.0).sqrt()).abs() < 1e-12);
    // Grade 0 once, and grade 1 never: 0.5 of 2.
    assert!((found.expected_error(0, relevance) - 0.5).abs() < 1e-12);
}

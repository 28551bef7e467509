//! Weighted kappas against scikit-learn and statsmodels.

use evals_metrics::{GradePair, NoAgreement, graded_agreement};
use serde_json::Value;

use crate::golden_rows::{assert_close, number, rows};

/// Written by `golden/pool.py`.
const GOLDEN: &str = include_str!("../golden/pool.jsonl");

fn grades(value: &Value) -> Vec<u8> {
    serde_json::from_value(value.clone()).unwrap()
}

/// A pair for each row's grades, each of its own question.
fn pairs(row: &Value) -> Vec<GradePair> {
    let grades = grades(&row["people"])
        .into_iter()
        .zip(grades(&row["judge"]));
    let pairs = grades.enumerate();
    pairs
        .map(|(question, (people, judge))| GradePair {
            question,
            people,
            judge,
        })
        .collect()
}

#[test]
fn kappas_equal_scikit_learn_and_intervals_statsmodels() {
    let rows = rows(GOLDEN, "kappa");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let found = graded_agreement(&pairs(&row), 0.95).unwrap();
        let kappa = found.kappa.unwrap();
        assert_close(kappa.value, number(&row["kappa"]), &row);
        let interval = kappa.interval.unwrap();
        assert_close(interval.low, number(&row["interval"][0]), &row);
        assert_close(interval.high, number(&row["interval"][1]), &row);
    }
}

/// Five pairs of each of eight questions. In half of the questions the judge is right, and in the others it is wrong.
#[test]
fn pairs_of_a_question_are_not_independent() {
    let pair = |question: usize, of: usize| GradePair {
        question: question / of,
        people: u8::try_from(question % 2).unwrap(),
        judge: u8::try_from((question % 2 + question / 5 % 2) % 2).unwrap(),
    };
    let width = |of: usize| {
        let pairs: Vec<GradePair> = (0..40).map(|index| pair(index, of)).collect();
        let found = graded_agreement(&pairs, 0.95).unwrap();
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
    };
    let found = graded_agreement(&[same; 3], 0.95).unwrap();
    assert_eq!(found.kappa, None);
    assert_eq!((found.equal.value, found.equal.interval), (1.0, None));
    let nothing = graded_agreement(&[], 0.95);
    assert_eq!(nothing, Err(NoAgreement::NoAnswers));
}

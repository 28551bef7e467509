//! Tests of the crate against the reference tools and hand-computed values.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails, in the functions that tests share too"
)]

mod agreement;
mod cascade;
mod directions;
mod fusion;
mod fuzz;
mod golden;
mod golden_calibration;
mod golden_rows;
mod golden_statistics;
mod graded;
mod interpolated_precision;
mod measures;
mod notation;
mod paired;
mod pool;
mod properties;
mod random;
mod rank_correlation;
mod ranking;
mod run_scores;
mod scoring;
mod spans;
mod statistics;
mod trec;
mod trec_eval;
mod undefined_statistics;
mod worked_examples;

use evals_metrics::{Judgements, Measure, Ranking, ScoredDocument};

fn measure(text: &str) -> Measure {
    text.parse().unwrap()
}

fn judgements(grades: &[(&str, i32)]) -> Judgements {
    grades
        .iter()
        .map(|&(id, grade)| (id.to_owned(), grade))
        .collect()
}

fn scored(id: &str, score: f32) -> ScoredDocument {
    ScoredDocument {
        id: id.to_owned(),
        score,
    }
}

/// A ranking of these documents in this order.
fn ranking(ids: &[&str]) -> Ranking {
    let scores = (0_u16..).map(|rank| -f32::from(rank));
    Ranking::new(ids.iter().zip(scores).map(|(id, score)| scored(id, score))).unwrap()
}

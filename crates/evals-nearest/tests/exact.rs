//! A pass finds what comparing each question with each row finds, to the bit.

use std::cmp::Ordering;

use evals_nearest::{Exact, Hit, Pass, margin};
use proptest::prelude::*;

/// A cosine as engines compute it: sums in 32-bit floats in one of two orders, and a distance in between.
#[derive(Clone)]
struct Cosine {
    questions: Vec<f32>,
    dimension: usize,
    backwards: bool,
}

impl Cosine {
    fn dot(&self, left: &[f32], right: &[f32]) -> f32 {
        let products = left.iter().zip(right);
        if self.backwards {
            products.rev().fold(0.0, |sum, (a, b)| sum + a * b)
        } else {
            products.fold(0.0, |sum, (a, b)| a.mul_add(*b, sum))
        }
    }
}

impl Exact for Cosine {
    fn score(&self, question: usize, vector: &[f32]) -> f32 {
        let start = question * self.dimension;
        let question = &self.questions[start..start + self.dimension];
        let lengths = [question, vector].map(|it| self.dot(it, it).sqrt());
        1.0 - (1.0 - self.dot(question, vector) / lengths[0] / lengths[1])
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        right.cmp(&left)
    }
}

fn one_by_one(exact: &Cosine, vectors: &[f32], numbers: &[Option<u32>], k: usize) -> Vec<Vec<Hit>> {
    let count = exact.questions.len() / exact.dimension;
    let of_question = |question| {
        let rows = vectors.chunks_exact(exact.dimension).zip(numbers);
        let mut hits: Vec<Hit> = rows
            .filter_map(|(vector, number)| {
                let (row, score) = ((*number)?, exact.score(question, vector));
                Some(Hit { row, score })
            })
            .filter(|hit| !hit.score.is_nan())
            .collect();
        hits.sort_by(|left, right| {
            let by_score = right.score.total_cmp(&left.score);
            by_score.then_with(|| exact.order_of_equals(left.row, right.row))
        });
        hits.truncate(k);
        hits
    };
    (0..count).map(of_question).collect()
}

/// How the rows of a test come about.
#[derive(Debug, Clone, Copy)]
enum Rows {
    /// In any direction.
    Random,
    /// The question itself, or one that differs in the last bits of a few components.
    NearlyEqual,
    /// A few vectors, over and over.
    Repeated,
    /// Of lengths from 1e-19 to 1e18.
    Lengths,
    /// Half of them zeros, whose cosine is not a number.
    Zeros,
}

fn vectors(random: &mut fastrand::Rng, way: Rows, dimension: usize, count: usize) -> Vec<f32> {
    let any = |random: &mut fastrand::Rng| -> Vec<f32> {
        (0..dimension).map(|_| random.f32() - 0.5).collect()
    };
    let bases: Vec<Vec<f32>> = (0..3).map(|_| any(random)).collect();
    let mut vectors = Vec::with_capacity(count * dimension);
    for _ in 0..count {
        let vector = match way {
            Rows::Zeros if random.bool() => vec![0.0; dimension],
            Rows::Random | Rows::Zeros => any(random),
            Rows::Repeated => bases[random.usize(..bases.len())].clone(),
            Rows::NearlyEqual => {
                let mut vector = bases[0].clone();
                for _ in 0..random.usize(..4) {
                    let component = &mut vector[random.usize(..dimension)];
                    *component = if random.bool() {
                        component.next_up()
                    } else {
                        component.next_down()
                    };
                }
                vector
            }
            Rows::Lengths => {
                let scale = 10_f32.powi(random.i32(-18..=18));
                any(random).iter().map(|value| value * scale).collect()
            }
        };
        vectors.extend(vector);
    }
    vectors
}

fn bits(found: &[Vec<Hit>]) -> Vec<Vec<(u32, u32)>> {
    let of_question = |hits: &Vec<Hit>| {
        hits.iter()
            .map(|hit| (hit.row, hit.score.to_bits()))
            .collect()
    };
    found.iter().map(of_question).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn equals_the_comparison_of_each_with_each(
        seed in any::<u64>(),
        way in prop_oneof![Just(Rows::Random), Just(Rows::NearlyEqual), Just(Rows::Repeated), Just(Rows::Lengths), Just(Rows::Zeros)],
        dimension in prop_oneof![1_usize..40, Just(64), Just(256), Just(384), Just(387)],
        questions in 1_usize..40,
        rows in 1_usize..900,
        k in 1_usize..50,
        backwards in any::<bool>(),
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let rows = vectors(&mut random, way, dimension, rows);
        let mut asked = vectors(&mut random, Rows::Random, dimension, questions);
        // Some questions are a row, so that scores crowd at 1.
        asked[..dimension].copy_from_slice(&rows[..dimension]);
        let numbers: Vec<_> = (0..).take(rows.len() / dimension)
            .map(|row| (random.u8(..10) > 0).then_some(row)).collect();
        let exact = Cosine { questions: asked.clone(), dimension, backwards };
        let mut pass = Pass::new(&asked, dimension, k, exact.clone());
        let (mut vectors, mut rest) = (rows.as_slice(), numbers.as_slice());
        while !rest.is_empty() {
            let batch = random.usize(1..=rest.len());
            pass.add(&vectors[..batch * dimension], &rest[..batch]);
            (vectors, rest) = (&vectors[batch * dimension..], &rest[batch..]);
        }
        prop_assert_eq!(pass.rows(), numbers.iter().flatten().count());
        let expected = one_by_one(&exact, &rows, &numbers, k);
        prop_assert_eq!(bits(&pass.finish()), bits(&expected));
    }

    /// The margin is not needed in full: if this fails, its derivation is wrong.
    #[test]
    fn two_computations_of_a_cosine_differ_by_less_than_the_margin(
        seed in any::<u64>(),
        dimension in prop_oneof![1_usize..40, Just(384), Just(4096)],
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let pair = vectors(&mut random, Rows::Lengths, dimension, 2);
        let (question, row) = pair.split_at(dimension);
        let wide = |left: &[f32], right: &[f32]| -> f64 {
            left.iter().zip(right).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let true_cosine = wide(question, row) / wide(question, question).sqrt() / wide(row, row).sqrt();
        for backwards in [false, true] {
            let exact = Cosine { questions: question.to_vec(), dimension, backwards };
            let lengths = exact.dot(question, question) * exact.dot(row, row);
            prop_assume!(lengths.is_normal());
            let error = (f64::from(exact.score(0, row)) - true_cosine).abs();
            prop_assert!(error < margin(dimension), "{error}");
        }
    }
}

/// Every row has the same score for every question, so that only the order of equals decides.
#[test]
fn a_tie_of_all_rows_keeps_the_first_in_order() {
    let dimension = 16;
    let rows = [0.25_f32].repeat(5_000 * dimension);
    let questions = [0.5_f32].repeat(3 * dimension);
    let exact = Cosine {
        questions: questions.clone(),
        dimension,
        backwards: false,
    };
    let mut pass = Pass::new(&questions, dimension, 4, exact);
    let numbers: Vec<_> = (0..5_000).map(Some).collect();
    pass.add(&rows, &numbers);
    for found in pass.finish() {
        let rows: Vec<u32> = found.iter().map(|hit| hit.row).collect();
        assert_eq!(rows, [4_999, 4_998, 4_997, 4_996]);
    }
}

#[test]
fn fewer_rows_than_wanted_are_all_found() {
    let questions = [1.0, 0.0, 0.0, 1.0];
    let exact = Cosine {
        questions: questions.to_vec(),
        dimension: 2,
        backwards: false,
    };
    let mut pass = Pass::new(&questions, 2, 10, exact);
    pass.add(&[1.0, 1.0, 2.0, 1.0], &[Some(3), None]);
    let found = pass.finish();
    assert!(found.iter().all(|hits| hits.len() == 1 && hits[0].row == 3));
}

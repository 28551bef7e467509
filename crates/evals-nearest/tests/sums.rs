//! Sums of many questions at once are those of each question alone, to the bit.

use std::cmp::Ordering;

use evals_nearest::{Hit, Sums};
use proptest::prelude::*;

/// Rows in which a term occurs, with its weights.
type List = Vec<(u32, f32)>;

/// A part of the rows: their numbers, and the list of each term.
struct Part {
    numbers: Vec<Option<u32>>,
    lists: Vec<List>,
}

fn order(left: u32, right: u32) -> Ordering {
    right.cmp(&left)
}

/// Lists that range from empty to one of every row. `different` is the number of different weights; few of them make ties.
fn part(random: &mut fastrand::Rng, first: u32, rows: u32, terms: usize, different: u32) -> Part {
    let number = |row| (random.u8(..20) > 0).then_some(first + row);
    let numbers = (0..rows).map(number).collect();
    let mut list = || {
        let share = [0.0, 0.001, 0.05, 0.3, 1.0][random.usize(..5)];
        let mut list = List::new();
        for row in 0..rows {
            if random.f64() < share {
                #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
                let weight = (1 + random.u32(..different)) as f32 / 7.0;
                list.push((row, weight));
            }
        }
        list
    };
    let lists = (0..terms).map(|_| list()).collect();
    Part { numbers, lists }
}

/// All rows with a term of the question, best first.
fn alone(parts: &[Part], question: &[usize]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for part in parts {
        let mut sums: Vec<Option<f32>> = vec![None; part.numbers.len()];
        for term in question {
            for (row, weight) in &part.lists[*term] {
                let sum = &mut sums[*row as usize];
                *sum = Some(sum.unwrap_or(0.0) + weight);
            }
        }
        let rows = part.numbers.iter().zip(sums);
        hits.extend(rows.filter_map(|(row, score)| {
            Some(Hit {
                row: (*row)?,
                score: score?,
            })
        }));
    }
    hits.sort_by(|left, right| {
        let by_score = right.score.total_cmp(&left.score);
        by_score.then_with(|| order(left.row, right.row))
    });
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn each_question_finds_what_it_finds_alone(
        seed in any::<u64>(),
        sizes in prop::collection::vec(prop_oneof![0..40_u32, 8_000..8_400_u32, 16_384..17_000_u32], 1..3),
        k in prop_oneof![1..5_usize, 90..110_usize, Just(30_000)],
        different in prop_oneof![Just(1_u32), Just(1_000_000)],
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (terms, mut parts, mut first) = (12, Vec::new(), 0);
        for rows in sizes {
            parts.push(part(&mut random, first, rows, terms, different));
            first += rows;
        }
        let mut question = || (0..random.usize(..9)).map(|_| random.usize(..terms)).collect();
        let questions: Vec<Vec<usize>> = (0..5).map(|_| question()).collect();
        let mut sums = Sums::new(questions.clone(), k, order);
        for part in &parts {
            sums.add(&part.numbers, part.lists.iter().map(|list| list.iter().copied()));
        }
        for (question, found) in questions.iter().zip(sums.finish()) {
            let mut expected = alone(&parts, question);
            prop_assert_eq!(found.all, expected.len() <= k);
            expected.truncate(k);
            let bits = |hits: &[Hit]| hits.iter().map(|hit| (hit.row, hit.score.to_bits())).collect::<Vec<_>>();
            prop_assert_eq!(bits(&found.hits), bits(&expected));
        }
    }
}

#[test]
#[should_panic(expected = "within the part")]
fn a_place_outside_of_its_part_is_refused() {
    let mut sums = Sums::new(vec![vec![0]], 1, order);
    sums.add(&[Some(0)], [[(1, 1.0)].into_iter()]);
}

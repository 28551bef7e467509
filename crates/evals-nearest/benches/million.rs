//! Time of one pass for many questions: `cargo bench -p evals-nearest -- [ROWS [DIMENSIONS [QUESTIONS [K]]]]`.
//!
//! Rows are seeded and generated batch by batch; only the comparison is timed. `scripts/bench-scale` shows it beside other tools.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use evals_nearest::{Exact, Pass};

const BATCH_BYTES: usize = 16 << 20;

struct Dot {
    questions: Vec<f32>,
    dimension: usize,
}

impl Exact for Dot {
    fn score(&self, question: usize, vector: &[f32]) -> f32 {
        let start = question * self.dimension;
        let question = &self.questions[start..start + self.dimension];
        let (left, right) = (question.as_chunks::<16>(), vector.as_chunks::<16>());
        let mut sums = [0.0_f32; 16];
        for (left, right) in left.0.iter().zip(right.0) {
            for lane in 0..16 {
                sums[lane] += left[lane] * right[lane];
            }
        }
        let rest: f32 = left.1.iter().zip(right.1).map(|(a, b)| a * b).sum();
        sums.iter().sum::<f32>() + rest
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        left.cmp(&right)
    }
}

fn unit_vectors(random: &mut fastrand::Rng, dimension: usize, vectors: &mut [f32]) {
    for vector in vectors.chunks_exact_mut(dimension) {
        let mut square = 0.0;
        for value in vector.iter_mut() {
            *value = random.f32() + random.f32() + random.f32() - 1.5;
            square += *value * *value;
        }
        let inverse = square.sqrt().recip();
        for value in vector.iter_mut() {
            *value *= inverse;
        }
    }
}

fn main() {
    let numbers = std::env::args().filter_map(|argument| argument.parse::<usize>().ok());
    let mut numbers = numbers.fuse();
    let mut number = |usual| numbers.next().unwrap_or(usual);
    let (rows, dimension) = (number(1_000_000), number(384));
    let (count, k) = (number(1_000), number(100));
    let mut random = fastrand::Rng::with_seed(7);
    let mut questions = vec![0.0; count * dimension];
    unit_vectors(&mut random, dimension, &mut questions);
    let exact = Dot {
        questions: questions.clone(),
        dimension,
    };
    let mut pass = Pass::new(&questions, dimension, k, exact);
    let batch = BATCH_BYTES / size_of::<f32>() / dimension;
    let mut vectors = vec![0.0; batch * dimension];
    let (mut spent, mut done) = (Duration::ZERO, 0);
    while done < rows {
        let now = batch.min(rows - done);
        let vectors = &mut vectors[..now * dimension];
        unit_vectors(&mut random, dimension, vectors);
        let names: Vec<_> = (done..done + now)
            .map(|row| u32::try_from(row).ok())
            .collect();
        let started = Instant::now();
        pass.add(vectors, &names);
        spent += started.elapsed();
        done += now;
    }
    let started = Instant::now();
    let best = pass.finish();
    spent += started.elapsed();
    assert!(best.iter().all(|best| best.len() == k.min(rows)));
    let seconds = spent.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "an estimate of arithmetic")]
    let operations = 2.0 * rows as f64 * dimension as f64 * count as f64;
    #[expect(clippy::print_stdout, reason = "the result of a benchmark")]
    {
        println!(
            "{count} questions, {rows} vectors of {dimension} dimensions, k {k}: {seconds:.2} s, {:.0} GFLOP/s",
            operations / seconds / 1e9
        );
    }
}

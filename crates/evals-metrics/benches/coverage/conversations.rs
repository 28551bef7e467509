//! Two runs over conversations that neither is better at, compared by conversation and by turn.

use evals_metrics::{PairedTest, Scale};

use crate::random::Random;
use crate::table::{Share, Table};

const TESTS: [&str; 2] = ["by conversation", "by turn"];
/// The numbers of conversations, which have 1 to 9 turns.
const SIZES: [usize; 3] = [20, 60, 200];
const EFFECTS: [(&str, f64); 4] = [("1", 1.0), ("1.5", 1.5), ("2", 2.0), ("3", 3.0)];
/// How often a verdict changes in each direction.
const CHANGES: f64 = 0.1;

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let header = ["design effect", "test", "20 conversations", "60", "200"];
    let mut table = Table::new(
        "5 % tests of two runs over conversations that report a change where there is none",
        &header,
    );
    for (seed, (name, effect)) in (80..).zip(EFFECTS) {
        let mut rows = TESTS.map(|test| vec![name.to_owned(), test.to_owned()]);
        for conversations in SIZES {
            let mut random = Random::seeded(seed);
            let mut shares = [Share::default(); TESTS.len()];
            for _ in 0..trials {
                let (pairs, clusters) = draw(conversations, effect, &mut random);
                for (share, clusters) in shares.iter_mut().zip([Some(clusters.as_slice()), None]) {
                    let found = PairedTest::default().infer(&pairs, clusters, Scale::Share);
                    share.add(found.test.ok().map(|test| test.p_value <= 0.05));
                }
            }
            for (row, share) in rows.iter_mut().zip(&shares) {
                row.push(share.percent());
            }
        }
        table.rows.extend(rows);
    }
    vec![table]
}

/// The verdicts of both runs on each turn, and its conversation. A turn changes with its conversation as often as the design effect of the
/// mean change asks for: of sizes 1 to 9, equally often, it is 1 + 16/3 of the correlation.
fn draw(conversations: usize, effect: f64, random: &mut Random) -> (Vec<(f64, f64)>, Vec<usize>) {
    let correlation = (effect - 1.0) * 3.0 / 16.0;
    let (mut pairs, mut clusters) = (Vec::new(), Vec::new());
    for conversation in 0..conversations {
        let common = verdicts(random);
        let place = 9.0 * random.uniform();
        let turns = (1..9).find(|turns| place < f64::from(*turns));
        for _ in 0..turns.unwrap_or(9) {
            let is_common = random.uniform() < correlation.sqrt();
            pairs.push(if is_common { common } else { verdicts(random) });
            clusters.push(conversation);
        }
    }
    (pairs, clusters)
}

fn verdicts(random: &mut Random) -> (f64, f64) {
    match random.uniform() {
        u if u < CHANGES => (0.0, 1.0),
        u if u < 2.0 * CHANGES => (1.0, 0.0),
        u if u < 0.7 => (1.0, 1.0),
        _ => (0.0, 0.0),
    }
}

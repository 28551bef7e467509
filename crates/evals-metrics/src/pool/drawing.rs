//! The order in which people judge, as a random sample that may stop anywhere.

use crate::random::Xoshiro256PlusPlus;

/// Orders units by random numbers that belong to their names, as places in the list of names.
///
/// The first n are a random sample for every n: each unit is among them with the same probability n / N. They stay the same when more are
/// judged, and the order of the others stays the same when units join.
///
/// Source: Ohlsson, "Coordination of Samples Using Permanent Random Numbers", in *Business Survey Methods* (1995).
///
/// ```
/// use evals_metrics::drawn_order;
///
/// let first = drawn_order(["q1", "q2", "q3", "q4"], 7)[0];
/// assert!(first < 4);
/// ```
pub fn drawn_order<'u>(names: impl IntoIterator<Item = &'u str>, seed: u64) -> Vec<usize> {
    let numbers = names.into_iter().map(|name| permanent_number(name, seed));
    let numbers: Vec<f64> = numbers.collect();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    order
}

/// A random number from 0 to 1 that belongs to a name: the first of a stream that is seeded by FNV-1a of the name.
pub fn permanent_number(name: &str, seed: u64) -> f64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let offset = Xoshiro256PlusPlus::seeded(seed).next();
    Xoshiro256PlusPlus::seeded(hash ^ offset).share()
}

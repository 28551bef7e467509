//! Which questions people should review.

use std::collections::BTreeMap;

use crate::mix::share_out;
use crate::{Item, Kind};
use evals_metrics::{as_f64, permanent_number};

/// Draws `count` questions, from each kind about in proportion to its size and at least one, in the order of the set. A larger sample with the
/// same seed contains the smaller one, because each question has a random number of its own.
pub fn sample(items: &[Item], count: usize, seed: u64) -> Vec<&Item> {
    let mut kinds: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        kinds.entry(item.kind).or_default().push(place);
    }
    let weights: Vec<f64> = kinds.values().map(|it| as_f64(it.len())).collect();
    // No kind gets more places than it has questions: until all have that many, one that has fewer has the largest claim.
    let sizes = share_out(&weights, vec![1; kinds.len()], count.min(items.len()));
    let mut drawn: Vec<usize> = Vec::new();
    for (mut places, size) in kinds.into_values().zip(sizes) {
        places.sort_by(|one, other| {
            let number = |place: &usize| permanent_number(&items[*place].id, seed);
            number(one).total_cmp(&number(other))
        });
        drawn.extend(&places[..size]);
    }
    drawn.sort_unstable();
    drawn.into_iter().map(|place| &items[place]).collect()
}

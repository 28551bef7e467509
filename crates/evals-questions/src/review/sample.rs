//! Which questions people should review.

use std::collections::BTreeMap;

use evals_metrics::{Drawing, as_f64};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Item, Kind};

/// A [sample](sample()) that was drawn for review. The record of a set holds the last one under `sample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnSample {
    /// How many questions it has, unless the set has fewer.
    pub count: usize,
    /// The seed of the drawing.
    pub seed: u64,
}

impl DrawnSample {
    /// The sample that a record names.
    pub fn of(record: &Value) -> Option<Self> {
        Self::deserialize(record.get("sample")?).ok()
    }
}

/// Draws `count` questions, from each kind about in proportion to its size and at least one, in the order of the set. A larger sample with the
/// same seed contains the smaller one.
///
/// Within a kind each question has a random number of its own: see [`Drawing`]. Places go to kinds one by one, to the one with the
/// largest N / (2n + 1) for a kind of N questions that has n places, after one place for each kind. This is the method of Webster and
/// Sainte-Laguë, which takes no place back when there are more of them: Balinski and Young, *Fair Representation* (1982).
pub fn sample(items: &[Item], count: usize, seed: u64) -> Vec<&Item> {
    let mut kinds: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        kinds.entry(item.kind).or_default().push(place);
    }
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(kinds.len());
    for places in kinds.into_values() {
        let units = places.iter().map(|place| (items[*place].id.as_str(), 1.0));
        let drawing = Drawing::new(units, seed).expect("a kind has a question, and 1 is a size");
        orders.push(drawing.order().iter().map(|unit| places[*unit]).collect());
    }
    let mut sizes: Vec<usize> = orders.iter().map(|_| 1).collect();
    for _ in orders.len()..count.min(items.len()) {
        let claim = |kind: usize| as_f64(orders[kind].len()) / as_f64(2 * sizes[kind] + 1);
        let open = (0..orders.len()).filter(|kind| sizes[*kind] < orders[*kind].len());
        // Of equal claims the first kind's.
        let next = open
            .rev()
            .max_by(|one, other| claim(*one).total_cmp(&claim(*other)));
        let Some(next) = next else { break };
        sizes[next] += 1;
    }
    let mut drawn: Vec<usize> = Vec::new();
    for (order, size) in orders.iter().zip(sizes) {
        drawn.extend(&order[..size]);
    }
    drawn.sort_unstable();
    drawn.into_iter().map(|place| &items[place]).collect()
}

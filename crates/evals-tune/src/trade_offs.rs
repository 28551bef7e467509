//! The candidates that trade quality for latency and cost.

use crate::Figure;
use crate::race::{OWN, Race};

/// What a candidate has to offer; lower is better in all of it. Infinite where nothing was measured.
type Offer = [f64; 3];

/// The candidates on the Pareto front of gain, a figure of latency, and cost, best gain first.
pub(crate) fn of(race: &Race, latency: Figure) -> Vec<usize> {
    let offers: Vec<(usize, Offer)> = (0..race.candidates.len())
        .filter(|it| race.is_sound(*it) && 2 * race.asked(*it) >= race.questions())
        .filter_map(|it| {
            let gain = race.gain(it, OWN, race.questions())?;
            let figure = |figure| race.answers[it].figure(figure).unwrap_or(f64::INFINITY);
            let beside = [latency, Figure::CostPerQuestion].map(figure);
            Some((it, [-gain, beside[0], beside[1]]))
        })
        .collect();
    let is_beaten = |offer: &Offer| offers.iter().any(|(_, other)| beats(other, offer));
    let mut front: Vec<&(usize, Offer)> = offers.iter().filter(|it| !is_beaten(&it.1)).collect();
    front.sort_by(|(_, one), (_, other)| one[0].total_cmp(&other[0]));
    front.into_iter().map(|(number, _)| *number).collect()
}

/// Whether an offer is as good in everything, and better in something.
fn beats(one: &Offer, other: &Offer) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().all(|(one, other)| one <= other) && pairs().any(|(one, other)| one < other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_beats_another_one_that_is_nowhere_better() {
        let none = f64::INFINITY;
        assert!(beats(&[-0.1, 1.0, 2.0], &[-0.1, 1.0, 3.0]));
        assert!(!beats(&[-0.1, 1.0, 2.0], &[-0.1, 1.0, 2.0]));
        assert!(!beats(&[-0.2, 1.5, 2.0], &[-0.1, 1.0, 3.0]));
        assert!(!beats(&[-0.2, none, none], &[-0.1, 1.0, 3.0]));
        assert!(beats(&[-0.2, none, none], &[-0.1, none, none]));
    }
}

//! Choices that trade a price for quality: the Pareto front, and the cheapest choice that is good enough.

/// A choice with a price (lower is better) and a quality (higher is better), such as an index with its latency and recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PricedChoice {
    /// The price, in any unit.
    pub price: f64,
    /// The quality, in any unit.
    pub quality: f64,
}

impl PricedChoice {
    fn beats(self, other: Self) -> bool {
        let is_as_good = self.price <= other.price && self.quality >= other.quality;
        is_as_good && (self.price < other.price || self.quality > other.quality)
    }
}

/// The positions of the choices on the Pareto front: no other choice has at most their price and at least their quality, and is better in
/// one of them. Cheapest first; equal choices are all on the front, in their order. A choice with a price or quality that is not a number
/// is not on it.
///
/// ```
/// use evals_metrics::{PricedChoice, pareto_front};
///
/// let choice = |price, quality| PricedChoice { price, quality };
/// assert_eq!(pareto_front(&[choice(9.0, 1.0), choice(5.0, 0.5), choice(1.0, 0.7)]), [2, 0]);
/// ```
pub fn pareto_front(choices: &[PricedChoice]) -> Vec<usize> {
    let mut front: Vec<usize> = (0..choices.len())
        .filter(|position| {
            let choice = choices[*position];
            let is_number = !choice.price.is_nan() && !choice.quality.is_nan();
            is_number && !choices.iter().any(|other| other.beats(choice))
        })
        .collect();
    front.sort_by(|left, right| choices[*left].price.total_cmp(&choices[*right].price));
    front
}

/// The position of the choice with the lowest price among those with at least this quality. Among choices with the same price, the one with
/// the highest quality, and then the first. `None` if no choice is good enough.
///
/// ```
/// use evals_metrics::{PricedChoice, cheapest};
///
/// let choice = |price, quality| PricedChoice { price, quality };
/// let choices = [choice(9.0, 1.0), choice(4.0, 0.99), choice(1.0, 0.7)];
/// assert_eq!(cheapest(&choices, 0.99), Some(1));
/// assert_eq!(cheapest(&choices[1..], 0.995), None);
/// ```
pub fn cheapest(choices: &[PricedChoice], least_quality: f64) -> Option<usize> {
    let good = choices.iter().enumerate();
    let good = good.filter(|(_, it)| it.quality >= least_quality && !it.price.is_nan());
    let best = good.min_by(|(_, left), (_, right)| {
        let by_price = left.price.total_cmp(&right.price);
        by_price.then_with(|| right.quality.total_cmp(&left.quality))
    });
    best.map(|(position, _)| position)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices from their prices and qualities.
    fn choices<const N: usize>(values: [(f64, f64); N]) -> [PricedChoice; N] {
        values.map(|(price, quality)| PricedChoice { price, quality })
    }

    #[test]
    fn the_front_holds_the_choices_that_none_beats() {
        let choices = choices([
            (0.9, 0.8),
            (0.5, 0.5),
            (0.1, 0.6),
            (0.1, 0.55),
            (0.1, 0.6),
            (f64::NAN, 1.0),
            (0.0, f64::NAN),
        ]);
        assert_eq!(pareto_front(&choices), [2, 4, 0]);
        assert_eq!(pareto_front(&[]), Vec::<usize>::new());
    }

    #[test]
    fn the_cheapest_is_the_better_one_of_equal_prices() {
        let choices = choices([
            (2.0, 0.99),
            (1.0, 0.99),
            (1.0, 1.0),
            (1.0, 1.0),
            (0.5, 0.989_999),
            (f64::NAN, 1.0),
            (0.1, f64::NAN),
        ]);
        assert_eq!(cheapest(&choices, 0.99), Some(2));
        assert_eq!(cheapest(&choices, 1.1), None);
    }
}

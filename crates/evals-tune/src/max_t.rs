//! What the best of many candidates shows by chance alone: the distribution of the largest statistic under random signs.

use evals_metrics::{ROUNDING, Xoshiro256PlusPlus, arithmetic_mean, as_f64, p_value_of_draws};

/// Fewer clusters say nothing about how candidates scatter.
const LEAST_CLUSTERS: usize = 8;

/// The sum of gains in each cluster, with how many there are.
pub(crate) type Sums = Vec<(f64, f64)>;

/// The gains of candidates over own settings, added up by cluster.
///
/// Candidates that left the race have values for its first questions alone. Their statistics are less correlated with the others than if they
/// had all, which makes the largest one larger, and the test conservative.
#[derive(Debug)]
pub(crate) struct SignFlips {
    /// For each cluster, the sum of gains of each column: those with the most clusters first, so that a row ends where all others are 0.
    rows: Vec<Vec<f64>>,
    columns: usize,
}

impl SignFlips {
    /// Takes the sums of each candidate.
    pub(crate) fn new(mut columns: Vec<Sums>) -> Self {
        columns.retain(|column| !column.is_empty());
        columns.sort_by_key(|column| std::cmp::Reverse(column.len()));
        let clusters = columns.first().map_or(0, Vec::len);
        let row = |place| {
            let cells = columns.iter().map_while(|column| column.get(place));
            cells.map(|(sum, _)| *sum).collect()
        };
        Self {
            rows: (0..clusters).map(row).collect(),
            columns: columns.len(),
        }
    }

    /// The largest statistic of each of so many random choices of signs, ascending. A cluster has one sign for all candidates, which keeps how
    /// they hang together. No candidate is better than own settings in such a world, and each is as good as them.
    ///
    /// The statistic is [`statistic`]; its denominator is the same for all signs.
    ///
    /// Source: Westfall and Young, *Resampling-Based Multiple Testing* (1993), the single-step maxT procedure.
    pub(crate) fn largest(&self, draws: u32, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let squares = self.sums(self.rows.iter().map(|row| (1.0, row)), |value| {
            value * value
        });
        let scales: Vec<f64> = squares.into_iter().map(scale).collect();
        let mut largest: Vec<f64> = (0..draws).map(|_| self.flipped(&scales, random)).collect();
        largest.sort_unstable_by(f64::total_cmp);
        largest
    }

    /// The largest scaled sum of one random choice of signs.
    fn flipped(&self, scales: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
        let signed = self
            .rows
            .iter()
            .map(|row| ([-1.0, 1.0][random.index(2)], row));
        let sums = self.sums(signed, |value| value);
        let scaled = sums.iter().zip(scales).map(|(sum, scale)| sum * scale);
        scaled.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The sum of each column, after each row is multiplied.
    fn sums<'r>(
        &self,
        rows: impl Iterator<Item = (f64, &'r Vec<f64>)>,
        of: impl Fn(f64) -> f64,
    ) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for (factor, row) in rows {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += factor * of(*value);
            }
        }
        sums
    }
}

/// The mean gain that the best candidate shows by luck alone: if all candidates are as good as own settings, and each answers `questions`
/// questions. Computed from the clusters that every candidate answered, because it depends on the correlation of the candidates. `None` if
/// there are fewer than [`LEAST_CLUSTERS`] of them.
pub(crate) fn luck(
    columns: &[Sums],
    questions: f64,
    draws: u32,
    random: &mut Xoshiro256PlusPlus,
) -> Option<f64> {
    let measured = || columns.iter().filter(|column| !column.is_empty());
    let clusters = measured()
        .map(Vec::len)
        .min()
        .filter(|least| *least >= LEAST_CLUSTERS)?;
    // Distances from a mean are smaller than those from the truth, and a mean of n values scatters as 1 / √n.
    let wider = (as_f64(clusters) / as_f64(clusters - 1)).sqrt();
    let centred = measured().map(|column| {
        let whole = &column[..clusters];
        let (sum, n) = whole
            .iter()
            .fold((0.0, 0.0), |all, it| (all.0 + it.0, all.1 + it.1));
        let scale = wider / f64::sqrt(n * questions);
        let distance = |(of, count): &(f64, f64)| (scale * (of - count * sum / n), *count);
        whole.iter().map(distance).collect()
    });
    let flips = SignFlips::new(centred.collect());
    let scales = vec![1.0; flips.columns];
    let drawn = (0..draws).map(|_| flips.flipped(&scales, random).max(0.0));
    arithmetic_mean(&drawn.collect::<Vec<_>>())
}

/// The reciprocal of the root of a sum of squares; 0 for a column without a change.
fn scale(squares: f64) -> f64 {
    if squares > 0.0 {
        1.0 / squares.sqrt()
    } else {
        0.0
    }
}

/// The sum of values divided by the root of the sum of their squares. Student's t grows with it.
pub(crate) fn statistic(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * scale(values.iter().map(|value| value * value).sum())
}

/// The share of draws that are at least as large as what was observed; ascending draws.
pub(crate) fn p_value(observed: f64, largest: &[f64]) -> f64 {
    let threshold = observed - ROUNDING * observed.abs();
    let below = largest.partition_point(|drawn| *drawn < threshold);
    let draws = u32::try_from(largest.len()).expect("as many as were asked for");
    p_value_of_draws(largest.len() - below, draws)
}

/// Fisher's product of the p values of independent tests of one hypothesis.
///
/// Source: Fisher, *Statistical Methods for Research Workers*, 4th edition (1932), section 21.1.
///
/// Two p values have P(p q ≤ x) = x (1 - ln x).
pub(crate) fn fisher(one: f64, other: f64) -> f64 {
    let product = one * other;
    (product * (1.0 - product.ln())).min(1.0)
}

/// The sum of values in each cluster, up to the last one that has any.
pub(crate) fn by_cluster(values: impl Iterator<Item = (usize, f64)>) -> Sums {
    let mut sums = Sums::new();
    for (cluster, value) in values {
        sums.resize(sums.len().max(cluster + 1), (0.0, 0.0));
        sums[cluster].0 += value;
        sums[cluster].1 += 1.0;
    }
    sums
}

/// Sums after every single value lost `shift`.
pub(crate) fn shifted(sums: &Sums, shift: f64) -> Vec<f64> {
    sums.iter()
        .map(|(sum, count)| sum - count * shift)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row for each cluster.
    fn flips<const N: usize>(rows: &[[f64; N]]) -> SignFlips {
        SignFlips::new(columns(rows))
    }

    fn columns<const N: usize>(rows: &[[f64; N]]) -> Vec<Sums> {
        let column = |place| rows.iter().map(|row| (row[place], 1.0)).collect();
        (0..N).map(column).collect()
    }

    #[test]
    fn a_single_candidate_has_the_p_value_of_the_sign_test() {
        // Of 2^6 choices of signs, one has a sum of 6 or more, and 1 + 6 have 4 or more.
        let largest = flips(&[[0.5]; 6]).largest(40_000, &mut Xoshiro256PlusPlus::seeded(1));
        let six = p_value(statistic(&[0.5; 6]), &largest);
        let four = p_value(statistic(&[0.5, 0.5, 0.5, 0.5, 0.5, -0.5]), &largest);
        assert!((six - 1.0 / 64.0).abs() < 0.003, "{six}");
        assert!((four - 7.0 / 64.0).abs() < 0.008, "{four}");
    }

    #[test]
    fn copies_of_a_candidate_cost_nothing_and_others_do() {
        let p_value = |flips: SignFlips| {
            let largest = flips.largest(20_000, &mut Xoshiro256PlusPlus::seeded(2));
            p_value(statistic(&[0.5; 6]), &largest)
        };
        let copies = p_value(flips(&[[0.5, 0.5, 0.5]; 6]));
        assert!((copies - 1.0 / 64.0).abs() < 0.004, "{copies}");
        // The other one has its largest sum for the opposite signs.
        let opposite = p_value(flips(&[[0.5, -0.5]; 6]));
        assert!((opposite - 2.0 / 64.0).abs() < 0.006, "{opposite}");
    }

    #[test]
    fn luck_is_what_signs_alone_give_the_best() {
        // A mean of 8 values of size 1 around 0: the better of it and its opposite has a mean of E|sum| / 8 = 35 / 16 / 8, and distances from
        // a mean of 0 are widened by √(8 / 7).
        let rows: Vec<[f64; 2]> = (0..8)
            .map(|row| [[1.0, -1.0], [-1.0, 1.0]][row % 2])
            .collect();
        let random = &mut Xoshiro256PlusPlus::seeded(3);
        let found = luck(&columns(&rows), 8.0, 40_000, random).unwrap();
        let expected = 35.0 / 16.0 / 8.0 * (8.0_f64 / 7.0).sqrt();
        assert!(
            (found - expected).abs() < 0.003,
            "{found} instead of {expected}"
        );
        let halved = luck(&columns(&rows), 32.0, 40_000, random).unwrap();
        assert!(
            (halved - expected / 2.0).abs() < 0.003,
            "four times the questions"
        );
        assert_eq!(luck(&columns(&rows[..7]), 8.0, 10, random), None);
    }

    #[test]
    fn fishers_product_by_hand() {
        // -2 ln(0.05 · 0.05) = 11.98, whose upper tail with four degrees of freedom is 0.0175.
        assert!((fisher(0.05, 0.05) - 0.017_478_661).abs() < 1e-8);
        assert!((fisher(1.0, 1.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn sums_lose_a_shift_for_each_value() {
        let sums = by_cluster([(2, 1.0), (0, 0.5), (2, 2.0)].into_iter());
        assert_eq!(sums, [(0.5, 1.0), (0.0, 0.0), (3.0, 2.0)]);
        assert_eq!(shifted(&sums, 0.25), [0.25, 0.0, 2.5]);
    }
}

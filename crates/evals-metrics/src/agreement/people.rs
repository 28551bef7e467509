//! How far two people agree with each other.

use super::kappa::NO_VARIANCE;
use super::{Agreement, Confusion, Estimate, NoAgreement, VerdictCounts};
use crate::arithmetic::{as_f64, share};
use crate::distribution::upper_quantile;
use crate::{Interval, IntervalMethod};

/// Agreement of two people who labelled the same answers. Neither is taken to be right.
///
/// In a [`Confusion`] of theirs, one person has the place of people and the other that of the judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeopleAgreement {
    /// The number of answers that both labelled.
    pub n: usize,
    /// The share of answers that both gave the same verdict.
    pub agreement: Result<Estimate, NoAgreement>,
    /// Cohen's kappa: agreement beyond chance.
    pub kappa: Result<Estimate, NoAgreement>,
}

impl PeopleAgreement {
    /// Agreement in answers that are all of a run or a random sample of it. The intervals are those of [`Agreement::of_sample`].
    pub fn of_sample(labels: &Confusion, level: f64) -> Self {
        Agreement::of_sample(labels, level).into()
    }

    /// Agreement over a run whose judge passed and failed `run` answers, from answers drawn separately among the `passed` and the
    /// `failed` ones.
    ///
    /// With the share `W_h` of the run's answers to which the judge gave the verdict h, and the shares `p_hij` of the labelled
    /// answers among them to which the two people gave the verdicts i and j:
    ///
    /// ```text
    /// p_ij      = Σ W_h p_hij
    /// agreement = p_o = Σ p_ii
    /// κ         = (p_o - p_e) / (1 - p_e),   p_e = Σ p_i. p_.i
    /// ```
    ///
    /// Each answer thus counts with the inverse of the realised probability that it was labelled. If the judge gave one verdict
    /// only, this is [`of_sample`](Self::of_sample).
    ///
    /// The interval of the agreement propagates the Wilson intervals of both strata, as in [`Agreement::stratified`]. That of κ is
    /// asymptotic: the delta method with the variance of a stratified sample. There is none if all labels of a stratum are equal,
    /// because that stratum would count as known exactly.
    pub fn stratified(
        passed: &Confusion,
        failed: &Confusion,
        run: VerdictCounts,
        level: f64,
    ) -> Self {
        if run.passes == 0 || run.fails == 0 {
            return Self::of_sample(&sum(passed, failed), level);
        }
        // The agreement is that of a judge whose pass stands for "both say the same" in one stratum, and its fail in the other.
        let same = Confusion {
            true_passes: same(passed),
            false_passes: passed.n() - same(passed),
            false_fails: failed.n() - same(failed),
            true_fails: same(failed),
        };
        let found = Agreement::stratified(&same, run, level);
        let answers = run.passes + run.fails;
        let strata = [
            (share(run.passes, answers), passed),
            (share(run.fails, answers), failed),
        ];
        Self {
            n: found.n,
            agreement: found.agreement,
            kappa: found.agreement.and_then(|_| kappa(strata, level)),
        }
    }
}

/// Cohen's kappa over strata, each with its weight and at least one answer.
fn kappa(strata: [(f64, &Confusion); 2], level: f64) -> Result<Estimate, NoAgreement> {
    let both = sum(strata[0].1, strata[1].1);
    if both.true_passes == both.n() || both.true_fails == both.n() {
        return Err(NoAgreement::OneVerdict);
    }
    let cell = |i: usize, j: usize| -> f64 {
        let parts = strata.iter().map(|(weight, of)| weight * of.shares()[i][j]);
        parts.sum()
    };
    let one = [cell(0, 0) + cell(0, 1), cell(1, 0) + cell(1, 1)];
    let other = [cell(0, 0) + cell(1, 0), cell(0, 1) + cell(1, 1)];
    let observed = cell(0, 0) + cell(1, 1);
    let expected = one[0] * other[0] + one[1] * other[1];
    let value = (observed - expected) / (1.0 - expected);

    // The derivative of kappa by the share of a cell.
    let pull = |i: usize, j: usize| {
        let same = if i == j { 1.0 - expected } else { 0.0 };
        (same - (1.0 - observed) * (other[i] + one[j])) / (1.0 - expected).powi(2)
    };
    let variance = |(weight, of): &(f64, &Confusion)| {
        let moment = |power: i32| -> f64 {
            let cells = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
            cells
                .map(|(i, j)| of.shares()[i][j] * pull(i, j).powi(power))
                .sum()
        };
        let spread = moment(2) - moment(1).powi(2);
        (spread > NO_VARIANCE).then(|| weight * weight * spread / as_f64(of.n()))
    };
    let variance = variance(&strata[0]).zip(variance(&strata[1]));
    Ok(Estimate {
        value,
        n: both.n(),
        interval: variance.map(|(passed, failed)| {
            let reach = upper_quantile((1.0 - level) / 2.0) * (passed + failed).sqrt();
            Interval {
                low: (value - reach).max(-1.0),
                high: (value + reach).min(1.0),
                level,
                method: IntervalMethod::Asymptotic,
            }
        }),
    })
}

fn same(labels: &Confusion) -> usize {
    labels.true_passes + labels.true_fails
}

fn sum(one: &Confusion, other: &Confusion) -> Confusion {
    Confusion {
        true_passes: one.true_passes + other.true_passes,
        false_passes: one.false_passes + other.false_passes,
        false_fails: one.false_fails + other.false_fails,
        true_fails: one.true_fails + other.true_fails,
    }
}

impl From<Agreement> for PeopleAgreement {
    fn from(agreement: Agreement) -> Self {
        Self {
            n: agreement.n,
            agreement: agreement.agreement,
            kappa: agreement.kappa,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xoshiro256PlusPlus;

    /// Of the intervals of repeated samples, close to 95 % contain the true kappa.
    #[test]
    fn intervals_of_kappa_cover_the_truth() {
        // The cells of either stratum of the run, in percent, and how many answers of each are labelled.
        let strata = [[80, 6, 4, 10], [10, 8, 12, 70]];
        let run = VerdictCounts {
            passes: 900,
            fails: 100,
        };
        let whole = |[tt, ft, tf, ff]: [usize; 4], times: usize| Confusion {
            true_passes: tt * times,
            false_passes: ft * times,
            false_fails: tf * times,
            true_fails: ff * times,
        };
        let truth = Agreement::of_sample(&sum(&whole(strata[0], 9), &whole(strata[1], 1)), 0.95);
        let truth = truth.kappa.unwrap().value;
        let mut random = Xoshiro256PlusPlus::seeded(5);
        let mut draw = |cells: [usize; 4], n: usize| {
            let mut drawn = [0; 4];
            for _ in 0..n {
                let mut left = random.index_pair(100)[0];
                let cell = cells.iter().position(|&size| {
                    let is_here = left < size;
                    left = left.saturating_sub(size);
                    is_here
                });
                drawn[cell.unwrap()] += 1;
            }
            whole(drawn, 1)
        };
        let mut covered = 0;
        for _ in 0..1_000 {
            let (passed, failed) = (draw(strata[0], 100), draw(strata[1], 100));
            let found = PeopleAgreement::stratified(&passed, &failed, run, 0.95);
            let interval = found.kappa.unwrap().interval.unwrap();
            covered += usize::from(interval.low <= truth && truth <= interval.high);
        }
        assert!((925..=975).contains(&covered), "{covered} of 1000");
    }
}

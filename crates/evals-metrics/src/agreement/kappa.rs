//! Cohen's kappa of two raters with two verdicts, and its interval.

use super::{Confusion, Estimate, NoAgreement};
use crate::arithmetic::as_f64;
use crate::distribution::upper_quantile;
use crate::{Interval, IntervalMethod};

/// Below this the variance is 0 but for rounding.
pub(super) const NO_VARIANCE: f64 = 1e-15;

/// Cohen's kappa of answers drawn at random: the agreement beyond chance, as a share of what is possible beyond chance.
///
/// ```text
/// κ = (p_o - p_e) / (1 - p_e),   p_e = Σ p_i. p_.i
/// ```
///
/// where `p_o` is the share of answers with equal verdicts, and `p_e` the share that two raters would agree on who give the
/// same numbers of passes at random.
///
/// Undefined without answers, and if both raters gave every answer the same verdict (`p_e` = 1). The interval is asymptotic,
/// with the standard error for κ other than 0, cut to -1 and 1. There is none where that error is 0: all verdicts agree, or
/// one rater gave a single verdict, which makes κ 0 whatever the other rater does.
///
/// Sources: Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and Psychological Measurement 20 (1960);
/// Fleiss, Cohen and Everitt, "Large Sample Standard Errors of Kappa and Weighted Kappa", Psychological Bulletin 72 (1969),
/// equation 13.
pub(super) fn cohens_kappa(confusion: &Confusion, level: f64) -> Result<Estimate, NoAgreement> {
    let n = confusion.n();
    if n == 0 {
        return Err(NoAgreement::NoAnswers);
    }
    if confusion.true_passes == n || confusion.true_fails == n {
        return Err(NoAgreement::OneVerdict);
    }
    let p = confusion.shares();
    let people = [p[0][0] + p[0][1], p[1][0] + p[1][1]];
    let judge = [p[0][0] + p[1][0], p[0][1] + p[1][1]];
    let observed = p[0][0] + p[1][1];
    let expected = people[0] * judge[0] + people[1] * judge[1];
    let value = (observed - expected) / (1.0 - expected);

    let on_diagonal: f64 = (0..2)
        .map(|i| {
            let pull = (1.0 - expected) - (people[i] + judge[i]) * (1.0 - observed);
            p[i][i] * pull * pull
        })
        .sum();
    let beside: f64 = [(0, 1), (1, 0)]
        .into_iter()
        .map(|(i, j)| p[i][j] * (judge[i] + people[j]).powi(2))
        .sum();
    let shift = observed * expected - 2.0 * expected + observed;
    let variance = on_diagonal + (1.0 - observed).powi(2) * beside - shift * shift;
    let interval = (variance > NO_VARIANCE).then(|| {
        let error = (variance / as_f64(n)).sqrt() / (1.0 - expected).powi(2);
        let reach = upper_quantile((1.0 - level) / 2.0) * error;
        Interval {
            low: (value - reach).max(-1.0),
            high: (value + reach).min(1.0),
            level,
            method: IntervalMethod::Asymptotic,
        }
    });
    Ok(Estimate { value, n, interval })
}

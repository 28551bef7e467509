//! Gamma functions without the loss of digits that logarithms of large factorials bring.

use std::f64::consts::PI;

use crate::arithmetic::as_f64;

/// From here on, eight terms of Stirling's series have every digit.
const ASYMPTOTIC: f64 = 10.0;

/// The coefficients of Stirling's series, `B_2k / (2k (2k - 1))`.
const SERIES: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1_260.0,
    -1.0 / 1_680.0,
    1.0 / 1_188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3_617.0 / 122_400.0,
];

/// The error of Stirling's formula: `ln Γ(z) - ((z - 1/2) ln z - z + ln √2π)`, for z above 0.
///
/// Source: Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000).
pub(super) fn stirling_error(z: f64) -> f64 {
    let mut shifted = z;
    let mut error = 0.0;
    while shifted < ASYMPTOTIC {
        error += (shifted + 0.5) * (1.0 / shifted).ln_1p() - 1.0;
        shifted += 1.0;
    }
    let square = 1.0 / (shifted * shifted);
    let series = SERIES
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * square + term);
    error + series / shifted
}

/// The deviance `x ln(x / mean) + mean - x`, without the cancellation that x near the mean brings.
///
/// Source: Loader (2000).
pub(super) fn deviance(x: f64, mean: f64) -> f64 {
    let distance = x - mean;
    if distance.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - distance;
    }
    let ratio = distance / (x + mean);
    let mut sum = distance * ratio;
    let mut term = 2.0 * x * ratio;
    for odd in (3..).step_by(2) {
        term *= ratio * ratio;
        let next = sum + term / f64::from(odd);
        if next.to_bits() == sum.to_bits() {
            break;
        }
        sum = next;
    }
    sum
}

/// The probability of `k` events of a Poisson distribution.
///
/// Source: Loader (2000).
pub(super) fn poisson(k: f64, mean: f64) -> f64 {
    if k < 0.5 {
        return (-mean).exp();
    }
    (-stirling_error(k) - deviance(k, mean)).exp() / (2.0 * PI * k).sqrt()
}

/// The probability of `k` passes in `n` trials.
///
/// Source: Loader (2000).
pub(crate) fn binomial(k: usize, n: usize, probability: f64) -> f64 {
    let failing = 1.0 - probability;
    let (passes, fails, trials) = (as_f64(k), as_f64(n - k), as_f64(n));
    if k == 0 {
        return (trials * (-probability).ln_1p()).exp();
    }
    if k == n {
        return probability.powf(trials);
    }
    if failing <= 0.0 {
        return 0.0;
    }
    let exponent = stirling_error(trials)
        - stirling_error(passes)
        - stirling_error(fails)
        - deviance(passes, trials * probability)
        - deviance(fails, trials * failing);
    exponent.exp() * (trials / (2.0 * PI * passes * fails)).sqrt()
}

/// `Γ(z) / Γ(z + 1/2)` for z above 0.
pub(crate) fn gamma_ratio_of_half(z: f64) -> f64 {
    let exponent = 0.5 - z * (0.5 / z).ln_1p() + stirling_error(z) - stirling_error(z + 0.5);
    exponent.exp() / z.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_of_gamma() {
        // Γ(1/2) = √π, and Γ(1) = 1.
        assert!((gamma_ratio_of_half(0.5) - PI.sqrt()).abs() < 1e-14);
        assert!((gamma_ratio_of_half(1.0) - 2.0 / PI.sqrt()).abs() < 1e-14);
        // ln Γ(3) = ln 2.
        let ln_gamma = |z: f64| stirling_error(z) + (z - 0.5) * z.ln() - z + (2.0 * PI).sqrt().ln();
        assert!((ln_gamma(3.0) - 2_f64.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.25) - 1.288_022_524_698_077_6).abs() < 1e-14);
    }

    #[test]
    fn poisson_probabilities_are_factorials() {
        let expected = (-2.5_f64).exp() * 2.5_f64.powi(4) / 24.0;
        assert!((poisson(4.0, 2.5) - expected).abs() < 1e-16);
        let total: f64 = (0..60).map(|k| poisson(f64::from(k), 12.0)).sum();
        assert!((total - 1.0).abs() < 1e-14);
    }
}

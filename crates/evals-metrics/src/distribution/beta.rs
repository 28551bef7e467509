//! The beta distribution.

use std::f64::consts::PI;

use super::root::root;
use super::stirling::{deviance, stirling_error};

/// The continued fraction converges in about as many steps as the root of the larger parameter.
const STEPS: u32 = 100_000;
/// Keeps denominators of the continued fraction from 0.
const TINY: f64 = 1e-300;

/// A point of the unit interval with its distance from 1, so that neither loses digits near an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) x: f64,
    pub(crate) complement: f64,
}

impl From<f64> for Share {
    fn from(x: f64) -> Self {
        Self {
            x,
            complement: 1.0 - x,
        }
    }
}

/// The regularised incomplete beta function: the probability that a beta variable is at most x. `a` and `b` are above 0.
///
/// Source: the continued fraction 8.17.22 of the NIST Digital Library of Mathematical Functions, evaluated by Lentz's method.
pub(crate) fn regularized_beta(at: impl Into<Share>, a: f64, b: f64) -> f64 {
    let at = at.into();
    if at.x <= 0.0 {
        0.0
    } else if at.complement <= 0.0 {
        1.0
    } else if at.x < (a + 1.0) / (a + b + 2.0) {
        beta_power(at, a, b) / a * fraction(at.x, a, b)
    } else {
        let mirrored = Share {
            x: at.complement,
            complement: at.x,
        };
        1.0 - beta_power(mirrored, b, a) / b * fraction(mirrored.x, b, a)
    }
}

/// `x^a (1 - x)^b / B(a, b)`, as a binomial probability of Loader's kind.
pub(super) fn beta_power(at: Share, a: f64, b: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * at.x)
        - deviance(b, n * at.complement);
    (a * (b / n) / (2.0 * PI)).sqrt() * exponent.exp()
}

#[expect(
    clippy::many_single_char_names,
    reason = "the names of the formula and of Lentz's method"
)]
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let bounded = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / bounded(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / bounded(1.0 + even * d);
        c = bounded(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / bounded(1.0 + odd * d);
        c = bounded(1.0 + odd / c);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// The point that a beta variable is below with a probability, which is between 0 and 1.
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    root(|x| regularized_beta(x, a, b) - probability, 0.0, 1.0)
}

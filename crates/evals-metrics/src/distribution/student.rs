//! Student's t distribution.

use super::beta::{Share, regularized_beta};
use super::normal::upper_quantile;
use super::root::root;

/// The probability that a t variable with `degrees` of freedom is above t.
pub(crate) fn student_upper_tail(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    let at = Share {
        x: degrees / (degrees + square),
        complement: if square.is_finite() {
            square / (degrees + square)
        } else {
            1.0
        },
    };
    let tail = regularized_beta(at, degrees / 2.0, 0.5) / 2.0;
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// The value that a t variable exceeds with the probability `tail`, which is above 0 and at most 0.5.
pub(crate) fn student_upper_quantile(tail: f64, degrees: f64) -> f64 {
    if tail >= 0.5 {
        return 0.0;
    }
    let mut high = upper_quantile(tail) + 1.0;
    while student_upper_tail(high, degrees) > tail {
        high *= 2.0;
    }
    root(
        |t| student_upper_tail(t, degrees).ln() - tail.ln(),
        0.0,
        high,
    )
}

//! Roots of functions of one variable.

/// Enough for any continuous function: each step of bisection halves the bracket.
const STEPS: usize = 200;

/// A root of a continuous function between `low` and `high`, where it has different signs. Accurate to about the last digit.
///
/// Source: Brent, *Algorithms for Minimization without Derivatives* (1973), chapter 4.
pub(crate) fn root(function: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut previous, mut best) = (low, high);
    let (mut at_previous, mut at_best) = (function(previous), function(best));
    let (mut contrary, mut at_contrary) = (previous, at_previous);
    let mut step = best - previous;
    let mut step_before = step;
    for _ in 0..STEPS {
        if (at_best > 0.0) == (at_contrary > 0.0) {
            (contrary, at_contrary) = (previous, at_previous);
            step = best - previous;
            step_before = step;
        }
        if at_contrary.abs() < at_best.abs() {
            (previous, at_previous) = (best, at_best);
            (best, at_best) = (contrary, at_contrary);
            (contrary, at_contrary) = (previous, at_previous);
        }
        let tolerance = 2.0 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE;
        let half = (contrary - best) / 2.0;
        if half.abs() <= tolerance || at_best == 0.0 {
            break;
        }
        let is_shrinking = step_before.abs() >= tolerance && at_previous.abs() > at_best.abs();
        let interpolated = is_shrinking
            .then(|| {
                interpolate(
                    [previous, best, contrary],
                    [at_previous, at_best, at_contrary],
                )
            })
            .filter(|(p, q)| {
                let limit = (3.0 * half * q - (tolerance * q).abs()).min((step_before * q).abs());
                2.0 * p < limit
            });
        if let Some((p, q)) = interpolated {
            step_before = step;
            step = p / q;
        } else {
            step = half;
            step_before = half;
        }
        (previous, at_previous) = (best, at_best);
        best += if step.abs() > tolerance {
            step
        } else {
            tolerance.copysign(half)
        };
        at_best = function(best);
    }
    best
}

/// The step from the best point as a quotient: inverse quadratic through three points, or the secant where two coincide. The
/// dividend is not negative.
#[expect(
    clippy::float_cmp,
    reason = "points coincide where one was copied from the other"
)]
fn interpolate(
    [previous, best, contrary]: [f64; 3],
    [at_previous, at_best, at_contrary]: [f64; 3],
) -> (f64, f64) {
    let ratio = at_best / at_previous;
    let half = (contrary - best) / 2.0;
    let (p, q) = if previous == contrary {
        (2.0 * half * ratio, 1.0 - ratio)
    } else {
        let (left, right) = (at_previous / at_contrary, at_best / at_contrary);
        (
            ratio * (2.0 * half * left * (left - right) - (best - previous) * (right - 1.0)),
            (left - 1.0) * (right - 1.0) * (ratio - 1.0),
        )
    };
    if p > 0.0 { (p, -q) } else { (-p, q) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_root(function: impl Fn(f64) -> f64, low: f64, high: f64, expected: f64) {
        let found = root(function, low, high);
        assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    }

    #[test]
    fn finds_known_roots() {
        assert_root(|x| x * x - 2.0, 0.0, 2.0, 2_f64.sqrt());
        assert_root(|x| x.exp() - 1e-9, -100.0, 100.0, 1e-9_f64.ln());
        assert_root(|x| (x - 3.0).powi(3), -10.0, 11.0, 3.0);
        assert_root(|x| if x < 0.25 { -1.0 } else { 1.0 }, 0.0, 1.0, 0.25);
        let precise = root(|x| x.cos() - x, 0.0, 1.0);
        assert!((precise - 0.739_085_133_215_160_6).abs() < 1e-15);
    }
}

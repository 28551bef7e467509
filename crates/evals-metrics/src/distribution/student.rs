//! Student's t distribution, and the noncentral one: a t statistic where there is an effect.

use super::beta::{Share, beta_power, regularized_beta};
use super::normal::{lower_tail, upper_quantile};
use super::root::root;
use super::stirling::{gamma_ratio_of_half, poisson};

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

/// Terms below this share of 1 are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// The probability that a noncentral t variable is at most t.
///
/// It is a mixture of beta probabilities, weighted by a Poisson distribution. The sum starts at the largest weight, so that it
/// does not underflow for large effects.
///
/// Sources: Lenth, "Algorithm AS 243: Cumulative Distribution Function of the Non-Central t Distribution", Applied Statistics 38
/// (1989); Benton and Krishnamoorthy, "Computing Discrete Mixtures of Continuous Distributions", Computational Statistics & Data
/// Analysis 43 (2003).
pub(crate) fn noncentral_t_cdf(t: f64, degrees: f64, noncentrality: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - noncentral_t_cdf(-t, degrees, -noncentrality);
    }
    let square = t * t;
    let at = Share {
        x: square / (degrees + square),
        complement: degrees / (degrees + square),
    };
    let mean = noncentrality * noncentrality / 2.0;
    let below = lower_tail(-noncentrality);
    if at.x <= 0.0 {
        return below;
    }
    let start = Term::at(mean.floor(), mean, at, degrees / 2.0);
    let sign = noncentrality.signum();
    let mut sum = start.value(sign);
    let mut term = start;
    while term.weight() > NEGLIGIBLE && term.even.probability > NEGLIGIBLE {
        term = term.next();
        sum += term.value(sign);
    }
    let mut term = start;
    while term.index > 0.5 && term.weight() > NEGLIGIBLE {
        term = term.previous();
        sum += term.value(sign);
    }
    (below + sum / 2.0).clamp(0.0, 1.0)
}

/// The probability that a beta variable with a first parameter `a` is at most x, and by how much it falls where `a` grows by 1.
#[derive(Debug, Clone, Copy)]
struct Beta {
    a: f64,
    probability: f64,
    fall: f64,
}

/// Two beta probabilities and their weights.
#[derive(Debug, Clone, Copy)]
struct Term {
    index: f64,
    mean: f64,
    x: f64,
    b: f64,
    even: Beta,
    odd: Beta,
    even_weight: f64,
    odd_weight: f64,
}

impl Term {
    fn at(index: f64, mean: f64, at: Share, b: f64) -> Self {
        let beta = |a: f64| Beta {
            a,
            probability: regularized_beta(at, a, b),
            fall: beta_power(at, a, b) / a,
        };
        let even_weight = poisson(index, mean);
        Self {
            index,
            mean,
            x: at.x,
            b,
            even: beta(index + 0.5),
            odd: beta(index + 1.0),
            even_weight,
            odd_weight: even_weight * mean.sqrt() * gamma_ratio_of_half(index + 1.0),
        }
    }

    fn weight(&self) -> f64 {
        self.even_weight.max(self.odd_weight)
    }

    fn value(&self, sign: f64) -> f64 {
        self.even_weight * self.even.probability + sign * self.odd_weight * self.odd.probability
    }

    fn next(mut self) -> Self {
        self.index += 1.0;
        self.even_weight *= self.mean / self.index;
        self.odd_weight *= self.mean / (self.index + 0.5);
        for beta in [&mut self.even, &mut self.odd] {
            beta.probability = (beta.probability - beta.fall).max(0.0);
            beta.fall *= self.x * (beta.a + self.b) / (beta.a + 1.0);
            beta.a += 1.0;
        }
        self
    }

    fn previous(mut self) -> Self {
        self.even_weight *= self.index / self.mean;
        self.odd_weight *= (self.index + 0.5) / self.mean;
        self.index -= 1.0;
        for beta in [&mut self.even, &mut self.odd] {
            beta.a -= 1.0;
            beta.fall *= (beta.a + 1.0) / (self.x * (beta.a + self.b));
            beta.probability = (beta.probability + beta.fall).min(1.0);
        }
        self
    }
}

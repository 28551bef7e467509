//! The mean and the standard deviation of values.

use super::NoStatistic;
use crate::arithmetic::{ROUNDING, arithmetic_mean, as_f64};

/// The mean of at least two finite values that are not all equal, and how far they spread around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) n: usize,
    pub(crate) mean: f64,
    /// The standard deviation, with n - 1 in the denominator.
    pub(crate) deviation: f64,
}

impl Moments {
    pub(crate) fn of(values: &[f64]) -> Result<Self, NoStatistic> {
        check_finite(values)?;
        let mean = arithmetic_mean(values).ok_or(NoStatistic::NoValues)?;
        if values.len() == 1 {
            return Err(NoStatistic::OneValue);
        }
        let largest = values
            .iter()
            .fold(0.0_f64, |size, value| size.max(value.abs()));
        let furthest = values
            .iter()
            .fold(0.0_f64, |reach, value| reach.max((value - mean).abs()));
        if furthest <= ROUNDING * largest {
            return Err(NoStatistic::NoSpread);
        }
        // Distances of at most 1 have squares that neither overflow nor underflow.
        let distances = values.iter().map(|value| (value - mean) / furthest);
        let squares: f64 = distances.map(|distance| distance * distance).sum();
        Ok(Self {
            n: values.len(),
            mean,
            deviation: furthest * (squares / as_f64(values.len() - 1)).sqrt(),
        })
    }

    pub(crate) fn standard_error(&self) -> f64 {
        self.deviation / as_f64(self.n).sqrt()
    }

    pub(crate) fn degrees(&self) -> f64 {
        as_f64(self.n - 1)
    }

    /// The distance of the mean from 0, in standard errors.
    pub(crate) fn t(&self) -> f64 {
        self.mean / self.standard_error()
    }
}

pub(crate) fn check_finite(values: &[f64]) -> Result<(), NoStatistic> {
    if values.is_empty() {
        Err(NoStatistic::NoValues)
    } else if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(NoStatistic::NotFinite)
    }
}

pub(crate) fn check_level(level: f64) -> Result<(), NoStatistic> {
    if level > 0.0 && level < 1.0 {
        Ok(())
    } else {
        Err(NoStatistic::Level)
    }
}

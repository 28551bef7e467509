//! Intervals and tests, as tuples for the named tuples of Python.

use std::num::NonZeroU32;

use evals_metrics::{self as metrics, Adjustment, Bootstrap, PairTest, PairedTest, Scale};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{floats, named, value_error};

/// Low, high, level and method.
type Interval = (f64, f64, f64, String);

/// The means before and after, the interval of the difference, the p value and its method, and how many values rose and fell.
type Difference = (
    f64,
    f64,
    Option<Interval>,
    Option<f64>,
    Option<String>,
    usize,
    usize,
);

/// Compares two arrays of values of the same queries.
#[pyfunction]
pub(crate) fn paired_test(
    py: Python<'_>,
    before: &[u8],
    after: &[u8],
    test: &str,
    level: f64,
    resamples: NonZeroU32,
    seed: u64,
) -> PyResult<Difference> {
    let known = [
        ("student", PairTest::T),
        ("fisher", PairTest::Randomization),
        ("wilcoxon", PairTest::Wilcoxon),
        ("sign", PairTest::Sign),
        ("auto", PairTest::Auto),
    ];
    let test = PairedTest {
        method: named("test", test, &known)?,
        resamples,
        level,
        seed,
    };
    let pairs: Vec<(f64, f64)> = floats(before).into_iter().zip(floats(after)).collect();
    let found = py.detach(|| test.compare(&pairs, None, Scale::Share));
    let found = found.ok_or_else(|| {
        PyValueError::new_err("there are no values, or one of them is not a finite number")
    })?;
    Ok((
        found.before,
        found.after,
        found.interval.map(interval),
        found.p_value,
        found.method.map(|it| it.to_string()),
        found.greater,
        found.less,
    ))
}

/// The confidence interval of a mean.
#[pyfunction]
pub(crate) fn mean_interval(
    py: Python<'_>,
    values: &[u8],
    scale: &str,
    level: f64,
    seed: u64,
) -> PyResult<Interval> {
    let known = [
        ("share", Scale::Share),
        ("open", Scale::Open),
        ("amount", Scale::Amount),
    ];
    let scale = named("scale", scale, &known)?;
    let values = floats(values);
    let settings = Bootstrap {
        level,
        seed,
        ..Bootstrap::default()
    };
    let found = py.detach(|| metrics::mean_interval(&values, None, scale, &settings));
    found.map(interval).map_err(value_error)
}

/// Corrects the p values of several tests.
#[pyfunction]
pub(crate) fn adjust(p_values: &[u8], method: &str) -> PyResult<Vec<f64>> {
    let known = [("holm", Adjustment::Holm), ("bh", Adjustment::Bh)];
    Ok(named("correction", method, &known)?.apply(&floats(p_values)))
}

fn interval(it: metrics::Interval) -> Interval {
    (it.low, it.high, it.level, it.method.to_string())
}

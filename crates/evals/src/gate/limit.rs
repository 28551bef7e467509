//! Whether a quantity of a run keeps its floor or ceiling.

use evals_metrics::{Bootstrap, Interval, Percentiles, difference};

use super::rule::Rule;
use super::verdict::{CheckNumbers, GateBound, GateCheck, GateVerdict, LimitCheck};
use crate::render::percent;
use crate::summary::count;
use crate::{Snapshot, Unit};

/// A quantity that a floor or a ceiling limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity<'s> {
    /// The measure at this position.
    Measure(usize),
    /// A measure that only the baseline has.
    Gone,
    /// A latency of the whole task, or of a stage.
    Latency(Option<&'s str>, Percentile),
    /// USD for the run.
    Cost,
    /// Failed cases.
    Failed,
}

/// A statistic of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Percentile {
    Mean,
    P50,
    P95,
    P99,
}

impl Percentile {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "mean" => Some(Self::Mean),
            "p50" => Some(Self::P50),
            "p95" => Some(Self::P95),
            "p99" => Some(Self::P99),
            _ => None,
        }
    }

    fn of(self, times: &Percentiles) -> Option<f64> {
        match self {
            Self::Mean => times.mean,
            Self::P50 => times.p50,
            Self::P95 => times.p95,
            Self::P99 => times.p99,
        }
    }
}

/// The value of a quantity, or the reason why it is undefined.
struct Measured {
    value: Result<f64, String>,
    interval: Option<Interval>,
    n: usize,
    unit: Option<Unit>,
    /// How many failures could lower or raise the value, if it is a pass rate or a score between 0 and 1.
    failures: usize,
}

/// Checks a floor or a ceiling.
pub(super) fn check(
    rule: &Rule,
    run: &Snapshot,
    quantity: Quantity<'_>,
    bound: GateBound,
    bootstrap: &Bootstrap,
) -> GateCheck {
    let measured = measured(run, quantity, bootstrap);
    let (verdict, reason) = verdict(rule, &measured, bound);
    let unit = measured.unit;
    let sign = if is_floor(rule) { ">=" } else { "<=" };
    GateCheck {
        name: format!("{} {sign} {}", rule.name(), limit_text(rule, unit)),
        verdict,
        reason,
        numbers: CheckNumbers::Limit(LimitCheck {
            limit: rule.clone(),
            unit,
            value: measured.value.ok(),
            interval: measured.interval,
            n: measured.n,
        }),
    }
}

fn is_floor(rule: &Rule) -> bool {
    matches!(rule, Rule::Min { .. })
}

/// The limit as the user wrote it; a duration with its unit.
fn limit_text(rule: &Rule, unit: Option<Unit>) -> String {
    match unit {
        Some(Unit::Seconds) => Unit::Seconds.print(rule.limit()),
        _ => rule.limit().to_string(),
    }
}

fn measured(run: &Snapshot, quantity: Quantity<'_>, bootstrap: &Bootstrap) -> Measured {
    let plain = |value: Result<f64, String>, n: usize, unit: Option<Unit>| Measured {
        value,
        interval: None,
        n,
        unit,
        failures: 0,
    };
    match quantity {
        Quantity::Measure(place) => measure(run, place, bootstrap),
        Quantity::Gone => plain(
            Err("the run has no such measure, and the baseline has".to_owned()),
            0,
            None,
        ),
        Quantity::Latency(stage, percentile) => {
            let times = match stage {
                None => Some(run.task_time),
                Some(stage) => {
                    let mut timings = run.timings.iter();
                    timings
                        .find(|(name, _)| name == stage)
                        .map(|(_, times)| *times)
                }
            };
            let times = times.unwrap_or_default();
            let value = percentile.of(&times).ok_or_else(|| match times.n {
                0 => "nothing was timed: the run has no result that did not come from a cache"
                    .to_owned(),
                n => format!(
                    "{n} samples, and below {} a percentile says more about chance than about the system",
                    Percentiles::FEWEST_SAMPLES
                ),
            });
            plain(value, times.n, Some(Unit::Seconds))
        }
        Quantity::Cost => plain(
            run.cost.ok_or_else(|| {
                "the cost is unknown: the run records none, or a model has no price in `prices`"
                    .to_owned()
            }),
            run.finished,
            None,
        ),
        Quantity::Failed => plain(Ok(count(run.failed)), run.finished, None),
    }
}

/// The verdict on a measure with these values and no failures.
pub(super) fn on_numbers(
    rule: &Rule,
    numbers: &[f64],
    unit: Unit,
    bound: GateBound,
    bootstrap: &Bootstrap,
) -> GateVerdict {
    verdict(rule, &mean(numbers, unit, 0, bootstrap), bound).0
}

fn measure(run: &Snapshot, place: usize, bootstrap: &Bootstrap) -> Measured {
    let failures = run
        .column(place)
        .filter(|(_, value)| value.has_failed())
        .count();
    mean(
        &run.numbers(place),
        run.measures[place].unit,
        failures,
        bootstrap,
    )
}

fn mean(numbers: &[f64], unit: Unit, failures: usize, bootstrap: &Bootstrap) -> Measured {
    let n = numbers.len();
    let interval = match unit {
        Unit::Metric => bootstrap.percentile_interval(numbers),
        _ => bootstrap.mean_interval(numbers),
    };
    let total: f64 = numbers.iter().sum();
    Measured {
        value: if n == 0 {
            Err("no case has a value".to_owned())
        } else {
            Ok(total / count(n))
        },
        interval,
        n,
        unit: Some(unit),
        // Pass rates and scores lie between 0 and 1, so the worst that a failure could have been is known.
        failures: if unit == Unit::PassRate || is_share(unit, numbers) {
            failures
        } else {
            0
        },
    }
}

fn is_share(unit: Unit, numbers: &[f64]) -> bool {
    unit == Unit::Score && numbers.iter().all(|value| (0.0..=1.0).contains(value))
}

fn verdict(rule: &Rule, measured: &Measured, bound: GateBound) -> (GateVerdict, String) {
    let value = match &measured.value {
        Ok(value) => *value,
        // Nothing was measured, so nothing shows that the limit is kept.
        Err(reason) => return (GateVerdict::Failed, reason.clone()),
    };
    let unit = measured.unit;
    let print = |number: f64| match unit {
        Some(unit) => unit.print(number),
        None => number.to_string(),
    };
    let stated = stated(measured, value, &print);
    let limit = limit_text(rule, unit);
    let keeps = |number: f64| {
        // The order of additions may move a mean by a rounding error.
        let above = difference(rule.limit(), number);
        if is_floor(rule) {
            above >= 0.0
        } else {
            above <= 0.0
        }
    };
    let has_interval = matches!(unit, Some(Unit::Score | Unit::PassRate | Unit::Metric));
    let compared = match (bound, measured.interval) {
        (GateBound::Point, _) => value,
        _ if !has_interval => value,
        (_, None) => {
            let reason = format!("{stated}, without an interval: the cases show no spread");
            return (GateVerdict::CannotTell, reason);
        }
        (bound, Some(interval)) => {
            if (bound == GateBound::Pessimistic) == is_floor(rule) {
                interval.low
            } else {
                interval.high
            }
        }
    };
    let what = match bound {
        GateBound::Point => "",
        _ if !has_interval => "",
        GateBound::Pessimistic => "the worse end of the interval is ",
        GateBound::Optimistic => "even the better end of the interval is ",
    };
    let (below, kept) = if is_floor(rule) {
        ("below", "not below")
    } else {
        ("above", "not above")
    };
    if !keeps(compared) {
        return (
            GateVerdict::Failed,
            format!("{stated}: {what}{below} {limit}"),
        );
    }
    let worst = worst_case(value, measured, is_floor(rule));
    if measured.failures > 0 && !keeps(worst) {
        let reason = format!(
            "{stated}, but {} more failed and have no value; if they count against it, it is {} and {below} {limit}",
            measured.failures,
            print(worst)
        );
        return (GateVerdict::CannotTell, reason);
    }
    let what = what.trim_start_matches("even ");
    (
        GateVerdict::Passed,
        format!("{stated}: {what}{kept} {limit}"),
    )
}

/// The pass rate if every failure counts against its limit.
fn worst_case(value: f64, measured: &Measured, is_floor: bool) -> f64 {
    let failures = count(measured.failures);
    let passed = value * count(measured.n) + if is_floor { 0.0 } else { failures };
    passed / (count(measured.n) + failures).max(1.0)
}

/// The value with its interval and number of cases.
fn stated(measured: &Measured, value: f64, print: &impl Fn(f64) -> String) -> String {
    let interval = measured.interval.map_or_else(String::new, |interval| {
        format!(
            ", {} interval [{}, {}]",
            percent(interval.level),
            print(interval.low),
            print(interval.high)
        )
    });
    format!("{} (n = {}{interval})", print(value), measured.n)
}

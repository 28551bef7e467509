//! Whether a quantity of a run keeps its floor or ceiling.

use evals_metrics::{Interval, Scale, difference};

use super::measured::{Failures, MeasuredQuantity, Quantity};
use super::rule::{Rule, Subject};
use super::verdict::{CheckNumbers, GateBound, GateCheck, GateVerdict, LimitCheck};
use crate::probability::percent;
use crate::{Unit, number};

/// Checks a floor or a ceiling.
pub(super) fn check(
    rule: &Rule,
    subject: &Subject<'_>,
    quantity: Quantity<'_>,
    bound: GateBound,
    level: f64,
) -> GateCheck {
    let measured = MeasuredQuantity::of(rule, subject, quantity, level);
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
        Some(Unit::Seconds) => number::whole_duration(rule.limit()),
        _ => rule.limit().to_string(),
    }
}

/// The verdict on a measure with these values, and the numbers of their clusters if there are any, and no failures.
pub(super) fn on_numbers(
    rule: &Rule,
    numbers: (&[f64], Option<&[usize]>),
    (unit, scale): (Unit, Scale),
    bound: GateBound,
    level: f64,
) -> GateVerdict {
    verdict(
        rule,
        &MeasuredQuantity::mean(numbers, unit, scale, level),
        bound,
    )
    .0
}

fn verdict(rule: &Rule, measured: &MeasuredQuantity, bound: GateBound) -> (GateVerdict, String) {
    let value = match &measured.value {
        Ok(value) => *value,
        // Nothing was measured, so nothing shows that the limit is kept.
        Err(reason) => return (GateVerdict::Failed, reason.clone()),
    };
    let unit = measured.unit;
    let print = |number: f64| match unit {
        Some(unit) => unit.print(number),
        None => number::short(number),
    };
    let stated = stated(measured, value, &print);
    let limit = limit_text(rule, unit);
    let bound = if measured.is_mean {
        bound
    } else {
        GateBound::Point
    };
    let Some(compared) = end(rule, bound, value, measured.interval) else {
        let reason = format!("{stated}, without an interval: the cases show no spread");
        return (GateVerdict::CannotTell, reason);
    };
    let what = match bound {
        GateBound::Point => "",
        GateBound::Pessimistic => "the worse end of the interval is ",
        GateBound::Optimistic => "the better end of the interval is ",
    };
    let side = if is_floor(rule) { "below" } else { "above" };
    if !keeps(rule, compared) {
        let even = if bound == GateBound::Optimistic {
            "even "
        } else {
            ""
        };
        let reason = format!("{stated}: {even}{what}{side} {limit}");
        return (GateVerdict::Failed, reason);
    }
    let kept = format!("{stated}: {what}not {side} {limit}");
    let Some(failures) = &measured.failures else {
        return (GateVerdict::Passed, kept);
    };
    let Failures {
        count, assumption, ..
    } = failures;
    let (verdict, worst) = with_failures(rule, failures, bound);
    if verdict == GateVerdict::Passed {
        let reason = format!("{kept}, also {assumption}: {count} more failed and have no value");
        return (verdict, reason);
    }
    let then = match worst {
        Some(worst) => {
            let what = if what.is_empty() { "it is " } else { what };
            format!("{assumption}, {what}{} and {side} {limit}", print(worst))
        }
        None => assumption.clone(),
    };
    let reason = format!("{stated}, but {count} more failed and have no value; {then}");
    (verdict, reason)
}

/// The verdict on a quantity that keeps its limit without the failed cases, and its value if these were the worst.
fn with_failures(rule: &Rule, failures: &Failures, bound: GateBound) -> (GateVerdict, Option<f64>) {
    let worst = failures
        .worst
        .map(|(value, interval)| end(rule, bound, value, interval).unwrap_or(value));
    let verdict = match worst {
        Some(worst) if keeps(rule, worst) => GateVerdict::Passed,
        // The user asked for the worse end of the interval.
        Some(_) if bound == GateBound::Pessimistic => GateVerdict::Failed,
        Some(_) | None => GateVerdict::CannotTell,
    };
    (verdict, worst)
}

fn keeps(rule: &Rule, number: f64) -> bool {
    // The order of additions may move a mean by a rounding error.
    let above = difference(rule.limit(), number);
    if is_floor(rule) {
        above >= 0.0
    } else {
        above <= 0.0
    }
}

/// The value that has to keep the limit; `None` if there is no interval to take an end of.
fn end(rule: &Rule, bound: GateBound, value: f64, interval: Option<Interval>) -> Option<f64> {
    if bound == GateBound::Point {
        return Some(value);
    }
    let interval = interval?;
    let is_low = (bound == GateBound::Pessimistic) == is_floor(rule);
    Some(if is_low { interval.low } else { interval.high })
}

/// The value with its interval and number of cases.
fn stated(measured: &MeasuredQuantity, value: f64, print: &impl Fn(f64) -> String) -> String {
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

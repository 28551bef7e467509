//! The sentences of a gate's verdicts.

use super::drop::{DropNumbers, DropReason};
use super::power::POWER;
use super::rule::Rule;
use super::verdict::{CheckNumbers, DropCheck, GateCheck, GateVerdict, LimitCheck};
use crate::render::{p_value, percent};

/// A measure that only the baseline has.
pub(super) fn gone(rule: &Rule) -> GateCheck {
    without_value(rule, "the run has no such measure, and the baseline has")
}

/// A measure that only the run has.
pub(super) fn only_now(rule: &Rule) -> GateCheck {
    without_value(
        rule,
        "the baseline has no such measure, so nothing shows whether it dropped",
    )
}

fn without_value(rule: &Rule, reason: &str) -> GateCheck {
    GateCheck {
        name: format!("{} drop <= {}", rule.name(), rule.limit()),
        verdict: GateVerdict::Failed,
        reason: reason.to_owned(),
        numbers: CheckNumbers::Limit(LimitCheck {
            limit: rule.clone(),
            unit: None,
            value: None,
            interval: None,
            n: 0,
        }),
    }
}

/// A measure without a pair of values.
pub(super) fn no_values(name: String, evidence: DropCheck) -> GateCheck {
    GateCheck {
        name,
        verdict: GateVerdict::Failed,
        reason: "no case has a value in both runs".to_owned(),
        numbers: CheckNumbers::Drop(evidence),
    }
}

/// The sentence for a tested drop. It says which half of the rule was not met, and what the test could have seen.
pub(super) fn drop(reason: DropReason, numbers: &DropNumbers, evidence: &DropCheck) -> String {
    let found = found(numbers, evidence);
    let n = evidence.n;
    let tolerance = evidence.tolerance;
    let significance = match evidence.adjusted_p_value {
        Some(p) => p_value(p),
        None => "no p value".to_owned(),
    };
    match reason {
        DropReason::Unchanged => format!("no case changed (n = {n})"),
        DropReason::Dropped => {
            format!("{found}: significant ({significance}) and larger than {tolerance} (n = {n})")
        }
        DropReason::Excluded => format!(
            "{found}: the interval excludes drops above {tolerance} ({significance}, n = {n})"
        ),
        DropReason::NotSignificant => format!(
            "{found}: larger than {tolerance}, but chance alone could explain it ({significance}, n = {n}{})",
            seen(evidence)
        ),
        DropReason::WithinTolerance => format!(
            "{found}: significant ({significance}), but not larger than {tolerance} (n = {n})"
        ),
        DropReason::Neither => format!(
            "{found}: neither significant ({significance}) nor larger than {tolerance} (n = {n}{})",
            seen(evidence)
        ),
        DropReason::NoPower => format!(
            "{found}: {significance} over {n} cases, which are too few to see a drop of {tolerance}{}",
            needed(evidence)
        ),
        DropReason::NoSpread => format!(
            "{found}: {} no spread, so chance cannot be judged",
            if n == 1 {
                "1 case shows".to_owned()
            } else {
                format!("{n} equal differences show")
            }
        ),
        DropReason::OutOfReach => format!(
            "{found}: {significance} over {n} cases, which are too few for any drop to be significant{}",
            needed(evidence)
        ),
        DropReason::NotExcluded => format!(
            "{found}: a drop larger than {tolerance} cannot be excluded ({significance}, n = {n}){}",
            needed(evidence)
        ),
    }
}

/// The change with its interval: `worse by 0.0311, 95 % interval [0.0102, 0.0520]`.
fn found(numbers: &DropNumbers, evidence: &DropCheck) -> String {
    let unit = evidence.unit;
    let change = evidence.difference.unwrap_or_default();
    let word = match (numbers.loss > 0.0, numbers.loss < 0.0) {
        (true, _) => "worse by ",
        (_, true) => "better by ",
        _ => "changed by ",
    };
    let interval = numbers.interval.map_or_else(String::new, |interval| {
        format!(
            ", {} interval of the change [{}, {}]",
            percent(interval.level),
            unit.print_signed(interval.low),
            unit.print_signed(interval.high)
        )
    });
    format!("{word}{}{interval}", unit.print(change.abs()))
}

/// What the test could have seen.
fn seen(evidence: &DropCheck) -> String {
    evidence.detectable.map_or_else(String::new, |detectable| {
        format!(
            "; the test finds a drop of {} with {} probability",
            evidence.unit.print(detectable),
            percent(POWER)
        )
    })
}

/// What it would take to see the tolerance.
fn needed(evidence: &DropCheck) -> String {
    match (evidence.detectable, evidence.cases_needed) {
        (Some(detectable), Some(cases)) => format!(
            ": the test finds a drop of {} with {} probability, and for {} it needs about {cases} cases",
            evidence.unit.print(detectable),
            percent(POWER),
            evidence.tolerance
        ),
        (Some(detectable), None) => format!(
            ": the test finds a drop of {} with {} probability",
            evidence.unit.print(detectable),
            percent(POWER)
        ),
        (None, Some(cases)) => {
            format!(": for {} it needs about {cases} cases", evidence.tolerance)
        }
        (None, None) => String::new(),
    }
}

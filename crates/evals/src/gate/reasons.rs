//! The sentences of a gate's verdicts.

use evals_messages::quantity;

use super::drop::{Drop, DropReason};
use super::pairing::Unpaired;
use super::power::POWER;
use super::rule::Rule;
use super::verdict::{CheckNumbers, DropCheck, GateCheck, GateVerdict, LimitCheck};
use crate::probability::{p_value, percent};

/// A measure that only the baseline has.
pub(super) const GONE: &str = "the run has no such measure, and the baseline has";
/// A measure that only the run has.
pub(super) const ONLY_NOW: &str =
    "the baseline has no such measure, so nothing shows whether it dropped";
/// A measure without a pair of values.
pub(super) const NO_VALUES: &str = "no case has a value in both runs";
/// A measure whose values are too large to add.
pub(super) const OVERFLOW: &str = "the values are so large that their mean or its change exceeds the range of numbers, so the runs cannot be compared; \
     check what computes the measure";

/// A drop that nothing shows.
pub(super) fn without_value(rule: &Rule, reason: &str) -> GateCheck {
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

/// A reason with the cases that have a value in one run only. `otherwise` is the reason for a worse verdict where they count against the run.
pub(super) fn with_unpaired(reason: &str, unpaired: &Unpaired, otherwise: Option<&str>) -> String {
    let cases = |count: usize| match count {
        1 => "1 case has".to_owned(),
        several => format!("{several} cases have"),
    };
    let missing = match (unpaired.only_before, unpaired.only_after) {
        (lost, 0) => format!("{} no value in this run", cases(lost)),
        (0, gained) => format!("{} no value in the baseline", cases(gained)),
        (lost, gained) => format!(
            "{} no value in this run, and {} none in the baseline",
            cases(lost),
            cases(gained)
        ),
    };
    match otherwise {
        Some(why) => format!("{reason}; but {missing}, and if they count against it: {why}"),
        None => format!("{reason}; {missing}, which would not change the decision"),
    }
}

/// The sentence for a tested drop. It says which half of the rule was not met, and what the test could have seen.
pub(super) fn drop(reason: DropReason, numbers: &Drop, evidence: &DropCheck) -> String {
    let found = found(numbers, evidence);
    let (n, tolerance) = (evidence.n, evidence.tolerance);
    let (counted, unit) = counted(numbers);
    let cases = quantity::of(counted, unit);
    let with_value = match unit {
        "cluster" => "with a value ",
        _ => "",
    };
    let are = if counted == 1 { "is" } else { "are" };
    let needed = needed(evidence, unit);
    let p = evidence.adjusted_p_value.map(p_value);
    let shown = test_and_cases(p.as_deref(), n);
    let significance = p.unwrap_or_else(|| "no p value".to_owned());
    match reason {
        DropReason::Unchanged => format!("no case changed (n = {n})"),
        DropReason::FewUnchanged => {
            format!("{found}: {cases} {with_value}{are} too few to exclude drops above {tolerance}")
        }
        DropReason::Dropped => {
            format!("{found}: significant ({significance}) and larger than {tolerance} (n = {n})")
        }
        DropReason::Excluded => {
            format!("{found}: the interval excludes drops above {tolerance} ({shown})")
        }
        DropReason::Uniform => format!(
            "{} in every case: significant ({significance}), and not larger than {tolerance} (n = {n})",
            change(numbers, evidence)
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
            "{found}: {significance} over {cases}, which {are} too few to see a drop of {tolerance}{needed}"
        ),
        DropReason::NoSpread => format!(
            "{found}: {significance}, and equal differences do not say which drop the test can see (n = {n})"
        ),
        DropReason::FewCases => format!(
            "{found}: {significance} over {cases}, which {are} too few for any drop to be significant{needed}"
        ),
        DropReason::FewChanged => format!(
            "{found}: {significance}, and too few {unit}s changed to say which drop the test can see (n = {n})"
        ),
        DropReason::NotExcluded => {
            format!("{found}: a drop larger than {tolerance} cannot be excluded ({shown}){needed}")
        }
        DropReason::NoBound => format!(
            "{found}: the differences are equal and the scale of the measure is not known, so other cases could lose any amount ({shown})"
        ),
    }
}

/// How many cases, or clusters of them, the test counts, and the word for one.
fn counted(numbers: &Drop) -> (usize, &'static str) {
    match numbers.sensitivity.clusters() {
        Some(clusters) => (clusters, "cluster"),
        None => (numbers.change.n, "case"),
    }
}

/// The p value and the number of cases. Without a change there is nothing to test.
fn test_and_cases(p: Option<&str>, n: usize) -> String {
    match p {
        Some(p) => format!("{p}, n = {n}"),
        None => format!("n = {n}"),
    }
}

/// The change with its interval: `worse by 0.0311, 95 % interval [0.0102, 0.0520]`.
fn found(numbers: &Drop, evidence: &DropCheck) -> String {
    let unit = evidence.unit;
    let interval = evidence.interval.map_or_else(String::new, |interval| {
        format!(
            ", {} interval of the change [{}, {}]",
            percent(interval.level),
            unit.print_signed(interval.low),
            unit.print_signed(interval.high)
        )
    });
    format!("{}{interval}", change(numbers, evidence))
}

/// The change alone: `worse by 0.0311`.
fn change(numbers: &Drop, evidence: &DropCheck) -> String {
    let size = evidence.difference.unwrap_or_default().abs();
    let size = evidence.unit.print(size);
    match (numbers.loss > 0.0, numbers.loss < 0.0) {
        (true, _) => format!("worse by {size}"),
        (_, true) => format!("better by {size}"),
        _ if numbers.is_unchanged() => "no case changed".to_owned(),
        _ => format!("changed by {size}"),
    }
}

/// What the test could have seen.
fn seen(evidence: &DropCheck) -> String {
    power(evidence).map_or_else(String::new, |power| format!("; {power}"))
}

/// What it would take to see the tolerance, in cases or clusters.
fn needed(evidence: &DropCheck, unit: &str) -> String {
    let cases = evidence.cases_needed.map(|cases| {
        let cases = quantity::of(cases, unit);
        format!("for {} it needs about {cases}", evidence.tolerance)
    });
    match (power(evidence), cases) {
        (Some(power), Some(cases)) => format!(": {power}, and {cases}"),
        (Some(known), None) | (None, Some(known)) => format!(": {known}"),
        (None, None) => String::new(),
    }
}

fn power(evidence: &DropCheck) -> Option<String> {
    let detectable = evidence.detectable?;
    Some(format!(
        "the test finds a drop of {} with {} probability",
        evidence.unit.print(detectable),
        percent(POWER)
    ))
}

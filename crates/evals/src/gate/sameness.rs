//! What has to be the same in a run and its baseline, so that a difference of their measures says something about the system.

use serde_json::Value;

use super::pairing::Pairing;
use super::verdict::{Allowance, CheckNumbers, GateCheck, GateVerdict};
use crate::{Identity, Snapshot, differences};

/// Most differences of one kind that are named.
const NAMED: usize = 3;

/// The checks of a run against its baseline, in the order of [`Allowance::ALL`]. `limits_failures` says that a rule of the user limits the
/// number of failed cases.
pub(super) fn checks(
    before: &Snapshot,
    after: &Snapshot,
    pairing: &Pairing<'_>,
    allowed: &impl Fn(Allowance) -> bool,
    limits_failures: bool,
) -> Vec<GateCheck> {
    let lacking = |of: fn(&Identity) -> &Value| lacking(of(&before.identity), of(&after.identity));
    let dataset = Found {
        lacking: lacking(|it| &it.dataset),
        differences: dataset(before, after, pairing),
    };
    let judge = Found {
        lacking: lacking(|it| &it.judge),
        differences: judge(before, after),
    };
    let coverage = Found::differing(coverage(before, after, pairing, limits_failures));
    let measures = Found::differing(measures(before, after));
    let found = [dataset, judge, coverage, measures];
    let checks = Allowance::ALL.into_iter().zip(found);
    checks
        .map(|(what, found)| found.check(what, allowed(what), limits_failures))
        .collect()
}

/// What one check found.
struct Found {
    /// The sides that do not record it.
    lacking: Vec<&'static str>,
    differences: Vec<String>,
}

impl Found {
    fn differing(differences: Vec<String>) -> Self {
        Self {
            lacking: Vec::new(),
            differences,
        }
    }

    fn check(self, what: Allowance, allowed: bool, limits_failures: bool) -> GateCheck {
        let is_unknown = !self.lacking.is_empty();
        let verdict = match (self.differences.as_slice(), is_unknown, allowed) {
            ([], true, false) => GateVerdict::CannotTell,
            ([], _, _) | (_, _, true) => GateVerdict::Passed,
            (_, _, false) => GateVerdict::Failed,
        };
        let option = what.word();
        let listed = self.differences.join("; ");
        let reason = match (self.differences.as_slice(), verdict) {
            ([], GateVerdict::CannotTell) => {
                let does = if self.lacking.len() == 1 {
                    "does"
                } else {
                    "do"
                };
                let sides = self.lacking.join(" and ");
                format!("{sides} {does} not record it; `--allow {option}` accepts that")
            }
            ([], _) => same(what, limits_failures).to_owned(),
            (_, GateVerdict::Passed) => format!("{listed} (allowed by `--allow {option}`)"),
            (_, _) => format!("{listed}; `--allow {option}` accepts that"),
        };
        GateCheck {
            name: name(what).to_owned(),
            verdict,
            reason,
            numbers: CheckNumbers::Sameness {
                allowed,
                differences: self.differences,
            },
        }
    }
}

fn name(what: Allowance) -> &'static str {
    match what {
        Allowance::ChangedDataset => "same dataset",
        Allowance::ChangedJudge => "same judge",
        Allowance::LowerCoverage => "coverage",
        Allowance::MissingMeasure => "same measures",
    }
}

fn same(what: Allowance, limits_failures: bool) -> &'static str {
    match what {
        Allowance::ChangedDataset => "the same cases with the same content",
        Allowance::ChangedJudge => "the same evaluators and judge",
        Allowance::LowerCoverage if limits_failures => {
            "every case that had a value in the baseline has one; `max` of `failed` limits the failures"
        }
        Allowance::LowerCoverage => {
            "every case that had a value in the baseline has one, and no more cases failed"
        }
        Allowance::MissingMeasure => "every measure of the baseline",
    }
}

/// The sides that do not record an identity although they have one: the run or its baseline, where only the other has one, and each whose
/// judge is [`Identity::UNKNOWN`].
fn lacking(before: &Value, after: &Value) -> Vec<&'static str> {
    let sides = [("the baseline", before, after), ("the run", after, before)];
    let lacks = |one: &Value, other: &Value| {
        (one.is_null() && !other.is_null()) || *one == Identity::UNKNOWN
    };
    let lacking = sides.iter().filter(|(_, one, other)| lacks(one, other));
    lacking.map(|(name, ..)| *name).collect()
}

/// The differences of two identities, unless one is not known.
fn identities(before: &Value, after: &Value) -> Vec<String> {
    if before.is_null() || after.is_null() {
        return Vec::new();
    }
    let found = differences(before, after);
    first(found.iter().map(ToString::to_string).collect())
}

fn dataset(before: &Snapshot, after: &Snapshot, pairing: &Pairing<'_>) -> Vec<String> {
    let mut found = identities(&before.identity.dataset, &after.identity.dataset);
    let changed: Vec<String> = pairing
        .changed
        .iter()
        .map(|case| {
            let parts: Vec<&str> = case.parts.iter().map(|part| part.name()).collect();
            format!("{} ({})", case.id, parts.join(", "))
        })
        .collect();
    let ids = |ids: &[&crate::CaseId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let lists = [
        ("case edited", "cases edited", changed),
        (
            "case only in the baseline",
            "cases only in the baseline",
            ids(&pairing.removed),
        ),
        (
            "case only in the run",
            "cases only in the run",
            ids(&pairing.added),
        ),
    ];
    found.extend(
        lists
            .iter()
            .filter_map(|(one, several, names)| counted(one, several, names)),
    );
    found
}

/// A count of cases with the first names: `2 cases edited: q1 (input), q7 (metadata)`.
fn counted(one: &str, several: &str, names: &[String]) -> Option<String> {
    let noun = match names.len() {
        0 => return None,
        1 => one,
        _ => several,
    };
    let more = if names.len() > NAMED { ", …" } else { "" };
    let first = &names[..names.len().min(NAMED)];
    Some(format!(
        "{} {noun}: {}{more}",
        names.len(),
        first.join(", ")
    ))
}

/// The differences of the judges of measures that both runs have, each once with the measures. Nothing, if one side is not known.
fn judges(before: &Value, after: &Value) -> Vec<String> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return Vec::new();
    };
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (measure, old) in before {
        let new = after.get(measure).unwrap_or(old);
        for difference in differences(old, new) {
            let text = difference.to_string();
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, measures)) => measures.push(measure),
                None => found.push((text, vec![measure])),
            }
        }
    }
    let lines = found.iter();
    let lines = lines.map(|(text, measures)| format!("{text} ({})", measures.join(", ")));
    first(lines.collect())
}

/// The first of some lines, with the number of the others.
fn first(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    if more > 0 {
        lines.push(format!("{more} more differences"));
    }
    lines
}

fn judge(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut found = judges(&before.identity.judge, &after.identity.judge);
    for old in &before.measures {
        let new = after.measures.iter().find(|new| new.is(old));
        if let Some(new) = new
            && new.evaluator != old.evaluator
        {
            let name = |evaluator: &Option<String>| match evaluator {
                Some(name) => format!("`{name}`"),
                None => "an unknown evaluator".to_owned(),
            };
            found.push(format!(
                "`{}` comes from {} instead of {}",
                old.title,
                name(&new.evaluator),
                name(&old.evaluator)
            ));
        }
    }
    found
}

fn coverage(
    before: &Snapshot,
    after: &Snapshot,
    pairing: &Pairing<'_>,
    limits_failures: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    if after.failed > before.failed && !limits_failures {
        found.push(format!(
            "{} of {} cases failed, and {} of {} in the baseline",
            after.failed, after.finished, before.failed, before.finished
        ));
    }
    for (place, old) in before.measures.iter().enumerate() {
        let Some(now) = after.measures.iter().position(|new| new.is(old)) else {
            continue;
        };
        match pairing.lost([place, now]) {
            0 => {}
            1 => found.push(format!("1 case lost its value of `{}`", old.name())),
            lost => found.push(format!("{lost} cases lost their value of `{}`", old.name())),
        }
    }
    found
}

fn measures(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let gone = before
        .measures
        .iter()
        .filter(|old| !after.measures.iter().any(|new| new.is(old)));
    gone.map(|old| format!("the run has no measure `{}`", old.name()))
        .collect()
}

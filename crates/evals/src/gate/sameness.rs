//! What has to be the same in a run and its baseline, so that a difference of their measures says something about the system.

use std::collections::{BTreeMap, BTreeSet};

use evals_messages::quantity;
use serde_json::Value;

use super::pairing::Pairing;
use super::verdict::{Allowance, CheckNumbers, GateCheck, GateVerdict};
use crate::naming::gathered;
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
    let dataset = ConditionDifferences {
        unrecorded: unrecorded_dataset(before, after),
        differences: dataset(before, after, pairing),
    };
    let judge = judge(before, after);
    let coverage =
        ConditionDifferences::differing(coverage(before, after, pairing, limits_failures));
    let measures = ConditionDifferences::differing(measures(before, after));
    let found = [dataset, judge, coverage, measures];
    let checks = Allowance::ALL.into_iter().zip(found);
    checks
        .map(|(what, found)| found.check(what, allowed(what), limits_failures))
        .collect()
}

/// What one check found.
struct ConditionDifferences {
    /// The sentence that says which side does not record it.
    unrecorded: Option<String>,
    differences: Vec<String>,
}

impl ConditionDifferences {
    fn differing(differences: Vec<String>) -> Self {
        Self {
            unrecorded: None,
            differences,
        }
    }

    fn check(self, what: Allowance, allowed: bool, limits_failures: bool) -> GateCheck {
        let facts: Vec<&str> = self
            .differences
            .iter()
            .chain(&self.unrecorded)
            .map(String::as_str)
            .collect();
        let facts = facts.join("; ");
        let verdict = match (self.differences.is_empty(), &self.unrecorded) {
            _ if allowed => GateVerdict::Passed,
            (false, _) => GateVerdict::Failed,
            (true, Some(_)) => GateVerdict::CannotTell,
            (true, None) => GateVerdict::Passed,
        };
        let option = what.word();
        let (name, same) = words(what, limits_failures);
        let reason = match verdict {
            _ if facts.is_empty() => same.to_owned(),
            GateVerdict::Passed => format!("{facts} (allowed by `--allow {option}`)"),
            GateVerdict::CannotTell | GateVerdict::Failed => {
                format!("{facts}; `--allow {option}` accepts that")
            }
        };
        GateCheck {
            name: name.to_owned(),
            verdict,
            reason,
            numbers: CheckNumbers::Sameness {
                allowed,
                differences: self.differences,
            },
        }
    }
}

/// The name of a check, and the reason why it passes.
fn words(what: Allowance, limits_failures: bool) -> (&'static str, &'static str) {
    match what {
        Allowance::ChangedDataset => ("same dataset", "the same cases with the same content"),
        Allowance::ChangedJudge => ("same judge", "the same evaluators and judge"),
        Allowance::LowerCoverage if limits_failures => (
            "coverage",
            "every case that had a value in the baseline has one; `max` of `failed` limits the failures",
        ),
        Allowance::LowerCoverage => (
            "coverage",
            "every case that had a value in the baseline has one, and no more cases failed",
        ),
        Allowance::MissingMeasure => ("same measures", "every measure of the baseline"),
    }
}

/// The sentence about the sides (`[baseline, run]`) without a record; `None` if both have one.
fn unrecorded(lacks: [bool; 2]) -> Option<String> {
    let sentence = match lacks {
        [false, false] => return None,
        [true, false] => "the baseline does not record it",
        [false, true] => "the run does not record it",
        [true, true] => "the baseline and the run do not record it",
    };
    Some(sentence.to_owned())
}

/// Data that only one side records. Without a record on either side, the contents of the cases decide.
fn unrecorded_dataset(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let [old, new] = [before, after].map(|side| side.identity.dataset.is_null());
    unrecorded([old && !new, new && !old])
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
        ("edited", changed),
        ("only in the baseline", ids(&pairing.removed)),
        ("only in the run", ids(&pairing.added)),
    ];
    let lists = lists.iter();
    found.extend(lists.filter_map(|(what, names)| counted(what, names)));
    found
}

/// A count of cases with the first names: `2 cases edited: q1 (input), q7 (metadata)`.
fn counted(what: &str, names: &[String]) -> Option<String> {
    let more = if names.len() > NAMED { ", …" } else { "" };
    let first = &names[..names.len().min(NAMED)];
    let cases = quantity::of(names.len(), "case");
    (!names.is_empty()).then(|| format!("{cases} {what}: {}{more}", first.join(", ")))
}

/// The judges that both runs record for the measures that both have.
fn judges(before: &Snapshot, after: &Snapshot) -> ConditionDifferences {
    let both = before
        .measures
        .iter()
        .filter(|old| after.measures.iter().any(|new| new.is(old)));
    let names: BTreeSet<&str> = both.map(|measure| measure.title.as_str()).collect();
    let mut unknown: BTreeMap<[bool; 2], Vec<&str>> = BTreeMap::new();
    let mut found: Vec<(String, String)> = Vec::new();
    for name in names {
        let [old, new] = [before, after].map(|side| judge_of(&side.identity, name));
        let lacks = [old, new].map(|judge| *judge == Identity::UNKNOWN);
        if lacks != [false, false] {
            unknown.entry(lacks).or_default().push(name);
            continue;
        }
        let changes = changes(old, new).into_iter();
        found.extend(changes.map(|text| (text, name.to_owned())));
    }
    // A side that records no judge at all needs no list of measures.
    let is_partly = [before, after]
        .iter()
        .all(|side| side.identity.judge != Identity::UNKNOWN);
    let sentences = unknown.iter().filter_map(|(lacks, measures)| {
        let sentence = unrecorded(*lacks)?;
        Some(if is_partly {
            format!("{sentence} ({})", measures.join(", "))
        } else {
            sentence
        })
    });
    let sentences: Vec<String> = sentences.collect();
    let lines = gathered(found).into_iter();
    let lines = lines.map(|(text, measures)| format!("{text} ({})", measures.join(", ")));
    ConditionDifferences {
        unrecorded: (!sentences.is_empty()).then(|| sentences.join("; ")),
        differences: first(lines.collect()),
    }
}

/// The judge of a measure: null if no judge decides it, and [`Identity::UNKNOWN`] if the run does not record the judge.
fn judge_of<'i>(identity: &'i Identity, measure: &str) -> &'i Value {
    match &identity.judge {
        Value::Object(judges) => judges.get(measure).unwrap_or(&Value::Null),
        of_all => of_all,
    }
}

/// The differences of two judges of one measure.
fn changes(old: &Value, new: &Value) -> Vec<String> {
    match (old, new) {
        (Value::Null, Value::Null) => Vec::new(),
        (Value::Null, _) => {
            vec!["the run has a judge, and the baseline does not".to_owned()]
        }
        (_, Value::Null) => {
            vec!["the baseline has a judge, and the run does not".to_owned()]
        }
        _ => differences(old, new)
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
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

fn judge(before: &Snapshot, after: &Snapshot) -> ConditionDifferences {
    let mut found = judges(before, after);
    for old in &before.measures {
        let new = after.measures.iter().find(|new| new.is(old));
        if let Some(new) = new
            && new.evaluator != old.evaluator
        {
            let name = |evaluator: &Option<String>| match evaluator {
                Some(name) => format!("`{name}`"),
                None => "an unknown evaluator".to_owned(),
            };
            found.differences.push(format!(
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

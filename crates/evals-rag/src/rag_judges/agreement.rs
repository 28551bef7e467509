//! How far the judges of a panel agree with each other, and each judge with itself.

use std::collections::BTreeMap;

use async_trait::async_trait;
use evals::{Analysis, Domain, EvaluatorError, Evidence, Report, ReportEvaluator, Vote};
use evals_metrics::{cohens_kappa_of_pairs, equal_pairs, krippendorffs_alpha};
use serde_json::{Value, json};

/// Tables of how far several judges agree, from the votes that outcomes hold as evidence. Without votes there are none.
///
/// - `agreement of judges`: for each measure, the share of items on which all judges gave the same verdict, and Krippendorff's alpha.
/// - `pairs of judges`: for each two judges, the share of equal verdicts, and Cohen's kappa.
/// - `judges asked again`: for each judge, the share of pairs of its repeated verdicts that are equal, and the rest, its disagreement
///   with itself.
///
/// The verdict of a judge that was asked several times is its most frequent one; of equally frequent ones, the first given.
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgeAgreement;

/// The votes on the items of one measure.
type Items<'r> = Vec<&'r [Vote]>;

impl JudgeAgreement {
    /// Its name in reports.
    pub const NAME: &str = "judge agreement";
}

#[async_trait]
impl<D: Domain> ReportEvaluator<D> for JudgeAgreement {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn evaluate(&self, report: &Report<D>) -> Result<Vec<Analysis>, EvaluatorError> {
        let mut measures: BTreeMap<&str, Items<'_>> = BTreeMap::new();
        for outcome in report.cases.iter().flat_map(|case| &case.outcomes) {
            let votes = outcome.evidence.iter().map(votes_of);
            let votes = votes.filter(|votes| votes.len() > 1);
            measures.entry(&outcome.name).or_default().extend(votes);
        }
        measures.retain(|_, items| !items.is_empty());
        let tables = [panels(&measures), pairs(&measures), repeats(&measures)];
        Ok(tables.into_iter().flatten().collect())
    }
}

fn votes_of(evidence: &Evidence) -> &[Vote] {
    &evidence.votes
}

/// The verdicts of each judge on one item, in the order of the votes.
fn by_judge(votes: &[Vote]) -> Vec<(&str, Vec<&str>)> {
    let mut judges: Vec<(&str, Vec<&str>)> = Vec::new();
    for vote in votes {
        match judges.iter_mut().find(|(judge, _)| *judge == vote.judge) {
            Some((_, verdicts)) => verdicts.push(&vote.verdict),
            None => judges.push((&vote.judge, vec![&vote.verdict])),
        }
    }
    judges
}

/// The verdict of a judge from its repeated ones.
fn most_frequent<'v>(verdicts: &[&'v str]) -> &'v str {
    let count = |wanted: &str| verdicts.iter().filter(|it| **it == wanted).count();
    let last_first = verdicts.iter().rev();
    last_first
        .max_by_key(|verdict| count(verdict))
        .copied()
        .unwrap_or_default()
}

/// The verdict of each judge on each item.
fn decided<'r>(items: &Items<'r>) -> Vec<Vec<(&'r str, &'r str)>> {
    let of_item = |votes: &&'r [Vote]| {
        let judges = by_judge(votes).into_iter();
        judges
            .map(|(judge, verdicts)| (judge, most_frequent(&verdicts)))
            .collect()
    };
    items.iter().map(of_item).collect()
}

/// The distinct judges, in the order of the votes.
fn judges<'r>(items: &Items<'r>) -> Vec<&'r str> {
    let mut found: Vec<&str> = Vec::new();
    for vote in items.iter().copied().flatten() {
        if !found.contains(&vote.judge.as_str()) {
            found.push(&vote.judge);
        }
    }
    found
}

fn panels(measures: &BTreeMap<&str, Items<'_>>) -> Option<Analysis> {
    let row = |(measure, items): (&&str, &Items<'_>)| {
        let judges = judges(items).len();
        if judges < 2 {
            return None;
        }
        let units = decided(items).into_iter();
        let units: Vec<Vec<&str>> = units
            .map(|unit| unit.into_iter().map(|(_, verdict)| verdict).collect())
            .collect();
        let is_same = |unit: &&Vec<&str>| unit.iter().all(|verdict| *verdict == unit[0]);
        let same = units.iter().filter(is_same).count();
        let alpha = number(krippendorffs_alpha(&units));
        Some(vec![
            json!(measure),
            json!(units.len()),
            json!(judges),
            share(same, units.len()),
            alpha,
        ])
    };
    table(
        "agreement of judges",
        "Share of items on which all judges gave the same verdict, and Krippendorff's alpha: 1 is full agreement, 0 is chance.",
        &[
            "measure",
            "items",
            "judges",
            "same verdict",
            "Krippendorff's α",
        ],
        measures.iter().filter_map(row).collect(),
    )
}

fn pairs(measures: &BTreeMap<&str, Items<'_>>) -> Option<Analysis> {
    let mut rows = Vec::new();
    for (measure, items) in measures {
        let judges = judges(items);
        let decided = decided(items);
        for (place, one) in judges.iter().enumerate() {
            for other in &judges[place + 1..] {
                let verdict = |unit: &[(&'_ str, &'_ str)], wanted: &str| {
                    let found = unit.iter().find(|(judge, _)| *judge == wanted);
                    found.map(|(_, verdict)| (*verdict).to_owned())
                };
                let both = decided
                    .iter()
                    .filter_map(|unit| Some((verdict(unit, one)?, verdict(unit, other)?)));
                let both: Vec<(String, String)> = both.collect();
                let same = both.iter().filter(|(one, other)| one == other).count();
                rows.push(vec![
                    json!(measure),
                    json!(one),
                    json!(other),
                    json!(both.len()),
                    share(same, both.len()),
                    number(cohens_kappa_of_pairs(&both)),
                ]);
            }
        }
    }
    table(
        "pairs of judges",
        "Share of equal verdicts, and Cohen's kappa.",
        &[
            "measure",
            "judge",
            "other judge",
            "items",
            "same verdict",
            "Cohen's κ",
        ],
        rows,
    )
}

fn repeats(measures: &BTreeMap<&str, Items<'_>>) -> Option<Analysis> {
    let mut rows = Vec::new();
    for (measure, items) in measures {
        for judge in judges(items) {
            let of_judge = items.iter().filter_map(|votes| {
                let judges = by_judge(votes).into_iter();
                let mut own = judges.filter(|(found, _)| *found == judge);
                own.next().map(|(_, verdicts)| verdicts)
            });
            let units: Vec<Vec<&str>> = of_judge.filter(|verdicts| verdicts.len() > 1).collect();
            if let Some(equal) = equal_pairs(&units) {
                rows.push(vec![
                    json!(measure),
                    json!(judge),
                    json!(units.len()),
                    json!(rounded(equal)),
                    json!(rounded(1.0 - equal)),
                ]);
            }
        }
    }
    table(
        "judges asked again",
        "Share of pairs of a judge's repeated verdicts on the same item that are equal, and the rest.",
        &[
            "measure",
            "judge",
            "items",
            "self-consistency",
            "disagreement",
        ],
        rows,
    )
}

fn share(part: usize, whole: usize) -> Value {
    if whole == 0 {
        return Value::Null;
    }
    json!(rounded(
        crate::call::number(part) / crate::call::number(whole)
    ))
}

/// A statistic, or why it has no value.
fn number<E: std::fmt::Display>(statistic: Result<f64, E>) -> Value {
    match statistic {
        Ok(value) => json!(rounded(value)),
        Err(reason) => json!(format!("undefined: {reason}")),
    }
}

/// Four decimals, as tables print scores.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn table(
    title: &str,
    description: &str,
    columns: &[&str],
    rows: Vec<Vec<Value>>,
) -> Option<Analysis> {
    (!rows.is_empty()).then(|| Analysis::Table {
        title: title.to_owned(),
        description: Some(description.to_owned()),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        rows,
    })
}

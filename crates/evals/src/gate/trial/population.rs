//! The cases that simulations draw from, and the values of the measures that rules name.

use std::collections::BTreeMap;

use evals_metrics::Scale;

use super::super::measured::Quantity;
use super::super::resolve::Resolver;
use super::super::rule::MeasureNames;
use super::super::{Gate, Rule, Subject};
use super::{Noise, TrialError};
use crate::{CaseId, Direction, Snapshot, SnapshotMeasure, Unit};

/// The cases that simulations draw from.
#[derive(Debug)]
pub(super) struct Population<'n> {
    /// The number of cases.
    pub(super) cases: usize,
    /// The places of the cases of each cluster that simulations draw whole.
    pub(super) clusters: Vec<Vec<usize>>,
    /// The cluster of each case, and its place in it.
    pub(super) places: Vec<(usize, usize)>,
    /// Whether the runs declare clusters. If not, every case is alone.
    pub(super) is_clustered: bool,
    /// The rules that can be simulated.
    pub(super) rules: Vec<Ruled>,
    /// The names of rules that cannot.
    pub(super) left_out: Vec<String>,
    pub(super) noise: Noise<'n>,
}

/// A rule with the values of its measure.
#[derive(Debug)]
pub(super) struct Ruled {
    pub(super) rule: Rule,
    pub(super) title: String,
    pub(super) unit: Unit,
    pub(super) better: Direction,
    /// The values by snapshot, then by case; `None` where any snapshot has no value.
    pub(super) values: Vec<Vec<Option<f64>>>,
    /// The mean over all values.
    pub(super) mean: f64,
    /// Whether all values are from 0 to 1.
    pub(super) is_share: bool,
    /// The scale by which the gate judges it.
    pub(super) scale: Scale,
}

impl<'n> Population<'n> {
    pub(super) fn of(
        noise: Noise<'n>,
        gate: &Gate,
        names: &dyn MeasureNames,
    ) -> Result<Self, TrialError> {
        let snapshots = noise.snapshots()?;
        let first = &snapshots[0];
        let common = common(snapshots);
        // The run stands in for the baseline that a drop needs.
        let subjects = [Subject {
            checks: &[],
            run: first,
            baseline: Some(first),
        }];
        let resolver = Resolver {
            subjects: &subjects,
            names,
        };
        let (mut rules, mut left_out) = (Vec::new(), Vec::new());
        for (rule, resolved) in gate.rules.iter().zip(resolver.all(&gate.rules)?) {
            for resolved in resolved {
                match resolved.quantity {
                    Quantity::Measure(place) => {
                        let measure = &first.measures[place];
                        rules.push(Ruled::new(rule, measure, snapshots, &common)?);
                    }
                    _ => left_out.push(format!("{} of {}", rule.kind(), rule.name())),
                }
            }
        }
        if rules.is_empty() {
            return Err(TrialError::Nothing);
        }
        let declared = first.cluster_numbers();
        let clusters = clusters(&common, first, declared.as_ref());
        let places = clusters.iter().enumerate();
        let places =
            places.flat_map(|(number, of)| (0..of.len()).map(move |place| (number, place)));
        Ok(Self {
            cases: common.len(),
            is_clustered: declared.is_some(),
            places: places.collect(),
            clusters,
            rules,
            left_out,
            noise,
        })
    }
}

impl<'s> Noise<'s> {
    /// The snapshots that show the noise, at least one.
    pub(super) fn snapshots(self) -> Result<&'s [Snapshot], TrialError> {
        match self {
            Self::Runs(runs) | Self::Repetitions(runs) if runs.len() < 2 => Err(TrialError::Alone),
            Self::Runs(runs) | Self::Repetitions(runs) => Ok(runs),
            Self::Exchange { share, .. } if !(0.0..=1.0).contains(&share) => {
                Err(TrialError::Share(share))
            }
            Self::Exchange { run, .. } => Ok(std::slice::from_ref(run)),
        }
    }
}

/// The places of the cases of each cluster.
fn clusters(
    common: &[Vec<usize>],
    first: &Snapshot,
    declared: Option<&BTreeMap<&CaseId, usize>>,
) -> Vec<Vec<usize>> {
    let number = |place: usize, in_first: usize| match declared {
        Some(numbers) => numbers[&first.cases[in_first].id],
        None => place,
    };
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, in_snapshots) in common.iter().enumerate() {
        let number = number(place, in_snapshots[0]);
        clusters.entry(number).or_default().push(place);
    }
    clusters.into_values().collect()
}

/// The cases that all snapshots have with the same content: their positions in each.
fn common(snapshots: &[Snapshot]) -> Vec<Vec<usize>> {
    let places: Vec<BTreeMap<(&CaseId, &str), usize>> = snapshots
        .iter()
        .map(|snapshot| {
            let cases = snapshot.cases.iter().enumerate();
            cases
                .map(|(place, case)| ((&case.id, case.content.as_str()), place))
                .collect()
        })
        .collect();
    let Some(first) = places.first() else {
        return Vec::new();
    };
    let of_all = first.keys().filter_map(|key| {
        places
            .iter()
            .map(|places| places.get(key).copied())
            .collect()
    });
    of_all.collect()
}

impl Ruled {
    /// Whether the rule is about a drop, and not a limit.
    pub(super) fn is_drop(&self) -> bool {
        matches!(self.rule, Rule::MaxDrop { .. })
    }

    fn new(
        rule: &Rule,
        measure: &SnapshotMeasure,
        snapshots: &[Snapshot],
        common: &[Vec<usize>],
    ) -> Result<Self, TrialError> {
        let missing = || TrialError::NoCases(measure.name().to_owned());
        let mut values: Vec<Vec<Option<f64>>> = Vec::new();
        for (place, snapshot) in snapshots.iter().enumerate() {
            let mut measures = snapshot.measures.iter();
            let column = measures.position(|it| it.is(measure)).ok_or_else(missing)?;
            let value = |places: &Vec<usize>| {
                let case = snapshot.cases.get(places[place])?;
                case.values.get(column)?.number()
            };
            values.push(common.iter().map(value).collect());
        }
        for case in 0..common.len() {
            if values.iter().any(|column| column[case].is_none()) {
                for column in &mut values {
                    column[case] = None;
                }
            }
        }
        let all: Vec<f64> = values.iter().flatten().flatten().copied().collect();
        if all.is_empty() {
            return Err(missing());
        }
        Ok(Self {
            rule: rule.clone(),
            title: measure.name().to_owned(),
            unit: measure.unit,
            better: measure.better,
            mean: all.iter().sum::<f64>() / evals_metrics::as_f64(all.len()),
            is_share: all.iter().all(|value| (0.0..=1.0).contains(value)),
            scale: match rule {
                Rule::MaxDrop { .. } => measure.defined_scale(),
                Rule::Min { .. } | Rule::Max { .. } => measure.unit.scale(),
            },
            values,
        })
    }
}

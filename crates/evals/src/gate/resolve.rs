//! Finds what the name in a rule means in each run.

use super::error::GateError;
use super::fit;
use super::measured::{Percentile, Quantity};
use super::rule::{MeasureNames, Rule, RuleError, Subject};
use crate::Snapshot;

/// The quantity that counts failed cases.
pub(super) const FAILED: &str = "failed";
/// The quantity of USD.
const COST: &str = "cost";
/// The quantity of seconds, followed by a stage and a percentile.
const LATENCY: &str = "latency";

/// The runs of a gate and the names of their measures.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'r, 's> {
    pub(super) subjects: &'r [Subject<'s>],
    pub(super) names: &'r dyn MeasureNames,
}

/// What a rule means for one run.
#[derive(Debug)]
pub(super) struct Resolved<'q> {
    /// The position of the run.
    pub(super) subject: usize,
    pub(super) quantity: Quantity<'q>,
}

impl Resolver<'_, '_> {
    /// What each rule means for each run that it applies to; at least one run for each rule.
    pub(super) fn all<'q>(&self, rules: &'q [Rule]) -> Result<Vec<Vec<Resolved<'q>>>, GateError> {
        let mut all: Vec<Vec<Resolved<'q>>> = Vec::new();
        for (place, rule) in rules.iter().enumerate() {
            let resolved = self.resolve(rule)?;
            let is_meant = |earlier: &[Resolved<'_>]| {
                earlier.iter().any(|one| {
                    let mut own = resolved.iter();
                    own.any(|it| (it.subject, it.quantity) == (one.subject, one.quantity))
                })
            };
            let earlier = rules[..place].iter().zip(&all);
            let mut same = earlier.filter(|(other, _)| other.kind() == rule.kind());
            if let Some((other, _)) = same.find(|(_, resolved)| is_meant(resolved)) {
                return Err(rule.again(other).into());
            }
            all.push(resolved);
        }
        Ok(all)
    }

    fn resolve<'q>(&self, rule: &'q Rule) -> Result<Vec<Resolved<'q>>, GateError> {
        let mut resolved = Vec::new();
        for (place, subject) in self.subjects.iter().enumerate() {
            let measure = self.measure(rule.name(), subject);
            let Some(quantity) = measure.or_else(|| limited(rule.name(), subject)) else {
                continue;
            };
            fits(rule, quantity, subject)?;
            if matches!(rule, Rule::MaxDrop { .. }) && subject.baseline.is_none() {
                return Err(GateError::NoBaseline {
                    name: rule.name().to_owned(),
                    run: subject.run.title.clone(),
                });
            }
            resolved.push(Resolved {
                subject: place,
                quantity,
            });
        }
        self.among_others(rule, &mut resolved);
        if resolved.is_empty() {
            return Err(GateError::Unknown {
                name: rule.name().to_owned(),
                kind: rule.kind(),
                known: self.known(rule),
            });
        }
        Ok(resolved)
    }

    /// Of several runs, the rule applies to those that record a cost: question answering records one, and retrieval beside it does not.
    fn among_others(&self, rule: &Rule, resolved: &mut Vec<Resolved<'_>>) {
        if rule.name() == COST && self.subjects.iter().any(|it| it.run.cost.is_some()) {
            let records = |it: &Subject<'_>| it.run.cost.is_some() || it.run.records_cost;
            resolved.retain(|it| records(&self.subjects[it.subject]));
        }
    }

    /// The measure of a name, in the run or else in its baseline.
    fn measure<'q>(&self, name: &str, subject: &Subject<'_>) -> Option<Quantity<'q>> {
        let place = |snapshot: &Snapshot| {
            let mut measures = snapshot.measures.iter();
            measures.position(|it| {
                it.mean_title.as_deref() == Some(name) || self.names.means(name, &it.title)
            })
        };
        match place(subject.run) {
            Some(place) => Some(Quantity::Measure(place)),
            None => subject.baseline.and_then(place).map(Quantity::Gone),
        }
    }

    /// The names that a rule of this kind may have.
    fn known(&self, rule: &Rule) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        let mut add = |name: String| {
            if !known.contains(&name) {
                known.push(name);
            }
        };
        for subject in self.subjects {
            for measure in &subject.run.measures {
                if fit::direction(rule, measure.better).is_ok() {
                    add(measure.name().to_owned());
                }
            }
        }
        if matches!(rule, Rule::Max { .. }) {
            add(FAILED.to_owned());
            add(COST.to_owned());
            add(format!("{LATENCY}.p95"));
            for subject in self.subjects {
                for (stage, _) in &subject.run.timings {
                    add(format!("{LATENCY}.{stage}.p95"));
                }
            }
        }
        known
    }
}

/// What a name means that is no measure. A stage has to be one of the run or of its baseline.
fn limited<'q>(name: &'q str, subject: &Subject<'_>) -> Option<Quantity<'q>> {
    match name {
        FAILED => return Some(Quantity::Failed),
        COST => return Some(Quantity::Cost),
        _ => {}
    }
    let rest = name.strip_prefix(LATENCY)?.strip_prefix('.')?;
    if let Some(percentile) = Percentile::named(rest) {
        return Some(Quantity::Latency(None, percentile));
    }
    let (stage, percentile) = rest.rsplit_once('.')?;
    let has_stage = |snapshot: &Snapshot| snapshot.timings.iter().any(|(name, _)| name == stage);
    let is_known = has_stage(subject.run) || subject.baseline.is_some_and(has_stage);
    let percentile = Percentile::named(percentile)?;
    is_known.then_some(Quantity::Latency(Some(stage), percentile))
}

/// Whether a quantity of a run can meet and fail a rule.
fn fits(rule: &Rule, quantity: Quantity<'_>, subject: &Subject<'_>) -> Result<(), RuleError> {
    match quantity {
        Quantity::Measure(at) => {
            let measure = &subject.run.measures[at];
            fit::direction(rule, measure.better)?;
            fit::scale(rule, measure.defined_scale())
        }
        Quantity::Gone(_) => Ok(()),
        Quantity::Latency(..) | Quantity::Cost | Quantity::Failed => fit::quantity(rule, quantity),
    }
}

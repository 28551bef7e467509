//! The value of each case for each measure.

use std::collections::BTreeMap;

use super::column::{Gaps, Values};
use super::labels::Labels;
use super::tally::{MeasureKey, Tally};
use crate::{CaseId, Direction, Domain, Report, Unit, ValueKind};

/// The values of all measures, by their titles.
#[derive(Debug)]
pub(crate) struct CaseValues<'a> {
    measures: Vec<MeasureKey>,
    scores: BTreeMap<String, Values<'a>>,
    assertions: BTreeMap<String, Values<'a>>,
    metrics: BTreeMap<String, Values<'a>>,
    labels: BTreeMap<String, Labels<'a>>,
    none: Values<'a>,
}

impl<'a> CaseValues<'a> {
    /// The scores and assertions, in the order in which evaluators return them.
    pub(crate) fn measures(&self) -> impl Iterator<Item = &MeasureKey> {
        self.measures.iter()
    }

    /// The first of them.
    pub(crate) fn first(&self) -> Option<&MeasureKey> {
        self.measures.first()
    }

    /// The values of the measure with this title; empty if the report does not have it.
    pub(crate) fn of(&self, unit: Unit, title: &str) -> &Values<'a> {
        let measures = match unit {
            Unit::PassRate => &self.assertions,
            Unit::Metric => &self.metrics,
            Unit::Score | Unit::Share | Unit::Seconds => &self.scores,
        };
        measures.get(title).unwrap_or(&self.none)
    }

    /// The labels of the measure with this title, if it is one of labels.
    pub(crate) fn labels(&self, title: &str) -> Option<&Labels<'a>> {
        self.labels.get(title)
    }
}

/// A measure with its value for each case.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureValues<'r> {
    /// Its title in the [summary](crate::Summary).
    pub title: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// The value of each case that the measure applies to: the mean over repetitions, or the reason for its absence.
    pub of_cases: BTreeMap<&'r CaseId, Result<f64, &'r str>>,
    /// Whether a task or an evaluator failed, or the value is undefined, for each case without a value.
    pub(crate) gaps: Gaps<'r>,
}

impl<D: Domain> Report<D> {
    /// The scores, assertions and metrics with their value for each case: those of evaluators in their order, then recorded metrics.
    pub fn measure_values(&self) -> Vec<MeasureValues<'_>> {
        let tally = Tally::of(&self.cases);
        let [mut scores, mut assertions] =
            [ValueKind::Score, ValueKind::Assertion].map(|kind| tally.values(kind));
        let [mut score_gaps, mut assertion_gaps] =
            [ValueKind::Score, ValueKind::Assertion].map(|kind| tally.gaps(kind));
        let evaluated = tally.measures().into_iter().map(|measure| {
            let (values, gaps) = match measure.unit {
                Unit::PassRate => (&mut assertions, &mut assertion_gaps),
                Unit::Score | Unit::Share | Unit::Metric | Unit::Seconds => {
                    (&mut scores, &mut score_gaps)
                }
            };
            let values = values.remove(&measure.title);
            let gaps = gaps.remove(&measure.title);
            MeasureValues {
                title: measure.title,
                unit: measure.unit,
                better: measure.better,
                of_cases: values.unwrap_or_default(),
                gaps: gaps.unwrap_or_default(),
            }
        });
        let mut measures: Vec<_> = evaluated.collect();
        let metrics = tally.metric_values().into_iter();
        let mut metric_gaps = tally.metric_gaps();
        measures.extend(metrics.map(|(title, of_cases)| MeasureValues {
            gaps: metric_gaps.remove(&title).unwrap_or_default(),
            title,
            unit: Unit::Metric,
            better: Direction::Unknown,
            of_cases,
        }));
        measures
    }

    /// The value of each case for each score, by the score's title in the [summary](Self::summary): the mean over repetitions, or the
    /// reason for its absence. A case that a score does not apply to is not there.
    pub fn score_values(&self) -> BTreeMap<String, BTreeMap<&CaseId, Result<f64, &str>>> {
        Tally::of(&self.cases).values(ValueKind::Score)
    }

    /// The value of each case for each measure.
    pub(crate) fn case_values(&self) -> CaseValues<'_> {
        let tally = Tally::of(&self.cases);
        CaseValues {
            measures: tally.measures(),
            scores: tally.values(ValueKind::Score),
            assertions: tally.values(ValueKind::Assertion),
            metrics: tally.metric_values(),
            labels: tally.case_labels(),
            none: Values::new(),
        }
    }
}

//! The value of each case for each measure.

use std::collections::BTreeMap;

use super::column::Values;
use super::labels::Labels;
use super::tally::Tally;
use crate::measure_key::MeasureKey;
use crate::{CaseId, Domain, Report, Unit, ValueKind};

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

impl<D: Domain> Report<D> {
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

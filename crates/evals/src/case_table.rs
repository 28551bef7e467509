//! Every case of several reports, with its values and ranks in each of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::case_field::first_text;
use crate::{CaseId, CaseReport, Direction, Domain, MeasureValues, Titled, Unit};

/// The cases of several reports, in the order of the first report that has them.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseTable {
    /// The names of the reports.
    pub titles: Vec<String>,
    /// The measures with the units of their values.
    pub measures: Vec<(String, Unit)>,
    /// A row for each case.
    pub rows: Vec<CaseRow>,
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRow {
    /// The case.
    pub id: CaseId,
    /// Its first part as people read it, such as its question.
    pub text: String,
    /// The values of the case: a row for each report, with a value for each of [`CaseTable::measures`]. A value is the mean over the
    /// repetitions of the case. It is `None` if the report has no value of that measure for the case.
    pub values: Vec<Vec<Option<f64>>>,
    /// For each report, the rank of the first relevant document: `2`, or `1/none` if repetitions differ. Empty where no document is relevant.
    pub ranks: Vec<String>,
}

impl CaseTable {
    /// The cases with the measures that are `wanted` by their titles; `None` means the first one with a better direction.
    pub fn of<D: Domain>(reports: &[Titled<'_, D>], wanted: Option<&dyn Fn(&str) -> bool>) -> Self {
        let values = reports.iter().map(|it| it.report.measure_values());
        let values: Vec<Vec<MeasureValues<'_>>> = values.collect();
        let measures = chosen(&values, wanted);
        let mut ids: Vec<&CaseId> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut sides: Vec<BTreeMap<&CaseId, &[CaseReport<D>]>> = Vec::new();
        for titled in reports {
            let cases = &titled.report.cases;
            // Repetitions of a case follow each other.
            let chunks = cases.chunk_by(|one, other| one.id == other.id);
            sides.push(chunks.map(|chunk| (&chunk[0].id, chunk)).collect());
            ids.extend(cases.iter().map(|it| &it.id).filter(|id| seen.insert(*id)));
        }
        let row = |id: &CaseId| {
            let own = || {
                sides
                    .iter()
                    .map(|side| side.get(id).copied().unwrap_or(&[]))
            };
            let first = own().find_map(<[CaseReport<D>]>::first);
            CaseRow {
                id: id.clone(),
                text: first.map(first_text).unwrap_or_default(),
                values: values
                    .iter()
                    .map(|it| values_of(id, it, &measures))
                    .collect(),
                ranks: own().map(ranks).collect(),
            }
        };
        Self {
            titles: reports.iter().map(|it| it.title.to_owned()).collect(),
            rows: ids.into_iter().map(row).collect(),
            measures,
        }
    }
}

fn chosen(
    values: &[Vec<MeasureValues<'_>>],
    wanted: Option<&dyn Fn(&str) -> bool>,
) -> Vec<(String, Unit)> {
    let named = |it: &MeasureValues<'_>| (it.title.clone(), it.unit);
    let mut all = values.iter().flatten();
    let Some(wanted) = wanted else {
        let main = all.find(|it| it.better != Direction::Unknown);
        return main.map(named).into_iter().collect();
    };
    let mut chosen = Vec::new();
    for measure in all.filter(|it| wanted(&it.title)).map(named) {
        if !chosen.contains(&measure) {
            chosen.push(measure);
        }
    }
    chosen
}

fn values_of(
    id: &CaseId,
    values: &[MeasureValues<'_>],
    measures: &[(String, Unit)],
) -> Vec<Option<f64>> {
    let value = |(title, unit): &(String, Unit)| {
        let mut own = values.iter();
        let own = own.find(|it| it.title == *title && it.unit == *unit)?;
        own.of_cases.get(id)?.ok()
    };
    measures.iter().map(value).collect()
}

fn ranks<D: Domain>(repetitions: &[CaseReport<D>]) -> String {
    let ranks = repetitions
        .iter()
        .filter_map(|case| D::gist(case).first_relevant);
    let mut ranks: Vec<String> = ranks.map(|rank| rank.to_string()).collect();
    ranks.dedup();
    ranks.join("/")
}

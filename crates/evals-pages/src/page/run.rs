//! The page of one run.

use std::io::Write;

use anyhow::Result;
use evals::{CaseId, MeasureValues, Report, Summary, Unit};
use evals_html::page::{Case, CaseRows, Column, Opening, Page, Texts, Written};

use super::case::{self, Owner};
use super::cases::{Cases, worst_first};
use super::column::{self, Columns};
use super::paged::HasPage;
use super::source::PageSource;
use super::{facts, listing, notice, omission, score, sentence};
use crate::figures::{self, FigurePlace};

/// The measures whose columns are visible at first.
const VISIBLE: usize = 4;

/// A run with everything that its page shows.
#[derive(Debug)]
pub struct RunPage<'r, D: HasPage> {
    /// The cases.
    pub report: &'r Report<D>,
    /// The numbers of the report.
    pub summary: &'r Summary,
    /// What the page shows beside the report.
    pub source: &'r PageSource,
}

impl<D: HasPage> RunPage<'_, D> {
    /// Writes the page.
    pub fn write(&self, out: impl Write) -> Result<Written> {
        let cases = Cases::of(self.report);
        let measures = self.report.measure_values();
        let ids = worst_first(&cases, &measures);
        let mut columns = Columns::new();
        let first = |id: &CaseId| cases.of_id(id).first();
        columns.push(column::asked(&ids, first));
        columns.extend(column::ending(&ids, &cases));
        let mut visible = 0;
        columns.extend(measures.iter().enumerate().map(|(place, measure)| {
            let is_visible = place == 0 || (visible < VISIBLE && is_common(measure, ids.len()));
            visible += usize::from(is_visible);
            Column {
                is_visible,
                ..column::measure(&ids, measure)
            }
        }));
        let has_texts = self.source.texts == Texts::Kept;
        if has_texts {
            columns.extend(column::labels(&ids, &cases));
        }
        columns.push(column::seconds(&ids, &cases));
        if has_texts {
            columns.extend(column::groups(&ids, first));
        }
        let table = CaseRows {
            ids: ids.iter().map(ToString::to_string).collect(),
            columns: columns.into_columns(),
        };
        let opening = self.opening(&table)?;
        let page = Page {
            texts: self.source.texts,
            place: self.source.place.clone(),
            ..Page::new(&opening, &table)
        };
        let shown = ids.iter().map(|id| self.case(id, &cases));
        Ok(page.write(shown, out)?)
    }

    fn opening(&self, table: &CaseRows) -> Result<Opening> {
        let Self { report, source, .. } = *self;
        let summary = &*omission::summary(self.summary, source.texts);
        let score = score::of_run(summary, source.record.as_deref(), D::CASE);
        let (facts, configuration) = facts::divided(facts::of_run(report, summary, source)?);
        Ok(Opening {
            title: score::name_of(report),
            sentence: sentence::of_run(report, summary, source),
            score,
            notices: notice::of_run(report, summary, source),
            facts,
            configuration,
            matrix: None,
            listings: listing::of_report(report, summary, source),
            figures: figures::of_report(
                report,
                summary,
                &source.bootstrap,
                FigurePlace::Page(table),
            ),
        })
    }

    fn case(&self, id: &CaseId, cases: &Cases<'_, D>) -> Case {
        let repetitions = cases.of_id(id);
        Case {
            id: id.to_string(),
            fields: repetitions.first().map(D::shared).unwrap_or_default(),
            turns: cases.turns(id),
            runs: repetitions
                .iter()
                .map(|it| case::run(it, Owner::default(), &self.source.documents))
                .collect(),
            remarks: Vec::new(),
        }
    }
}

/// Whether at least half of the cases have a value of a measure that an evaluator returned.
fn is_common(measure: &MeasureValues<'_>, cases: usize) -> bool {
    let defined = measure.of_cases.values().filter(|value| value.is_ok());
    measure.unit != Unit::Metric && 2 * defined.count() >= cases
}

//! The page of a change: two runs of the same cases, with both sides of each case.

mod opening;
mod verdict;

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use evals::{CaseId, CaseReport, Change, MeasureValues, Report, Unit};
use evals_html::page::{
    Case, CaseRows, Cell, Column, ColumnKind, Page, Side, Sides, Texts, Written,
};

use self::verdict::Judged;
use super::case::{self, Owner};
use super::cases::{Cases, worst_first};
use super::column::{self, Columns, column};
use super::paged::HasPage;
use super::rank;
use super::source::PageSource;

/// Two runs with everything that the page of their change shows.
#[derive(Debug)]
pub struct ChangePage<'r, D: HasPage> {
    /// The folders of the runs, the earlier one first.
    pub titles: [&'r str; 2],
    /// What people call them.
    pub names: [String; 2],
    /// Their reports.
    pub reports: [&'r Report<D>; 2],
    /// What changed.
    pub change: &'r Change,
    /// Without a manifest, because there are two.
    pub source: &'r PageSource,
}

/// One side with its cases and their values.
struct OneSide<'r, D: HasPage> {
    side: Side,
    name: &'static str,
    cases: Cases<'r, D>,
    measures: Vec<MeasureValues<'r>>,
}

impl<'r, D: HasPage> OneSide<'r, D> {
    fn of(side: Side, name: &'static str, report: &'r Report<D>) -> Self {
        Self {
            side,
            name,
            cases: Cases::of(report),
            measures: report.measure_values(),
        }
    }

    /// The measure with this title, if the side has it.
    fn measure(&self, unit: Unit, title: &str) -> Option<&MeasureValues<'r>> {
        let mut measures = self.measures.iter();
        measures.find(|it| it.unit == unit && it.title == title)
    }
}

impl<D: HasPage> ChangePage<'_, D> {
    /// Writes the page.
    pub fn write(&self, out: impl Write) -> Result<Written> {
        let sides = [
            OneSide::of(Side::Before, "before", self.reports[0]),
            OneSide::of(Side::After, "after", self.reports[1]),
        ];
        let judged = Judged::of(self.change, &sides, self.reports);
        let ids = order(&sides, &judged);
        let table = CaseRows {
            ids: ids.iter().map(ToString::to_string).collect(),
            columns: self.columns(&ids, &sides, &judged),
        };
        let opening = opening::of(self, &judged);
        let page = Page {
            texts: self.source.texts,
            place: self.source.place.clone(),
            sides: Some(Sides {
                before: self.names[0].clone(),
                after: self.names[1].clone(),
            }),
            ..Page::new(&opening, &table)
        };
        Ok(page.write(ids.iter().map(|id| self.case(id, &sides, &judged)), out)?)
    }

    fn columns(
        &self,
        ids: &[&CaseId],
        sides: &[OneSide<'_, D>; 2],
        judged: &Judged<'_>,
    ) -> Vec<Column> {
        let first = |id: &CaseId| first(id, sides);
        let mut columns = Columns::new();
        columns.push(column::asked(ids, first));
        let verdicts = ids
            .iter()
            .map(|id| Cell::Text(judged.verdict(id).name().to_owned()));
        columns.push(column("change", ColumnKind::Label, verdicts.collect()));
        for (place, measure) in self.change.measures.iter().enumerate() {
            let is_visible = place == 0;
            let values = sides
                .each_ref()
                .map(|it| it.measure(measure.unit, &measure.measure));
            let [Some(before), Some(after)] = values else {
                continue;
            };
            for (side, values) in sides.iter().zip([before, after]) {
                columns.push(Column {
                    is_visible,
                    ..of_side(column::measure(ids, values), side.name)
                });
            }
            columns.push(Column {
                is_visible,
                ..difference(ids, before, after)
            });
        }
        for side in sides {
            let ranks = rank::first_relevant(ids, &side.cases);
            columns.extend(ranks.map(|it| of_side(it, side.name)));
        }
        columns.push(rank::number(ids, &sides[1].cases));
        for side in sides {
            let endings = column::ending(ids, &side.cases);
            columns.extend(endings.map(|it| of_side(it, side.name)));
        }
        for side in sides {
            let seconds = column::seconds(ids, &side.cases);
            columns.push(Column {
                is_visible: false,
                ..of_side(seconds, side.name)
            });
        }
        if self.source.texts == Texts::Kept {
            columns.extend(column::groups(ids, first));
        }
        columns.into_columns()
    }

    fn case(&self, id: &CaseId, sides: &[OneSide<'_, D>; 2], judged: &Judged<'_>) -> Case {
        let runs = sides.iter().flat_map(|side| {
            let owner = Owner {
                side: Some(side.side),
                system: None,
            };
            let repetitions = side.cases.of_id(id).iter();
            repetitions.map(move |it| case::run(it, owner, &self.source.documents))
        });
        let verdict = judged.verdict(id);
        let mut turns = sides.iter().rev().map(|side| side.cases.turns(id));
        Case {
            id: id.to_string(),
            fields: first(id, sides).map(D::shared).unwrap_or_default(),
            turns: turns.find(|it| !it.is_empty()).unwrap_or_default(),
            runs: runs.collect(),
            remarks: vec![verdict.name().to_owned()],
        }
    }
}

/// Every case of either side: what got worse first, then what got better, then what is wrong in both.
fn order<'c, D: HasPage>(sides: &[OneSide<'c, D>; 2], judged: &Judged<'_>) -> Vec<&'c CaseId> {
    let [before, after] = sides;
    let mut ids = worst_first(&after.cases, &after.measures);
    let seen: BTreeSet<&CaseId> = ids.iter().copied().collect();
    let gone = before.cases.ids().iter().copied();
    ids.extend(gone.filter(|id| !seen.contains(id)));
    // Stable, so that cases of one verdict keep their order.
    ids.sort_by(|left, right| {
        let [left, right] = [left, right].map(|id| (judged.verdict(id), judged.gain(id)));
        let by_verdict = left.0.cmp(&right.0);
        by_verdict.then_with(|| left.1.total_cmp(&right.1))
    });
    ids
}

/// The case as it is after the change, or before it where it is gone.
fn first<'r, D: HasPage>(id: &CaseId, sides: &[OneSide<'r, D>; 2]) -> Option<&'r CaseReport<D>> {
    let mut newest_first = sides.iter().rev();
    newest_first.find_map(|side| side.cases.of_id(id).first())
}

/// The column of one side.
fn of_side(column: Column, side: &str) -> Column {
    Column {
        title: format!("{} {side}", column.title),
        key: format!("{} {side}", column.key),
        ..column
    }
}

/// The difference of a measure in each case.
fn difference(ids: &[&CaseId], before: &MeasureValues<'_>, after: &MeasureValues<'_>) -> Column {
    let cells = ids.iter().map(
        |id| match (before.of_cases.get(*id), after.of_cases.get(*id)) {
            (Some(Ok(before)), Some(Ok(value))) => {
                let difference = evals_metrics::difference(*before, *value);
                Cell::Number(difference, after.unit.print_signed(difference))
            }
            (Some(Err(reason)), _) => undefined("before", reason),
            (_, Some(Err(reason))) => undefined("after", reason),
            (None, _) | (_, None) => Cell::Empty,
        },
    );
    let kind = match after.unit {
        Unit::Seconds => ColumnKind::Seconds,
        Unit::Score | Unit::PassRate | Unit::Share | Unit::Metric => ColumnKind::Number,
    };
    Column {
        higher_is_better: column::higher_is_better(after.better),
        ..of_side(column(&after.title, kind, cells.collect()), "change")
    }
}

fn undefined(side: &str, reason: &str) -> Cell {
    Cell::Undefined {
        undefined: format!("no value {side}: {reason}"),
    }
}

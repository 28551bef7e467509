//! The columns of a page's table.

use std::collections::{BTreeMap, BTreeSet};

use evals::{CaseId, CaseReport, Direction, Domain, MeasureValues, Unit, Value, group_name};
use evals_html::page::{Cell, Column, ColumnKind};
use evals_messages::visible::folded;

use super::cases::Cases;
use super::paged::HasPage;
use crate::figures::{ENDING_COLUMN, service_time};

/// The longest question in the table in characters. The case has all of it.
const LONGEST: usize = 300;
/// The most groups of a key that a filter offers. A key with more, such as a date, has no column.
const MOST_GROUPS: usize = 50;

/// Columns with distinct keys.
#[derive(Debug, Default)]
pub(super) struct Columns {
    columns: Vec<Column>,
}

impl Columns {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a column. If another one has its key, it gets a number.
    pub(super) fn push(&mut self, column: Column) {
        let is_taken = |key: &str| self.columns.iter().any(|it| it.key == key);
        let numbered = (2..).map(|number| format!("{} {number}", column.key));
        let mut keys = std::iter::once(column.key.clone()).chain(numbered);
        let key = keys.find(|key| !is_taken(key)).unwrap_or_default();
        self.columns.push(Column { key, ..column });
    }

    pub(super) fn extend(&mut self, columns: impl IntoIterator<Item = Column>) {
        for column in columns {
            self.push(column);
        }
    }

    pub(super) fn into_columns(self) -> Vec<Column> {
        self.columns
    }
}

/// A column of one kind, visible and without a better end.
pub(super) fn column(key: &str, kind: ColumnKind, cells: Vec<Cell>) -> Column {
    Column {
        key: key.to_owned(),
        title: key.to_owned(),
        kind,
        higher_is_better: None,
        is_visible: true,
        cells,
    }
}

/// What was asked, cut to one short line.
pub(super) fn asked<'r, D: HasPage>(
    ids: &[&CaseId],
    first: impl Fn(&CaseId) -> Option<&'r CaseReport<D>>,
) -> Column {
    let cell = |id: &&CaseId| {
        let asked = first(id).map(D::asked).unwrap_or_default();
        Cell::Text(cut(&folded(&asked)))
    };
    column(D::CASE, ColumnKind::Text, ids.iter().map(cell).collect())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Where the cases broke; `None` if the report does not say. Of repetitions, the earliest stage counts.
pub(super) fn ending<D: HasPage>(ids: &[&CaseId], cases: &Cases<'_, D>) -> Option<Column> {
    let mut any = false;
    let cells = ids.iter().map(|id| {
        let endings = cases.of_id(id).iter().filter_map(D::ending);
        let Some(ending) = endings.min() else {
            return Cell::Empty;
        };
        any = true;
        Cell::Text(ending.name().to_owned())
    });
    let cells = cells.collect();
    any.then(|| column(ENDING_COLUMN, ColumnKind::Label, cells))
}

/// The values of a measure.
pub(super) fn measure(ids: &[&CaseId], measure: &MeasureValues<'_>) -> Column {
    let cells = ids.iter().map(|id| match measure.of_cases.get(*id) {
        Some(Ok(value)) => value_cell(measure.unit, *value),
        Some(Err(reason)) => Cell::Undefined {
            undefined: (*reason).to_owned(),
        },
        None => Cell::Empty,
    });
    let kind = kind_of(measure.unit);
    Column {
        higher_is_better: higher_is_better(measure.better),
        ..column(&measure.title, kind, cells.collect())
    }
}

pub(super) fn higher_is_better(better: Direction) -> Option<bool> {
    match better {
        Direction::Higher => Some(true),
        Direction::Lower => Some(false),
        Direction::Unknown => None,
    }
}

pub(super) fn kind_of(unit: Unit) -> ColumnKind {
    match unit {
        Unit::PassRate => ColumnKind::Verdict,
        Unit::Seconds => ColumnKind::Seconds,
        Unit::Score | Unit::Share | Unit::Metric => ColumnKind::Number,
    }
}

/// A formatted value. A pass rate of one run is a verdict.
pub(super) fn value_cell(unit: Unit, value: f64) -> Cell {
    let shown = match unit {
        Unit::PassRate if value.total_cmp(&1.0).is_eq() => "passed".to_owned(),
        Unit::PassRate if value.total_cmp(&0.0).is_eq() => "failed".to_owned(),
        Unit::PassRate | Unit::Score | Unit::Share | Unit::Metric | Unit::Seconds => {
            unit.print(value)
        }
    };
    Cell::Number(value, shown)
}

/// A column for each measure of labels. Repetitions with several labels show them all.
pub(super) fn labels<D: Domain>(ids: &[&CaseId], cases: &Cases<'_, D>) -> Vec<Column> {
    let mut names: Vec<&str> = Vec::new();
    let repetitions = || ids.iter().flat_map(|id| cases.of_id(id));
    for outcome in repetitions().flat_map(|case| &case.outcomes) {
        if matches!(outcome.value, Value::Label(_)) && !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    let columns = names.into_iter().map(|name| {
        let cells = ids.iter().map(|id| label(cases.of_id(id), name));
        column(name, ColumnKind::Label, cells.collect())
    });
    columns.collect()
}

fn label<D: Domain>(repetitions: &[CaseReport<D>], name: &str) -> Cell {
    let mut labels = BTreeSet::new();
    let mut reason = None;
    for outcome in repetitions.iter().filter_map(|case| case.outcome(name)) {
        match &outcome.value {
            Value::Label(label) => {
                labels.insert(label.as_str());
            }
            Value::Undefined => reason.clone_from(&outcome.reason),
            Value::Assertion(_) | Value::Score(_) => {}
        }
    }
    if !labels.is_empty() {
        return Cell::Text(labels.into_iter().collect::<Vec<_>>().join(", "));
    }
    reason.map_or(Cell::Empty, |undefined| Cell::Undefined { undefined })
}

/// The time of each case: the mean over its repetitions of the service times of all stages but judging. Stages from a cache count with
/// their original times. Without stages it is the time of the task.
pub(super) fn seconds<D: Domain>(ids: &[&CaseId], cases: &Cases<'_, D>) -> Column {
    let cells = ids.iter().map(|id| {
        let repetitions = cases.of_id(id);
        let succeeded = repetitions.iter().filter(|it| it.result.output().is_some());
        let untimed = repetitions.iter().find_map(|it| it.untimed());
        let times: Vec<f64> = succeeded
            .filter(|it| it.untimed().is_none())
            .map(|it| service_time(it).unwrap_or(it.duration.as_secs_f64()))
            .collect();
        match u32::try_from(times.len()) {
            Ok(count) if count > 0 => {
                value_cell(Unit::Seconds, times.iter().sum::<f64>() / f64::from(count))
            }
            _ if repetitions.is_empty() => Cell::Empty,
            _ => Cell::Undefined {
                undefined: untimed.unwrap_or("task failed").to_owned(),
            },
        }
    });
    Column {
        title: "time".to_owned(),
        higher_is_better: Some(false),
        ..column("seconds", ColumnKind::Seconds, cells.collect())
    }
}

/// A hidden column for each key of the metadata that has a few values, for filters.
pub(super) fn groups<'r, D: Domain>(
    ids: &[&CaseId],
    first: impl Fn(&CaseId) -> Option<&'r CaseReport<D>>,
) -> Vec<Column> {
    let of_cases = ids.iter().map(|id| first(id).map(CaseReport::group_keys));
    let of_cases: Vec<_> = of_cases.map(Option::unwrap_or_default).collect();
    let keys: BTreeSet<&String> = of_cases.iter().flat_map(|keys| keys.keys()).collect();
    let columns = keys.into_iter().filter_map(|key| {
        let names = of_cases.iter().map(|keys| group_name(keys.get(key)));
        let names: Vec<String> = names.collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &names {
            *counts.entry(name).or_default() += 1;
        }
        let is_useful = (2..=MOST_GROUPS).contains(&counts.len()) && counts.len() < names.len();
        is_useful.then(|| Column {
            is_visible: false,
            ..column(
                key,
                ColumnKind::Label,
                names.iter().cloned().map(Cell::Text).collect(),
            )
        })
    });
    columns.collect()
}

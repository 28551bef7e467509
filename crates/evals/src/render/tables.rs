//! The tables of reports, comparisons and changes as texts: what every other renderer prints, without its layout.

use evals_messages::visible::{beginning, single_line};

use super::analyses::{self, Body};
use super::glyphs::Glyphs;
use super::grid::{Cell, Grid};
use super::side_by_side::{self, Intervals};
use super::{
    Methods, change as changes, gate as gates, groups, latency, measures, standings,
    standings_notes,
};
use crate::{
    Analysis, CaseRow, CaseTable, Change, Comparison, Domain, GateReport, GatedRun, Report,
    Standings, Summary,
};

const GLYPHS: &Glyphs = Glyphs::UNICODE;

/// A table as texts. Numbers are printed as on the console.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The heads of the columns. The first one names what the rows are, such as `Measure`.
    pub heads: Vec<String>,
    /// The rows, each with as many cells as there are heads. The first cell names the row.
    pub rows: Vec<Vec<String>>,
    /// Sentences that belong below the table.
    pub notes: Vec<String>,
}

impl From<Grid> for Table {
    fn from(grid: Grid) -> Self {
        let texts = |row: Vec<Cell>| row.into_iter().map(|cell| cell.text).collect();
        Self {
            heads: grid.columns.into_iter().map(|it| it.title).collect(),
            rows: grid.rows.into_iter().map(texts).collect(),
            notes: grid.notes,
        }
    }
}

/// The tables of a report: measures, bounds of pass rates if cases failed, groups, latency, and the analyses of report evaluators.
/// Tables without rows are left out.
pub fn report<D: Domain>(report: &Report<D>, summary: &Summary) -> Vec<Table> {
    let mut tables = self::summary(summary);
    let analyses = report.analyses.iter().map(analysis);
    tables.extend(analyses.filter(|table| !table.rows.is_empty()));
    tables
}

/// The tables of a summary: measures, bounds of pass rates if cases failed, groups, and latency. Tables without rows are left out.
pub fn summary(summary: &Summary) -> Vec<Table> {
    let mut tables = vec![
        measures(summary),
        measures::accuracy(summary, GLYPHS).into(),
    ];
    tables.extend(groups(summary));
    tables.push(latency::grid(summary, GLYPHS).into());
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Several reports side by side.
pub fn comparison(comparison: &Comparison) -> Table {
    let winner = GLYPHS.winner;
    let mark = format!(" {winner}");
    let grid = side_by_side::grid(comparison, &mark, Intervals::Beside, GLYPHS);
    Table {
        notes: side_by_side::notes(comparison, GLYPHS, &format!("{winner}:"))
            .into_iter()
            .chain(side_by_side::intervals(comparison, Methods::Named))
            .collect(),
        ..grid.into()
    }
}

/// The tables of standings, each with its heading: means with letters, means of the first measure, pairs,
/// service times, disagreements, and groups if asked for. The first table has the notes on all of them.
pub fn standings(standings: &Standings) -> Vec<(String, Table)> {
    let mut notes = standings_notes::warnings(standings);
    notes.extend(standings_notes::notes(standings, GLYPHS));
    let sections = standings::sections(standings, GLYPHS, None).into_iter();
    let tables = sections.map(|it| (it.heading.clone(), it.into()));
    let mut tables: Vec<(String, Table)> = tables.collect();
    if let Some((_, first)) = tables.first_mut() {
        first.notes = notes;
    }
    tables
}

/// A row for each case with its value in each report, and the rank of the first relevant document in brackets.
pub fn cases(table: &CaseTable) -> Table {
    let mut heads = vec!["Case".to_owned()];
    for title in &table.titles {
        heads.extend(
            table
                .measures
                .iter()
                .map(|(measure, _)| match &*table.measures {
                    [_] => title.clone(),
                    _ => format!("{title}: {measure}"),
                }),
        );
    }
    let row = |case: &CaseRow| {
        let text = beginning(&single_line(&case.text), standings::SHOWN_TEXT);
        let mut cells = vec![format!("{}  {text}", single_line(case.id.as_str()))];
        for (values, ranks) in case.values.iter().zip(&case.ranks) {
            let values = values.iter().zip(&table.measures);
            cells.extend(values.map(|(value, (_, unit))| {
                let value = GLYPHS.shown(*value, |value| unit.print(value));
                match &**ranks {
                    "" => value,
                    ranks => format!("{value} ({ranks})"),
                }
            }));
        }
        cells
    };
    let names: Vec<&str> = table
        .measures
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut notes = vec![format!("{} of every case", names.join(", "))];
    if table
        .rows
        .iter()
        .any(|it| it.ranks.iter().any(|it| !it.is_empty()))
    {
        notes.push("in brackets: the rank of the first relevant document".to_owned());
    }
    Table {
        heads,
        rows: table.rows.iter().map(row).collect(),
        notes,
    }
}

/// The tables of a change: measures, and groups if asked for.
pub fn change(change: &Change) -> Vec<Table> {
    let measures = Table {
        notes: changes::notes(change, GLYPHS, &[]),
        ..changes::grid(change, GLYPHS).into()
    };
    let grouped = change.groups.iter();
    let grouped = grouped.flat_map(|it| groups::changes(it, GLYPHS));
    std::iter::once(measures)
        .chain(grouped.map(of_groups))
        .collect()
}

/// The checks of one run of a gate, with the reason of each.
pub fn gate(report: &GateReport, run: &GatedRun) -> Table {
    let reasons = gates::reasons(run).into_iter();
    Table {
        notes: reasons.map(|(_, line)| line).collect(),
        ..gates::grid(report, run, GLYPHS).into()
    }
}

/// The means with their intervals; no rows if there are none.
fn measures(summary: &Summary) -> Table {
    let mut table = Table::from(measures::grid(summary, &measures::rows(summary), GLYPHS));
    // An interval stands beside its mean.
    if table.heads[2] != "n" {
        table.heads[1] = format!("Value [{}]", table.heads.remove(2));
        for row in &mut table.rows {
            let interval = row.remove(2);
            if !interval.is_empty() {
                row[1] = format!("{} {interval}", row[1]);
            }
        }
    }
    table.notes = measures::notes(summary, Methods::Named, GLYPHS);
    table
}

/// The tables of a report's groups: one for each measure, with a row for each group.
pub fn groups(summary: &Summary) -> Vec<Table> {
    let tables = summary.groups.iter();
    let tables = tables.flat_map(|it| groups::summarised(it, GLYPHS));
    tables.map(of_groups).collect()
}

/// The heading stands over the names of the groups.
fn of_groups(mut grid: Grid) -> Table {
    grid.columns[0].title = std::mem::take(&mut grid.heading);
    grid.into()
}

fn analysis(analysis: &Analysis) -> Table {
    let shown = analyses::shown(analysis, GLYPHS);
    let description = shown.description.into_iter();
    match shown.body {
        Body::Lines(lines) => Table {
            heads: vec![shown.title],
            rows: lines.into_iter().map(|line| vec![line]).collect(),
            notes: description.collect(),
        },
        Body::Table(grid) => Table {
            notes: std::iter::once(shown.title).chain(description).collect(),
            ..grid.into()
        },
    }
}

//! The tables of reports, comparisons and changes as texts: what every other renderer prints, without its layout.

use evals_messages::visible::{beginning, single_line};

use super::analyses::{self, Body};
use super::glyphs::Glyphs;
use super::groups::{self, GroupTable};
use super::latency::TOO_FEW_SAMPLES;
use super::side_by_side::{self, Intervals};
use super::{
    Methods, accuracy, change as changes, clusters, exclusions, gate as gates, interval_methods,
    latency, measures, standings,
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
    let mut tables = vec![measures(summary), accuracy(summary)];
    tables.extend(groups(summary));
    tables.push(latency(summary));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Several reports side by side.
pub fn comparison(comparison: &Comparison) -> Table {
    let titles = comparison.reports.iter().map(|report| report.title.clone());
    let rows = comparison.rows.iter().map(|row| {
        let cells = row.cells.iter().enumerate().map(|(place, cell)| {
            let mark = match row.winner {
                Some(best) if best == place => format!(" {}", GLYPHS.winner),
                _ => String::new(),
            };
            side_by_side::cell(row, cell, &mark, Intervals::Beside, GLYPHS)
        });
        std::iter::once(side_by_side::title(row))
            .chain(cells)
            .collect()
    });
    let mark = format!("{}:", GLYPHS.winner);
    Table {
        heads: std::iter::once("Measure".to_owned())
            .chain(titles)
            .collect(),
        rows: rows.collect(),
        notes: side_by_side::notes(comparison, GLYPHS, &mark)
            .into_iter()
            .chain(side_by_side::intervals(comparison, Methods::Named))
            .collect(),
    }
}

/// The tables of standings, each with its heading: means with letters, means of the first measure, pairs,
/// service times, disagreements, and groups if asked for. The first table has the notes on all of them.
pub fn standings(standings: &Standings) -> Vec<(String, Table)> {
    let mut notes = standings::warnings(standings);
    notes.extend(standings::notes(standings, GLYPHS));
    let mut tables: Vec<(String, Table)> = standings::sections(standings, GLYPHS)
        .into_iter()
        .map(|section| {
            let table = Table {
                heads: section.heads,
                rows: section.rows.into_iter().map(|row| row.cells).collect(),
                notes: section.note.into_iter().collect(),
            };
            (section.heading, table)
        })
        .collect();
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
                let value = value.map_or_else(undefined, |value| unit.print(value));
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
    let heads = changes::titles(change).into_iter();
    let mut heads: Vec<String> = heads.map(str::to_owned).collect();
    heads.insert(changes::INTERVAL, changes::interval_title(change));
    let rows = changes::rows(change, GLYPHS).into_iter().map(|row| {
        let mut cells = row.cells;
        cells.insert(changes::INTERVAL, row.interval);
        cells
    });
    let mut tables = vec![Table {
        heads,
        rows: rows.collect(),
        notes: changes::notes(change, GLYPHS),
    }];
    let grouped = change.groups.iter();
    tables.extend(
        grouped
            .flat_map(|it| groups::changes(it, GLYPHS))
            .map(of_groups),
    );
    tables
}

/// The checks of one run of a gate, with the reason of each.
pub fn gate(report: &GateReport, run: &GatedRun) -> Table {
    let heads = gates::titles(report).into_iter();
    let mut heads: Vec<String> = heads.map(str::to_owned).collect();
    heads.insert(gates::INTERVAL, gates::interval_title(report));
    let rows = gates::rows(report, run, GLYPHS).into_iter().map(|row| {
        let mut cells = row.cells;
        cells.insert(gates::INTERVAL, row.interval);
        cells
    });
    Table {
        heads,
        rows: rows.collect(),
        notes: gates::reasons(run)
            .into_iter()
            .map(|(_, line)| line)
            .collect(),
    }
}

/// The means with their intervals; no rows if there are none.
pub(super) fn measures(summary: &Summary) -> Table {
    let rows = measures::rows(summary);
    let value = match measures::confidence_percent(summary) {
        Some(percent) => format!("Value [{percent} interval]"),
        None => "Value".to_owned(),
    };
    let any_missing = rows.iter().any(|row| row.missing > 0);
    let mut heads = vec!["Measure", &value, "n", "Excluded"];
    heads.extend(any_missing.then_some("Missing repetitions"));
    let heads = heads.into_iter().map(str::to_owned).collect();
    let rows = rows.into_iter().map(|row| {
        let value = match (row.value, row.interval) {
            (Some(value), Some(interval)) => format!("{value} {interval}"),
            (Some(value), None) => value,
            (None, _) => GLYPHS.undefined.to_owned(),
        };
        let cells = [row.name, value, row.n.to_string(), row.excluded.to_string()];
        let missing = any_missing.then(|| row.missing.to_string());
        cells.into_iter().chain(missing).collect()
    });
    Table {
        heads,
        rows: rows.collect(),
        notes: exclusions::lines(summary, GLYPHS)
            .into_iter()
            .chain(interval_methods::of_summary(summary))
            .chain(clusters::lines(summary.clusters.as_ref()))
            .collect(),
    }
}

/// The pass rates with their bounds.
pub(super) fn accuracy(summary: &Summary) -> Table {
    let rows = accuracy::rows(summary).into_iter().map(|row| {
        let shares = row.shares.into_iter();
        let shares = shares.map(|share| share.unwrap_or_else(undefined));
        std::iter::once(row.name).chain(shares).collect()
    });
    Table {
        heads: accuracy::TITLES.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes: vec![accuracy::LEGEND.to_owned()],
    }
}

/// The tables of a report's groups: one for each measure, with a row for each group.
pub fn groups(summary: &Summary) -> Vec<Table> {
    let tables = summary.groups.iter();
    let tables = tables.flat_map(|it| groups::summarised(it, GLYPHS));
    tables.map(of_groups).collect()
}

pub(super) fn of_groups(table: GroupTable) -> Table {
    let titles = table.titles.into_iter().skip(1);
    Table {
        heads: std::iter::once(table.heading).chain(titles).collect(),
        rows: table.rows.into_iter().map(|row| row.cells).collect(),
        notes: table.note.into_iter().collect(),
    }
}

/// The times of each stage.
pub(super) fn latency(summary: &Summary) -> Table {
    let rows = latency::rows(summary, GLYPHS);
    let any_undefined = latency::any_undefined(&rows);
    let titles = ["Latency"]
        .into_iter()
        .chain(latency::titles(any_undefined));
    let heads = titles.chain(["n"]).map(str::to_owned).collect();
    let rows = rows.into_iter().map(|row| {
        let (stage, n) = (row.stage.clone(), row.n.to_string());
        let times = row.times(any_undefined);
        let times = times.map(|time| time.unwrap_or_else(undefined));
        std::iter::once(stage).chain(times).chain([n]).collect()
    });
    let note = any_undefined.then(|| format!("{} {TOO_FEW_SAMPLES}", GLYPHS.undefined));
    Table {
        heads,
        rows: rows.collect(),
        notes: note.into_iter().collect(),
    }
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
        Body::Table { heads, rows } => Table {
            heads,
            rows,
            notes: std::iter::once(shown.title).chain(description).collect(),
        },
    }
}

fn undefined() -> String {
    GLYPHS.undefined.to_owned()
}

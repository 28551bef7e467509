//! GitHub-flavoured markdown.

use std::io::{self, Write};

use super::analyses::{self, Body};
use super::escape::escape;
use super::failures::Failures;
use super::glyphs::Glyphs;
use super::grid::Style;
use super::side_by_side::{self, Intervals};
use super::tables::{self, Table};
use super::{Methods, change, gate as gates, headline, trial as trials};
use crate::{Change, Comparison, Domain, GateReport, Report, Standings, Summary, TrialReport};

const GLYPHS: &Glyphs = Glyphs::UNICODE;

/// Writes the aggregates of a report as a document: heading, measures, latencies, analyses, first failures.
pub fn report<D: Domain>(
    mut out: impl Write,
    report: &Report<D>,
    summary: &Summary,
) -> io::Result<()> {
    writeln!(
        out,
        "# {}\n\n{}",
        escape(&summary.name),
        escape(&headline::facts(summary, GLYPHS))
    )?;
    facts(&mut out, report)?;
    if let Some(warning) = headline::interruption(summary) {
        writeln!(out, "\n**{}**", escape(&warning))?;
    }
    for shown in tables::summary(summary) {
        table(&mut out, shown)?;
    }
    analyses(&mut out, report)?;
    failures(&mut out, &Failures::of(report))
}

/// Writes several reports side by side, the best of each row in bold.
pub fn comparison(mut out: impl Write, comparison: &Comparison) -> io::Result<()> {
    let grid = side_by_side::grid(comparison, "", Intervals::Beside, GLYPHS);
    head(&mut out, grid.columns.iter().map(|it| escape(&it.title)))?;
    for row in &grid.rows {
        // Other cells hold only numbers and the brackets of intervals, so they need no escaping.
        let cells = row
            .iter()
            .enumerate()
            .map(|(place, cell)| match cell.style {
                _ if place == 0 => escape(&cell.text),
                Style::Bold => format!("**{}**", cell.text),
                _ => cell.text.clone(),
            });
        line(&mut out, cells)?;
    }
    let mut lines = side_by_side::notes(comparison, GLYPHS, "in bold:");
    lines.extend(side_by_side::intervals(comparison, Methods::Named));
    notes(&mut out, &lines)
}

/// Writes a change: a row for each measure, then the cases that changed most by the first measure.
pub fn change(mut out: impl Write, change: &Change) -> io::Result<()> {
    for (what, report) in [("before", &change.before), ("after", &change.after)] {
        writeln!(out, "- {what}: {}", escape(&report.title))?;
    }
    for difference in &change.made_by {
        writeln!(out, "- {}", escape(difference))?;
    }
    let mut tables = tables::change(change).into_iter();
    if let Some(measures) = tables.next() {
        let lines = measures.notes.clone();
        table(
            &mut out,
            Table {
                notes: Vec::new(),
                ..measures
            },
        )?;
        notes(&mut out, &lines)?;
    }
    for groups in tables {
        table(&mut out, groups)?;
    }
    for (heading, cases) in change::cases(change) {
        writeln!(out, "\n{}:\n", escape(&heading))?;
        for lines in cases {
            for (place, line) in lines.iter().enumerate() {
                let indent = if place == 0 { "" } else { "  " };
                writeln!(out, "{indent}- {}", escape(line))?;
            }
        }
    }
    Ok(())
}

/// Writes the verdicts of a gate: the last line first, then a table and the reasons for each run.
pub fn gate(mut out: impl Write, report: &GateReport) -> io::Result<()> {
    writeln!(out, "**{}**", escape(&gates::verdict_line(report)))?;
    for run in &report.runs {
        notes(&mut out, &gates::about(run))?;
        notes(&mut out, &run.made_by)?;
        table(&mut out, tables::gate(report, run))?;
    }
    notes(&mut out, &gates::notes(report))
}

/// Writes standings: what differs between the runs, then each table under its heading.
pub fn standings(mut out: impl Write, standings: &Standings) -> io::Result<()> {
    for line in &standings.made_by {
        writeln!(out, "- {}", escape(line))?;
    }
    for (heading, section) in tables::standings(standings) {
        writeln!(out, "\n{}:", escape(&heading))?;
        writeln!(out)?;
        head(&mut out, section.heads.iter().map(|it| escape(it)))?;
        for row in &section.rows {
            line(&mut out, row.iter().map(|it| cell(it)))?;
        }
        notes(&mut out, &section.notes)?;
    }
    Ok(())
}

/// A cell that may hold foreign text. Numbers and intervals stay as they are.
fn cell(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " .,+-[]µ%–".contains(it);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        escape(text)
    }
}

/// Writes the self-test of a gate.
pub fn trial(mut out: impl Write, report: &TrialReport) -> io::Result<()> {
    notes(&mut out, &trials::about(report))?;
    let mut shares = Table::from(trials::grid(report, Intervals::Beside, GLYPHS));
    // The first cell is escaped with the table, and shares hold only numbers.
    for row in &mut shares.rows {
        row[1] = escape(&row[1]);
    }
    table(&mut out, shares)?;
    notes(&mut out, &trials::notes(report, GLYPHS))
}

fn facts<D: Domain>(mut out: impl Write, report: &Report<D>) -> io::Result<()> {
    let facts = report.facts();
    let facts: Vec<String> = facts
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    notes(&mut out, &facts)
}

/// Writes a table and its notes after an empty line, unless it has no rows. The first cells may hold any text; the others are numbers
/// and texts of ours, which need no escaping.
pub fn table(mut out: impl Write, table: Table) -> io::Result<()> {
    if table.rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    head(&mut out, named(table.heads))?;
    for row in table.rows {
        line(&mut out, named(row))?;
    }
    notes(&mut out, &table.notes)
}

/// The cells of a row with its name escaped.
fn named(mut cells: Vec<String>) -> Vec<String> {
    if let Some(name) = cells.first_mut() {
        *name = escape(name);
    }
    cells
}

fn analyses<D: Domain>(mut out: impl Write, report: &Report<D>) -> io::Result<()> {
    for analysis in &report.analyses {
        let shown = analyses::shown(analysis, GLYPHS);
        writeln!(out, "\n## {}", escape(&shown.title))?;
        if let Some(description) = &shown.description {
            writeln!(out, "\n{}", escape(description))?;
        }
        match shown.body {
            Body::Lines(lines) => notes(&mut out, &lines)?,
            Body::Table(grid) => {
                writeln!(out)?;
                head(&mut out, grid.columns.iter().map(|it| escape(&it.title)))?;
                for row in grid.rows {
                    line(&mut out, row.iter().map(|cell| escape(&cell.text)))?;
                }
            }
        }
    }
    Ok(())
}

fn failures(mut out: impl Write, failures: &Failures) -> io::Result<()> {
    if failures.total == 0 {
        return Ok(());
    }
    writeln!(out, "\n## Failures ({})\n", failures.total)?;
    for (place, message) in &failures.first {
        writeln!(out, "- {}: {}", escape(place), escape(message))?;
    }
    match failures.more() {
        0 => Ok(()),
        more => writeln!(out, "- and {more} more"),
    }
}

/// Writes the head of a table: the first column is aligned left, the others right.
fn head(mut out: impl Write, titles: impl IntoIterator<Item = String>) -> io::Result<()> {
    let titles: Vec<String> = titles.into_iter().collect();
    let rules = (0..titles.len()).map(|column| if column == 0 { ":--" } else { "--:" }.to_owned());
    let rules: Vec<String> = rules.collect();
    line(&mut out, titles)?;
    line(&mut out, rules)
}

fn line(mut out: impl Write, cells: impl IntoIterator<Item = String>) -> io::Result<()> {
    for cell in cells {
        write!(out, "| {cell} ")?;
    }
    writeln!(out, "|")
}

fn notes(mut out: impl Write, notes: &[String]) -> io::Result<()> {
    if !notes.is_empty() {
        writeln!(out)?;
    }
    for note in notes {
        writeln!(out, "- {}", escape(note))?;
    }
    Ok(())
}

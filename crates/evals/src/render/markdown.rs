//! GitHub-flavoured markdown.

use std::io::{self, Write};

use super::analyses::{self, Body};
use super::escape::escape;
use super::failures::Failures;
use super::glyphs::Glyphs;
use super::groups::{self, GroupTable};
use super::latency::TOO_FEW_SAMPLES;
use super::side_by_side::{self, Intervals};
use super::{accuracy, change, exclusions, headline, latency, measures};
use crate::{Change, Comparison, Domain, Report, Summary};

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
    measures(&mut out, summary)?;
    accuracy(&mut out, summary)?;
    let tables = summary.groups.iter();
    group_tables(
        &mut out,
        tables.flat_map(|it| groups::summarised(it, GLYPHS)),
    )?;
    latency(&mut out, summary)?;
    analyses(&mut out, report)?;
    failures(&mut out, &Failures::of(report))
}

/// Writes several reports side by side, the best of each row in bold.
pub fn comparison(mut out: impl Write, comparison: &Comparison) -> io::Result<()> {
    let titles = comparison
        .reports
        .iter()
        .map(|report| escape(&report.title));
    head(
        &mut out,
        std::iter::once("Measure".to_owned()).chain(titles),
    )?;
    for row in &comparison.rows {
        let cells = row.cells.iter().enumerate().map(|(position, cell)| {
            // Cells hold only numbers and the brackets of intervals, so they need no escaping.
            let text = side_by_side::cell(row, cell, "", Intervals::Beside, GLYPHS);
            if row.winner == Some(position) {
                format!("**{text}**")
            } else {
                text
            }
        });
        line(
            &mut out,
            std::iter::once(escape(&side_by_side::title(row))).chain(cells),
        )?;
    }
    notes(
        &mut out,
        &side_by_side::notes(comparison, GLYPHS, "in bold:"),
    )
}

/// Writes a change: a row for each measure, then the cases that changed most by the first measure.
pub fn change(mut out: impl Write, change: &Change) -> io::Result<()> {
    for (what, report) in [("before", &change.before), ("after", &change.after)] {
        writeln!(out, "- {what}: {}", escape(&report.title))?;
    }
    for difference in &change.made_by {
        writeln!(out, "- {}", escape(difference))?;
    }
    if !change.measures.is_empty() {
        writeln!(out)?;
        let mut titles = change::TITLES.map(str::to_owned).to_vec();
        titles.insert(change::INTERVAL, change::interval_title(change));
        head(&mut out, titles)?;
        for row in change::rows(change, GLYPHS) {
            let mut cells = row.cells.to_vec();
            cells[0] = escape(&cells[0]);
            cells.insert(change::INTERVAL, row.interval);
            line(&mut out, cells)?;
        }
    }
    notes(&mut out, &change::notes(change, GLYPHS))?;
    let tables = change.groups.iter();
    group_tables(&mut out, tables.flat_map(|it| groups::changes(it, GLYPHS)))?;
    for (heading, lines) in change::cases(change) {
        writeln!(out, "\n{}:", escape(&heading))?;
        notes(&mut out, &lines)?;
    }
    Ok(())
}

fn facts<D: Domain>(mut out: impl Write, report: &Report<D>) -> io::Result<()> {
    let facts = report.facts();
    let facts: Vec<String> = facts
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    notes(&mut out, &facts)
}

fn measures(mut out: impl Write, summary: &Summary) -> io::Result<()> {
    let rows = measures::rows(summary);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let value = match measures::confidence_percent(summary) {
        Some(percent) => format!("Value [{percent} interval]"),
        None => "Value".to_owned(),
    };
    let any_missing = rows.iter().any(|row| row.missing > 0);
    let mut titles = vec!["Measure", &value, "n", "Excluded"];
    titles.extend(any_missing.then_some("Missing repetitions"));
    head(&mut out, titles.into_iter().map(str::to_owned))?;
    for row in rows {
        let value = match (row.value, row.interval) {
            (Some(value), Some(interval)) => format!("{value} {interval}"),
            (Some(value), None) => value,
            (None, _) => GLYPHS.undefined.to_owned(),
        };
        let cells = [
            escape(&row.name),
            value,
            row.n.to_string(),
            row.excluded.to_string(),
        ];
        let missing = any_missing.then(|| row.missing.to_string());
        line(&mut out, cells.into_iter().chain(missing))?;
    }
    notes(&mut out, &exclusions::lines(summary, GLYPHS))
}

fn accuracy(mut out: impl Write, summary: &Summary) -> io::Result<()> {
    let rows = accuracy::rows(summary);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    head(&mut out, accuracy::TITLES.map(str::to_owned))?;
    for row in rows {
        let shares = row.shares.into_iter();
        let shares = shares.map(|share| share.unwrap_or_else(|| GLYPHS.undefined.to_owned()));
        line(&mut out, [escape(&row.name)].into_iter().chain(shares))?;
    }
    notes(&mut out, &[accuracy::LEGEND.to_owned()])
}

/// One table for each measure, with a row for each group.
fn group_tables(mut out: impl Write, tables: impl Iterator<Item = GroupTable>) -> io::Result<()> {
    for table in tables {
        writeln!(out)?;
        let titles = table.titles.into_iter().skip(1);
        head(
            &mut out,
            std::iter::once(escape(&table.heading)).chain(titles),
        )?;
        for row in table.rows {
            let mut cells = row.cells;
            cells[0] = escape(&cells[0]);
            line(&mut out, cells)?;
        }
        let note: Vec<String> = table.note.into_iter().collect();
        notes(&mut out, &note)?;
    }
    Ok(())
}

fn latency(mut out: impl Write, summary: &Summary) -> io::Result<()> {
    let rows = latency::rows(summary, GLYPHS);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let undefined = latency::any_undefined(&rows);
    let titles = ["Latency"].into_iter().chain(latency::titles(undefined));
    head(&mut out, titles.chain(["n"]).map(str::to_owned))?;
    for row in rows {
        let (stage, n) = (escape(&row.stage), row.n.to_string());
        let times = row.times(undefined);
        let times = times.map(|time| time.unwrap_or_else(|| GLYPHS.undefined.to_owned()));
        line(&mut out, [stage].into_iter().chain(times).chain([n]))?;
    }
    if undefined {
        notes(
            &mut out,
            &[format!("{} {}", GLYPHS.undefined, TOO_FEW_SAMPLES)],
        )?;
    }
    Ok(())
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
            Body::Table { heads, rows } => {
                writeln!(out)?;
                head(&mut out, heads.iter().map(|head| escape(head)))?;
                for row in rows {
                    line(&mut out, row.iter().map(|cell| escape(cell)))?;
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

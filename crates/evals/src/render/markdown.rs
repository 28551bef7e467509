//! GitHub-flavoured markdown.

use std::io::{self, Write};

use super::failures::Failures;
use super::glyphs::Glyphs;
use super::latency::TOO_FEW_SAMPLES;
use super::side_by_side::{self, Intervals};
use super::single_line::single_line;
use super::{headline, latency, measures};
use crate::{Comparison, Domain, Report, Summary};

const GLYPHS: &Glyphs = Glyphs::UNICODE;

/// Writes the aggregates of a report as a document: heading, measures, latencies, first failures.
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
    if let Some(warning) = headline::interruption(summary) {
        writeln!(out, "\n**{warning}**")?;
    }
    measures(&mut out, summary)?;
    latency(&mut out, summary)?;
    failures(&mut out, &Failures::of(report))
}

/// Writes several reports side by side, the best of each row in bold.
pub fn comparison(mut out: impl Write, comparison: &Comparison) -> io::Result<()> {
    let titles = comparison
        .reports
        .iter()
        .map(|report| report.title.as_str());
    head(&mut out, std::iter::once("Measure").chain(titles))?;
    for row in &comparison.rows {
        let cells = row.cells.iter().enumerate().map(|(position, cell)| {
            let text = escape(&side_by_side::cell(
                row,
                cell,
                "",
                Intervals::Beside,
                GLYPHS,
            ));
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
    notes(&mut out, &side_by_side::notes(comparison, GLYPHS))
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
    head(&mut out, ["Measure", &value, "n", "Excluded"])?;
    for row in rows {
        let value = match (row.value, row.interval) {
            (Some(value), Some(interval)) => format!("{value} {interval}"),
            (Some(value), None) => value,
            (None, _) => GLYPHS.undefined.to_owned(),
        };
        line(
            &mut out,
            [
                escape(&row.name),
                value,
                row.n.to_string(),
                row.excluded.to_string(),
            ],
        )?;
    }
    let exclusions = measures::exclusions(summary, GLYPHS);
    notes(
        &mut out,
        &exclusions
            .iter()
            .map(|line| format!("excluded: {line}"))
            .collect::<Vec<_>>(),
    )
}

fn latency(mut out: impl Write, summary: &Summary) -> io::Result<()> {
    let rows = latency::rows(summary, GLYPHS);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    head(&mut out, ["Latency", "p50", "p95", "p99", "n"])?;
    let undefined = latency::any_undefined(&rows);
    for row in rows {
        let percentiles = row
            .percentiles
            .map(|time| time.unwrap_or_else(|| GLYPHS.undefined.to_owned()));
        line(
            &mut out,
            [escape(&row.stage)]
                .into_iter()
                .chain(percentiles)
                .chain([row.n.to_string()]),
        )?;
    }
    if undefined {
        notes(
            &mut out,
            &[format!("{} {}", GLYPHS.undefined, TOO_FEW_SAMPLES)],
        )?;
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

/// Writes the head of a table: the first column stands left, the others right.
fn head<'a>(mut out: impl Write, titles: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
    let titles: Vec<String> = titles.into_iter().map(escape).collect();
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

/// Makes any text a harmless part of one line: what markdown or HTML would read as markup is escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in single_line(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A bracket stays as it is, for intervals are written with them; without what follows it makes no link.
            '(' if escaped.ends_with(']') => escaped.push_str("\\("),
            '\\' | '|' | '`' | '*' | '_' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

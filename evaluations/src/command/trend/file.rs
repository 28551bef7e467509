//! The files of `runs trend --out`: the history of each line, a row for each run.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use evals::render;
use evals::render::csv::guarded;
use evals::render::tables::Table;
use evals_html::page::{Listing, Opening};
use evals_messages::quantity;
use evals_pages::out_file::check_place;
use evals_pages::page::{write_file, write_opening};
use evals_runs::atomic_file::write_atomically;
use evals_terminal::Printer;
use serde::Serialize;

use super::drop::Check;
use super::line::{LevelChange, Line, Point};
use super::text;

/// The columns of the CSV file.
const COLUMNS: [&str; 18] = [
    "dataset",
    "cases",
    "data",
    "benchmark",
    "profile",
    "measure",
    "run",
    "started",
    "value",
    "low",
    "high",
    "n",
    "undefined",
    "changed",
    "level_change_p",
    "level_before",
    "level_after",
    "version",
];

/// The version of the JSON.
const VERSION: u32 = 1;

/// All lines with their histories, as JSON.
#[derive(Debug, Serialize)]
struct Document<'l> {
    schema_version: u32,
    lines: &'l [Line<'l>],
    /// What `--fail-on-drop` found.
    #[serde(skip_serializing_if = "<[Check]>::is_empty")]
    checks: &'l [Check],
}

/// A file to write, by its format.
#[derive(Debug)]
pub(super) struct TrendFile<'p> {
    path: &'p Path,
    format: Format,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Csv,
    Json,
    Markdown,
    Html,
}

impl<'p> TrendFile<'p> {
    /// Fails for an unknown extension, so that the command fails before it prints anything.
    pub(super) fn new(path: &'p Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let format = match extension.to_lowercase().as_str() {
            "csv" => Format::Csv,
            "json" => Format::Json,
            "md" => Format::Markdown,
            "html" => Format::Html,
            _ => bail!(
                "cannot tell the format of `--out {}`; use a name that ends in .csv, .json, .md or .html",
                path.display()
            ),
        };
        check_place(path)?;
        Ok(Self { path, format })
    }

    pub(super) fn path(&self) -> &Path {
        self.path
    }

    pub(super) fn write(
        &self,
        printer: &Printer,
        lines: &[Line<'_>],
        checks: &[Check],
    ) -> Result<()> {
        match self.format {
            Format::Csv => write_atomically(self.path, |file| csv(file, lines)),
            Format::Json => write_atomically(self.path, |file| {
                let document = Document {
                    schema_version: VERSION,
                    lines,
                    checks,
                };
                serde_json::to_writer_pretty(&mut *file, &document)?;
                writeln!(file)
            }),
            Format::Markdown => write_atomically(self.path, |file| {
                writeln!(file, "# Trends")?;
                let mut tables =
                    std::iter::once(text::table(lines)).chain(lines.iter().map(history));
                tables.try_for_each(|table| render::markdown::table(&mut *file, table))
            }),
            Format::Html => {
                let opening = opening(lines);
                let warning = write_file(self.path, |file| write_opening(&opening, file))?;
                printer.warn_of(warning.as_deref());
                Ok(())
            }
        }
    }
}

fn csv(out: &mut dyn Write, lines: &[Line<'_>]) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for line in lines {
        for (place, point) in line.points.iter().enumerate() {
            let row = csv_row(line, point, change_at(line, place));
            writer.write_record(row.into_iter().map(guarded_text))?;
        }
    }
    writer.flush()
}

/// A cell that a spreadsheet does not run as a formula. Numbers stay numbers.
fn guarded_text(cell: String) -> String {
    if cell.parse::<f64>().is_ok() {
        cell
    } else {
        guarded(cell)
    }
}

fn csv_row(line: &Line<'_>, point: &Point, change: Option<&LevelChange>) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
    let values = [
        point.run.clone(),
        point.started.clone().unwrap_or_default(),
        number(point.value),
        number(point.interval.map(|it| it.low)),
        number(point.interval.map(|it| it.high)),
        point.n.map_or_else(String::new, |n| n.to_string()),
        point.undefined.clone().unwrap_or_default(),
        point.changed.join("; "),
        number(change.map(|it| it.p_value)),
        number(change.map(|it| it.before)),
        number(change.map(|it| it.after)),
        point.version.clone().unwrap_or_default(),
    ];
    line.key().into_iter().chain(values).collect()
}

fn change_at<'l>(line: &'l Line<'_>, place: usize) -> Option<&'l LevelChange> {
    let mut found = line.level_changes.iter();
    found.find(|change| change.place == place)
}

/// The runs of a line as a table, oldest first.
fn history(line: &Line<'_>) -> Table {
    let print = |value: f64| line.measure.unit.print(value);
    let rows = line.points.iter().enumerate().map(|(place, point)| {
        let interval = point
            .interval
            .map(|it| format!("[{}, {}]", print(it.low), print(it.high)));
        let mut changed = point.changed.join("; ");
        if let Some(change) = change_at(line, place) {
            let level = format!("level changed ({})", render::p_value(change.p_value));
            changed = if changed.is_empty() {
                level
            } else {
                format!("{level}; {changed}")
            };
        }
        vec![
            match &point.version {
                Some(version) => format!("{} @{version}", point.run),
                None => point.run.clone(),
            },
            match (point.value, &point.undefined) {
                (Some(value), _) => print(value),
                (None, reason) => format!("– ({})", reason.as_deref().unwrap_or_default()),
            },
            interval.unwrap_or_default(),
            point.n.map_or_else(String::new, |n| n.to_string()),
            changed,
        ]
    });
    Table {
        heads: [
            format!("{}, {}, {}", line.dataset, line.benchmark, line.profile),
            line.measure.title().to_owned(),
            "95 % interval".to_owned(),
            "n".to_owned(),
            "changed".to_owned(),
        ]
        .to_vec(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The page: the lines as a table, a drawing and the history of each.
fn opening(lines: &[Line<'_>]) -> Opening {
    let runs: usize = lines.iter().map(|line| line.points.len()).sum();
    let listing = |caption: String, table: Table| Listing {
        caption,
        head: table.heads,
        rows: table.rows,
        ..Listing::default()
    };
    let sentences: Vec<String> = lines.iter().flat_map(Line::sentences).collect();
    let mut listings = vec![listing(
        format!(
            "Level changes by Pettitt's test, at 5 % for each line. {}",
            sentences.join(". ")
        ),
        text::table(lines),
    )];
    listings.extend(lines.iter().map(|line| {
        let caption = format!(
            "{} over {}, oldest first.",
            line.measure.title(),
            quantity::of(line.points.len(), "run")
        );
        listing(caption, history(line))
    }));
    let figures = lines.iter().enumerate().filter_map(|(place, line)| {
        let mut figure = line.figure.clone()?;
        figure.name = format!("{}-{}", figure.name, place + 1);
        Some(figure)
    });
    Opening {
        title: "Trends".to_owned(),
        sentence: format!(
            "{} over {}",
            quantity::of(lines.len(), "line"),
            quantity::of(runs, "run")
        ),
        figures: figures.collect(),
        listings,
        ..Opening::default()
    }
}

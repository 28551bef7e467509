//! A measure over the runs of one dataset, benchmark and profile.

use std::ops::Range;

use axum::extract::{Query, State};
use axum::response::Html;
use evals::{Cell, Comparison, Row, Summary};
use evals_html::figure::{Heading, Trend, TrendPoint, Width};
use evals_html::scene::SvgUse;
use evals_html::view::{Link, Sparkline, TrendLine, TrendPage, TrendRow};
use serde::Deserialize;

use super::catalogue::Listing;
use super::failure::PageFailure;
use super::lineage::Lineage;
use super::listed_run::{ListedRun, printed};
use super::viewer::Viewer;
use crate::stored_runs::{Break, Headline, TrendRun as _, differences, is_of_kind};

/// Most runs in a drawing, the newest.
const NEWEST: usize = 60;

/// The line that is drawn. Without one, the page lists all lines.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Wanted {
    dataset: Option<String>,
    #[serde(default)]
    benchmark: String,
    #[serde(default)]
    profile: String,
    measure: Option<String>,
}

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Query(wanted): Query<Wanted>,
) -> Result<Html<String>, PageFailure> {
    let page = viewer.read(move |catalogue| {
        let listing = catalogue.list()?;
        match &wanted.dataset {
            Some(dataset) => drawn(&listing, dataset, &wanted),
            None => Ok(TrendPage {
                lines: lines(&listing),
                ..TrendPage::default()
            }),
        }
    });
    Ok(Html(page.await?.html()?))
}

/// Every line, those with the newest runs first.
fn lines(listing: &Listing) -> Vec<TrendLine> {
    let runs = &listing.runs;
    let lineage = Lineage::of(runs);
    let is_newest = |place: &usize| {
        let run = &runs[*place];
        let mut later = runs[place + 1..].iter();
        run.is_finished()
            && !later.any(|it| it.is_finished() && is_of_kind(it.header(), run.header()))
    };
    let newest = (0..runs.len()).rev().filter(is_newest);
    let lines = newest.map(|place| {
        let run = &runs[place];
        let measure = run.headline().map_or(String::new(), |it| it.title);
        let header = run.header();
        TrendLine {
            dataset: header.dataset.name.clone(),
            benchmark: header.benchmark.clone(),
            profile: header.profile.clone(),
            runs: runs
                .iter()
                .filter(|it| it.is_finished() && is_of_kind(it.header(), header))
                .count(),
            link: link(run).into_text(),
            sparkline: Sparkline::of(&measure, &lineage.headlines(place)),
        }
    });
    lines.collect()
}

/// The address of the line of a run.
fn link(run: &ListedRun) -> Link {
    let header = run.header();
    Link::trends()
        .with("dataset", &header.dataset.name)
        .with("benchmark", &header.benchmark)
        .with("profile", &header.profile)
}

fn drawn(listing: &Listing, dataset: &str, wanted: &Wanted) -> Result<TrendPage, PageFailure> {
    let is_of_line = |run: &&ListedRun| {
        let header = run.header();
        header.dataset.name == dataset
            && header.benchmark == wanted.benchmark
            && header.profile == wanted.profile
            && run.is_finished()
    };
    let all: Vec<(&ListedRun, &Summary)> = listing
        .runs
        .iter()
        .filter(is_of_line)
        .filter_map(|run| Some((run, run.summary()?)))
        .collect();
    let runs = &all[all.len().saturating_sub(NEWEST)..];
    let Some((newest, _)) = runs.last() else {
        return Err(PageFailure::bad_request(
            "No finished run has this dataset, benchmark and profile.",
        ));
    };
    let names: Vec<String> = runs.iter().map(|(run, _)| run.folder().name()).collect();
    let summaries: Vec<(&str, &Summary)> = names
        .iter()
        .zip(runs)
        .map(|(name, (_, summary))| (name.as_str(), *summary))
        .collect();
    let comparison = Comparison::new(&summaries);
    let is_wanted = |row: &&Row| match (&wanted.measure, newest.headline()) {
        (Some(measure), _) => row.measure == *measure,
        (None, Some(Headline { measure, .. })) => row.measure == measure,
        (None, None) => true,
    };
    let row = comparison.rows.iter().find(is_wanted);
    let row = row.or_else(|| comparison.rows.first().filter(|_| wanted.measure.is_none()));
    let title = format!("{dataset}, {}, {}", wanted.benchmark, wanted.profile);
    let measures = comparison.rows.iter().map(|it| {
        let link = link(newest).with("measure", &it.measure).into_text();
        let is_drawn = row.is_some_and(|row| row.measure == it.measure);
        (it.title().to_owned(), link, is_drawn)
    });
    let page = TrendPage {
        title: Some(title.clone()),
        measures: measures.collect(),
        ..TrendPage::default()
    };
    let Some(row) = row else {
        return Ok(page);
    };
    let steps = steps(runs.iter().map(|(run, _)| *run), row);
    let figure = Trend {
        heading: Heading {
            title: row.title().to_owned(),
            caption: caption(&title, runs.len(), all.len()),
        },
        measure: row.title().to_owned(),
        unit: row.unit,
        points: points(&steps),
    };
    let scene = figure.draw(Width::Page);
    Ok(TrendPage {
        figure: scene.svg(SvgUse::Page("trend")),
        caption: scene.caption,
        rows: steps.iter().rev().map(|step| step.row(row)).collect(),
        ..page
    })
}

fn caption(title: &str, drawn: usize, all: usize) -> String {
    let count = if drawn < all {
        format!("The newest {drawn} of {all} finished runs")
    } else {
        format!("{drawn} finished runs")
    };
    format!(
        "{count} of {title}, oldest on the left. Lines up and down are the 95 % intervals of each run. A dashed line marks a run whose \
         settings changed; a grey band marks one that reads other data or asks other questions, \
         where the line is broken."
    )
}

/// One run of the line, with what changed since the run before it.
struct Step<'r> {
    run: &'r ListedRun,
    cell: &'r Cell,
    changed: Vec<String>,
    broken: Option<Break>,
}

/// The steps of a line, with the cell of each run in `row`.
fn steps<'r>(runs: impl Iterator<Item = &'r ListedRun>, row: &'r Row) -> Vec<Step<'r>> {
    let mut before: Option<&ListedRun> = None;
    let steps = runs.zip(&row.cells).map(|(run, cell)| {
        let earlier = before.replace(run);
        Step {
            run,
            cell,
            changed: earlier.map_or(Vec::new(), |earlier| {
                let settings = |run: &ListedRun| run.configuration().without_data();
                differences(&settings(earlier), &settings(run))
            }),
            broken: earlier.and_then(|earlier| Break::between(earlier, run)),
        }
    });
    steps.collect()
}

fn points(steps: &[Step<'_>]) -> Vec<TrendPoint> {
    let started = steps
        .iter()
        .map(|step| step.run.header().started.as_deref());
    let labels = labels(&started.collect::<Vec<_>>());
    let points = steps.iter().zip(labels).map(|(step, label)| {
        let (value, interval) = match step.cell {
            Cell::Value {
                value, interval, ..
            } => (Ok(*value), interval.as_ref()),
            Cell::Undefined { reasons } => (Err(reasons.join("; ")), None),
            Cell::Missing => (Err("not measured".to_owned()), None),
        };
        TrendPoint {
            label,
            value,
            interval: interval.map(|it| (it.low, it.high)),
            changed: step.changed.join("; "),
            broken: step.broken(),
        }
    });
    points.collect()
}

/// The labels of runs that started at these times: the day, or the time of day if all started on one. Empty for an unknown start.
fn labels(started: &[Option<&str>]) -> Vec<String> {
    let part = |range: Range<usize>| -> Vec<Option<&str>> {
        let started = started.iter();
        started
            .map(|started| (*started)?.get(range.clone()))
            .collect()
    };
    let mut days = part(0..10).into_iter().flatten();
    let first = days.next();
    let is_one_day = days.all(|day| Some(day) == first);
    let shown = if is_one_day {
        part(11..16)
    } else {
        part(5..10)
    };
    let labels = shown
        .into_iter()
        .map(|it| it.unwrap_or_default().to_owned());
    labels.collect()
}

impl Step<'_> {
    fn broken(&self) -> String {
        self.broken.map_or_else(String::new, |why| why.to_string())
    }

    fn row(&self, row: &Row) -> TrendRow {
        let print = |value| row.unit.print(value);
        let (value, interval) = match self.cell {
            Cell::Value {
                value, interval, ..
            } => {
                let interval = interval.as_ref().map(|it| printed(it, print));
                (print(*value), interval.unwrap_or_default())
            }
            Cell::Undefined { reasons } if reasons.is_empty() => {
                ("undefined".to_owned(), String::new())
            }
            Cell::Undefined { reasons } => {
                (format!("undefined: {}", reasons.join("; ")), String::new())
            }
            Cell::Missing => ("not measured".to_owned(), String::new()),
        };
        let name = self.run.folder().name();
        TrendRow {
            started: self.run.started(),
            link: Link::run(&name).into_text(),
            name,
            value,
            interval,
            changed: self.changed.clone(),
            broken: self.broken(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_start_has_no_label() {
        let [morning, evening, later] = [
            "2026-05-01T08:30:00Z",
            "2026-05-01T20:00:00Z",
            "2026-05-02T08:00:00Z",
        ]
        .map(Some);
        assert_eq!(labels(&[morning, None, evening]), ["08:30", "", "20:00"]);
        assert_eq!(labels(&[morning, None, later]), ["05-01", "", "05-02"]);
        assert_eq!(labels(&[None]), [""]);
    }
}

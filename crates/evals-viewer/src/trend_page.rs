//! A measure over the runs of one dataset, benchmark and profile.

use axum::extract::{Query, State};
use axum::response::Html;
use evals::{Cell, Row};
use evals_html::scene::SvgUse;
use evals_html::view::{Link, Sparkline, TrendLine, TrendPage, TrendRow};
use evals_runs::stored_runs::{Step, StoredRun, StoredTrend, is_of_kind};
use serde::Deserialize;

use super::catalogue::Listing;
use super::failure::PageFailure;
use super::kind::RunKind;
use super::lineage::Lineage;
use super::runs_page::{printed, started};
use super::viewer::Viewer;

/// The line that is drawn. Without a dataset, the page lists all lines.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct WantedTrends {
    #[serde(flatten)]
    kind: RunKind,
    measure: Option<String>,
}

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Query(wanted): Query<WantedTrends>,
) -> Result<Html<String>, PageFailure> {
    let page = viewer.read(move |catalogue| {
        let listing = catalogue.list()?;
        if wanted.kind.dataset.is_empty() {
            return Ok(TrendPage {
                lines: lines(&listing),
                ..TrendPage::default()
            });
        }
        drawn(&listing, &wanted)
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
            && !later.any(|it| it.is_finished() && is_of_kind(&it.record, &run.record))
    };
    let newest = (0..runs.len()).rev().filter(is_newest);
    let lines = newest.map(|place| {
        let run = &runs[place];
        let measure = run.headline().map_or(String::new(), |it| it.title);
        let RunKind {
            dataset,
            benchmark,
            profile,
        } = RunKind::of(run);
        TrendLine {
            dataset,
            benchmark,
            profile,
            runs: runs
                .iter()
                .filter(|it| it.is_finished() && is_of_kind(&it.record, &run.record))
                .count(),
            link: link(run).into_text(),
            sparkline: Sparkline::of(&measure, &lineage.headlines(place)),
        }
    });
    lines.collect()
}

/// The address of the line of a run.
fn link(run: &StoredRun) -> Link {
    RunKind::of(run).added_to(Link::trends())
}

fn drawn(listing: &Listing, wanted: &WantedTrends) -> Result<TrendPage, PageFailure> {
    let is_of_line = |run: &&StoredRun| RunKind::of(run) == wanted.kind && run.is_finished();
    let runs = listing.runs.iter().map(|run| &**run);
    let runs: Vec<&StoredRun> = runs.filter(is_of_line).collect();
    let Some(newest) = runs.last() else {
        return Err(PageFailure::bad_request(
            "No finished run has this dataset, benchmark and profile.",
        ));
    };
    let trend = StoredTrend::of(runs.clone());
    let measure = match &wanted.measure {
        Some(measure) => trend.measures().iter().find(|row| row.measure == *measure),
        None => trend.headline(),
    };
    let measures = trend.measures().iter().map(|it| {
        let link = link(newest).with("measure", &it.measure).into_text();
        let is_drawn = measure.is_some_and(|row| row.measure == it.measure);
        (it.title().to_owned(), link, is_drawn)
    });
    let page = TrendPage {
        title: Some(trend.subject().to_owned()),
        measures: measures.collect(),
        ..TrendPage::default()
    };
    let Some(measure) = measure else {
        return Ok(page);
    };
    let figure = trend.draw(measure);
    let steps = trend.steps(measure);
    Ok(TrendPage {
        figure: figure.scene.svg(SvgUse::Page(&figure.name)),
        caption: figure.scene.caption,
        rows: steps.iter().rev().map(|step| row(step, measure)).collect(),
        ..page
    })
}

/// A run as a row of the table below the drawing.
fn row(step: &Step<'_>, measure: &Row) -> TrendRow {
    let print = |value| measure.unit.print(value);
    let (value, interval) = match step.cell {
        Cell::Value {
            value, interval, ..
        } => {
            let interval = interval.as_ref().map(|it| printed(it, print));
            (print(*value), interval.unwrap_or_default())
        }
        Cell::Undefined { .. } | Cell::Missing => {
            (step.absence(measure).unwrap_or_default(), String::new())
        }
    };
    let name = step.run.name();
    TrendRow {
        started: started(step.run),
        link: Link::run(&name).into_text(),
        name,
        value,
        interval,
        changed: step.changed.to_vec(),
        broken: step.broken(),
    }
}

//! The list of runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Html;
use evals::Unit;
use evals_html::view::{
    Choice, Filter, Link, Reading, RowChange, RunRow, RunsPage, Sparkline, StateKind,
};
use evals_metrics::{Interval, difference};
use evals_pages::page::shown_name;
use evals_runs::run_folder::RunState;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::{Break, StoredRun};
use serde::Deserialize;

use super::catalogue::Listing;
use super::changes;
use super::failure::PageFailure;
use super::kind::RunKind;
use super::lineage::Lineage;
use super::viewer::Viewer;

/// Runs on the page, unless all are asked for.
const NEWEST: usize = 200;

/// The parameters of the page. An empty one chooses all.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct WantedRuns {
    #[serde(flatten)]
    kind: RunKind,
    all: Option<String>,
}

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Query(wanted): Query<WantedRuns>,
) -> Result<Html<String>, PageFailure> {
    let page = viewer.read(move |catalogue| {
        let listing = catalogue.list()?;
        let folder = catalogue.folder().display().to_string();
        Ok(page(folder, listing, &wanted))
    });
    Ok(Html(page.await?.html()?))
}

fn page(folder: String, listing: Listing, wanted: &WantedRuns) -> RunsPage {
    let seen = changes::fingerprint(&listing);
    let runs = &listing.runs;
    let lineage = Lineage::of(runs);
    let fitting: Vec<usize> = (0..runs.len())
        .rev()
        .filter(|place| wanted.kind.fits(&runs[*place]))
        .collect();
    let shown = match wanted.all {
        Some(_) => &fitting[..],
        None => &fitting[..fitting.len().min(NEWEST)],
    };
    let mut rows: Vec<RunRow> = shown
        .iter()
        .map(|place| row(&lineage, runs, *place))
        .collect();
    choose(&mut rows);
    RunsPage {
        folder,
        filters: filters(&wanted.kind, runs),
        found: fitting.len(),
        all: (shown.len() < fitting.len()).then(|| {
            let filtered = wanted.kind.added_to(Link::runs());
            filtered.with("all", "yes").into_text()
        }),
        changes: Link::changes(&seen).into_text(),
        rows,
        broken: listing.broken,
    }
}

/// A filter for each value in which the runs differ.
fn filters(wanted: &RunKind, runs: &[Arc<StoredRun>]) -> Vec<Filter> {
    let kinds: Vec<RunKind> = runs.iter().map(|run| RunKind::of(run)).collect();
    let names = RunKind::NAMES.into_iter().enumerate();
    let filters = names.map(|(place, name)| {
        let values: BTreeSet<&str> = kinds.iter().map(|kind| kind.values()[place]).collect();
        let choices = values.into_iter().map(|value| Choice {
            value: value.to_owned(),
            is_chosen: value == wanted.values()[place],
        });
        Filter {
            name: name.to_owned(),
            choices: choices.collect(),
        }
    });
    filters.filter(|filter| filter.choices.len() > 1).collect()
}

fn row(lineage: &Lineage<'_>, runs: &[Arc<StoredRun>], place: usize) -> RunRow {
    let run = &runs[place];
    let name = run.name();
    let RunKind {
        dataset,
        benchmark,
        profile,
    } = RunKind::of(run);
    let headline = run.headline();
    let values = lineage.headlines(place);
    let measure = headline.as_ref().map_or("", |headline| &headline.title);
    RunRow {
        link: Link::run(&name).into_text(),
        labelling: has_answers(run).then(|| Link::of_run(&name, "label").into_text()),
        title: shown_name(&run.record.name, &dataset, &profile),
        started: started(run),
        state: run.shown_state(),
        state_kind: state_kind(run.results().state),
        benchmark,
        cases: run.record.dataset.questions,
        change: lineage
            .predecessor(place)
            .or_else(|| lineage.neighbour(place))
            .and_then(|before| change(&runs[before], run)),
        sparkline: Sparkline::of(measure, &values),
        headline: headline.map(|headline| Reading {
            measure: headline.title,
            value: Unit::Score.print(headline.value),
            interval: headline
                .interval
                .map(|interval| printed(&interval, |value| Unit::Score.print(value))),
        }),
        is_comparable: run.results().summary.is_some(),
        is_chosen: false,
        name,
    }
}

/// The change of the main measure. It is no verdict: the page that it links to tests it.
fn change(before: &StoredRun, after: &StoredRun) -> Option<RowChange> {
    let [old, new] = [before.headline()?, after.headline()?];
    let shown = if old.title != new.title {
        "other measure".to_owned()
    } else if let Some(why) = Break::between(before, after) {
        why.to_string()
    } else {
        Unit::Score.print_signed(difference(old.value, new.value))
    };
    let names = [before, after].map(StoredRun::name);
    let [old, new] = [before, after].map(|run| run.record.system_name());
    Some(RowChange {
        difference: shown,
        link: Link::compare(&names[0], &names[1]).into_text(),
        before: if old == new {
            started(before)
        } else {
            old.to_owned()
        },
    })
}

/// Whether a run has a report with answers, which people can label.
pub(super) fn has_answers(run: &StoredRun) -> bool {
    run.results().summary.is_some() && run.record.benchmark != Benchmark::Retrieval
}

/// When a run started, in UTC, as people read it.
pub(super) fn started(run: &StoredRun) -> String {
    run.started().unwrap_or_else(|| "unknown start".to_owned())
}

/// A formatted interval.
pub(super) fn printed(interval: &Interval, print: impl Fn(f64) -> String) -> String {
    format!("[{}, {}]", print(interval.low), print(interval.high))
}

fn state_kind(state: RunState) -> StateKind {
    match state {
        RunState::Running => StateKind::Running,
        RunState::Unfinished(_) => StateKind::Unfinished,
        RunState::Failed(_) | RunState::Unreadable => StateKind::Failed,
        RunState::Finished(_) if state.has_no_failures() => StateKind::Finished,
        RunState::Finished(_) => StateKind::Partial,
    }
}

/// Chooses the newest run that follows another one on the page, and that one.
fn choose(rows: &mut [RunRow]) {
    let link =
        |before: &RunRow, after: &RunRow| Link::compare(&before.name, &after.name).into_text();
    let pair = rows.iter().enumerate().find_map(|(place, after)| {
        let change = after.change.as_ref()?;
        let before = rows.iter().position(|it| link(it, after) == change.link)?;
        Some((before, place))
    });
    if let Some((before, after)) = pair {
        rows[before].is_chosen = true;
        rows[after].is_chosen = true;
    }
}

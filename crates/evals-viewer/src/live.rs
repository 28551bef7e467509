//! A running run: its page, and the stream that keeps the page current.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use evals::{Cell, Comparison, Row, Unit};
use evals_html::view::{Link, LiveMeasure, LivePage, LiveProgress};
use evals_pipeline::run_progress::{Patience, Progress, ProgressReader};
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::StoredRun;
use futures::Stream;
use futures::stream::unfold;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::failure::PageFailure;
use super::runs_page::printed;
use super::viewer::Viewer;

/// How often the folder of a run is looked at. A finished case is on the page within two seconds.
const INTERVAL: Duration = Duration::from_secs(1);

/// The page of a run without a report, or with one that is out of date because the run was resumed.
pub(super) fn page(folder: RunFolder, run: &StoredRun) -> Result<LivePage, PageFailure> {
    let name = folder.name();
    let remedy = folder.remedy();
    let progress = ProgressReader::new(folder)?.read()?;
    let record = &run.record;
    let cases = match record.benchmark {
        Benchmark::Eval => "cases",
        Benchmark::Retrieval | Benchmark::Qa => "questions",
    };
    let facts = [
        ("dataset", record.dataset.name.clone()),
        ("benchmark", record.benchmark.to_string()),
        ("profile", record.profile.clone()),
        (cases, record.dataset.questions.to_string()),
    ];
    let mut shown = shown(&progress);
    if !progress.is_running() {
        shown.notice = Some(format!(
            "Nothing works on this run, and it has no report: {remedy}."
        ));
    }
    Ok(LivePage {
        facts: named(facts),
        progress: shown,
        stream: progress
            .is_running()
            .then(|| Link::of_run(&name, "progress").into_text()),
        link: Link::run(&name).into_text(),
        name,
    })
}

/// Sends the event `progress` whenever there is something new, and `ended` when no process works on the run any more.
pub(super) async fn follow(
    State(viewer): State<Viewer>,
    Path(name): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, PageFailure> {
    let reader = viewer.read(move |catalogue| Ok(ProgressReader::new(catalogue.find(&name)?)?));
    let follower = Follower {
        reader: reader.await?,
        patience: Patience::default(),
        sent: None,
        stop: viewer.stop().clone(),
    };
    let events = unfold(Some(follower), async |follower| {
        let follower = follower?;
        let stop = follower.stop.clone();
        stop.run_until_cancelled(follower.next()).await
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Follows one run for one page.
struct Follower {
    reader: ProgressReader,
    patience: Patience,
    /// What was sent last.
    sent: Option<LiveProgress>,
    stop: CancellationToken,
}

impl Follower {
    /// The next event. No follower remains after the last one.
    async fn next(mut self) -> (Result<Event, Infallible>, Option<Self>) {
        loop {
            let Some((follower, progress)) = self.read().await else {
                return (Ok(Event::default().event("ended").data("ended")), None);
            };
            self = follower;
            let shown = progress.as_ref().map(shown);
            if shown.is_some()
                && shown != self.sent
                && let Ok(event) = Event::default().event("progress").json_data(&shown)
            {
                self.sent = shown;
                return (Ok(event), Some(self));
            }
            sleep(INTERVAL).await;
        }
    }

    /// Reads on a blocking thread. There is no progress if the reading failed and is worth another try, and no follower if the run
    /// ended or was deleted.
    async fn read(mut self) -> Option<(Self, Option<Progress>)> {
        let reading = tokio::task::spawn_blocking(move || {
            let read = self.reader.read();
            let read = self.patience.with(read, Instant::now());
            (self, read)
        });
        let (follower, read) = reading.await.ok()?;
        let progress = read.ok()?;
        let has_ended = progress.as_ref().is_some_and(|it| !it.is_running());
        (!has_ended).then_some((follower, progress))
    }
}

/// Progress, formatted.
fn shown(progress: &Progress) -> LiveProgress {
    let counts = progress.counts;
    LiveProgress {
        state: progress.state.to_string(),
        notice: counts.is_none().then(|| {
            "This run keeps no journal, so only its state is known until its report is written."
                .to_owned()
        }),
        cases: counts.map(|counts| (counts.finished, counts.planned)),
        done: counts.map_or_else(String::new, |counts| {
            format!("{} of {} cases finished", counts.finished, counts.planned)
        }),
        facts: named(progress.facts().into_iter().map(|it| (it.name, it.value))),
        measures: measures(progress),
    }
}

fn named(facts: impl IntoIterator<Item = (&'static str, String)>) -> Vec<(String, String)> {
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The measures with their intervals, without latencies and without the bounds that failures leave.
fn measures(progress: &Progress) -> Vec<LiveMeasure> {
    let Some(summary) = &progress.summary else {
        return Vec::new();
    };
    let comparison = Comparison::new(&[("", summary)]);
    let is_mean = |row: &&Row| !matches!(row.unit, Unit::Seconds | Unit::Share);
    let rows = comparison.rows.iter().filter(is_mean);
    rows.filter_map(measure).collect()
}

fn measure(row: &Row) -> Option<LiveMeasure> {
    let name = row.title().to_owned();
    let print = |value| row.unit.print(value);
    match row.cells.first()? {
        Cell::Value {
            value, interval, n, ..
        } => {
            let ends = interval
                .as_ref()
                .map_or((*value, *value), |it| (it.low, it.high));
            let drawn = (*value, ends.0, ends.1);
            let fits = |it: f64| (0.0..=1.0).contains(&it);
            Some(LiveMeasure {
                name,
                value: print(*value),
                interval: interval
                    .as_ref()
                    .map_or_else(String::new, |it| printed(it, print)),
                n: *n,
                drawn: (fits(drawn.0) && fits(drawn.1) && fits(drawn.2)).then_some(drawn),
            })
        }
        Cell::Undefined { reasons } => Some(LiveMeasure {
            name,
            value: format!("undefined: {}", reasons.join("; ")),
            ..LiveMeasure::default()
        }),
        Cell::Missing => None,
    }
}

//! A stream that ends the wait of a list of runs: it reports when the list has changed.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use super::catalogue::Listing;
use super::failure::PageFailure;
use super::viewer::Viewer;

/// How often the folders are looked at. Polling works on every file system.
const INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    /// The list that the page shows.
    seen: String,
}

/// Sends one event, `changed`, when the list differs from the one that was seen.
pub(super) async fn follow(
    State(viewer): State<Viewer>,
    Query(Seen { seen }): Query<Seen>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changed = async move {
        let stop = viewer.stop().clone();
        let differs = async {
            while fingerprint_now(&viewer).await.is_ok_and(|now| now == seen) {
                sleep(INTERVAL).await;
            }
        };
        stop.run_until_cancelled(differs).await?;
        Some(Ok(Event::default().event("changed").data("changed")))
    };
    let events = futures::stream::once(changed);
    Sse::new(futures::StreamExt::filter_map(events, async |event| event))
        .keep_alive(KeepAlive::default())
}

async fn fingerprint_now(viewer: &Viewer) -> Result<String, PageFailure> {
    let fingerprint = viewer.read(|catalogue| Ok(fingerprint(&catalogue.list()?)));
    fingerprint.await
}

/// A digest of what the list shows: the names and states of the runs, and the folders that are not runs.
pub(super) fn fingerprint(listing: &Listing) -> String {
    let mut text = String::new();
    for run in &listing.runs {
        _ = writeln!(text, "{:?} {}", run.name(), run.results().state);
    }
    for row in &listing.broken {
        _ = writeln!(text, "{row:?}");
    }
    hex::encode(&Sha256::digest(text)[..8])
}

//! The traffic, on a clock that the tests move.

mod absence;
mod callers;
mod closing;
mod concurrency;
mod pacing;
mod retrying;
mod watching;

use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{AttemptError, Contact, Traffic, TrafficSettings};
use evals_models::Failure;

const ADDRESS: &str = "http://localhost:11434";
const SERVICE: Duration = Duration::from_millis(200);

fn traffic(settings: TrafficSettings) -> Arc<Traffic> {
    Arc::new(Traffic::new(ADDRESS, settings))
}

fn at_once(calls: usize) -> TrafficSettings {
    TrafficSettings {
        max_concurrency: NonZeroUsize::new(calls),
        ..TrafficSettings::default()
    }
}

fn failed(failure: Failure, message: &str) -> AttemptError {
    AttemptError::new(failure, message)
}

fn overloaded(retry_after: Option<u64>) -> AttemptError {
    AttemptError {
        retry_after: retry_after.map(Duration::from_secs),
        overloaded: true,
        ..failed(Failure::Transient, "429 Too Many Requests")
    }
}

/// The messages of an error and of all its sources.
fn chain(error: &AttemptError) -> Vec<String> {
    let first: &(dyn Error + 'static) = error.source.as_ref();
    std::iter::successors(Some(first), |error| (*error).source())
        .map(ToString::to_string)
        .collect()
}

/// When attempts were made, from a common start. The runtime's timer counts whole milliseconds.
#[derive(Clone, Debug)]
struct Log(Arc<Mutex<Vec<u128>>>, Instant);

impl Log {
    fn start() -> Self {
        Self(Arc::default(), Instant::now())
    }

    fn note(&self) {
        self.0.lock().unwrap().push(self.1.elapsed().as_millis());
    }

    fn milliseconds(&self) -> Vec<u128> {
        self.0.lock().unwrap().clone()
    }

    fn now(&self) -> u128 {
        self.1.elapsed().as_millis()
    }
}

async fn served() -> Result<(), AttemptError> {
    sleep(SERVICE).await;
    Ok(())
}

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

//! The one place through which every call to a provider passes: how many at once, how fast, and how often again.
//!
//! A call waits in one queue for its turn, is sent, and comes back to the end of the queue after a failure that may go away. The
//! number of calls at once adapts to what the server bears. When it bears not even one, or asks to be left alone, all calls
//! wait; when it refuses for good (a wrong key, a used-up quota, an unknown model), all calls end with that message and nothing
//! more is sent.

mod backoff;
mod call;
mod calls;
mod error;
mod gate;
mod limit;
mod pace;
mod settings;
mod statistics;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub use error::TrafficError;
pub use settings::TrafficSettings;
pub use statistics::TrafficStatistics;

use backoff::Backoff;
use call::Call;
use calls::{Calls, Quiet};
use error::{Refused, seconds};
use gate::{Gate, Permit};
use limit::Limit;
use pace::Pace;

use super::AttemptError;
use crate::Failure;

/// Is told, in one line, when nothing has moved for a minute while calls are open, and each minute after. It must not block.
pub type Watch = Arc<dyn Fn(&str) + Send + Sync>;

/// The traffic with one provider. All calls to an address share one, whichever model they ask.
///
/// A call that is dropped gives back what it holds. All waits follow the runtime's clock.
pub struct Traffic {
    provider: String,
    settings: TrafficSettings,
    gate: Gate,
    backoff: Backoff,
    calls: Calls,
    watch: Option<Watch>,
    refused: watch::Sender<Option<Refused>>,
    statistics: Mutex<TrafficStatistics>,
}

/// What a successful call brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered<T> {
    /// What the successful attempt returned.
    pub value: T,
    /// How long the successful attempt took, without queueing and failed attempts.
    pub service_time: Duration,
    /// Attempts that it took, at least 1.
    pub attempts: u32,
}

impl Traffic {
    /// The traffic with a provider, which is named as messages should name it: by its address.
    pub fn new(provider: impl Into<String>, settings: TrafficSettings) -> Self {
        let ceiling = settings
            .max_concurrency
            .unwrap_or(TrafficSettings::GROWN_CONCURRENCY);
        let start = settings
            .max_concurrency
            .unwrap_or(settings.start_concurrency);
        Self {
            provider: provider.into(),
            gate: Gate::new(
                Limit::new(NonZeroUsize::get(start), ceiling.max(start).get()),
                Pace::new(&settings),
            ),
            backoff: Backoff::new(&settings),
            calls: Calls::new(),
            watch: None,
            refused: watch::Sender::new(None),
            statistics: Mutex::default(),
            settings,
        }
    }

    /// Tells somebody when nothing moves.
    #[must_use]
    pub fn with_watch(self, watch: Watch) -> Self {
        Self {
            watch: Some(watch),
            ..self
        }
    }

    /// The provider, as messages name it.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// How the provider may be asked.
    pub fn settings(&self) -> &TrafficSettings {
        &self.settings
    }

    /// What passed through so far.
    pub fn statistics(&self) -> TrafficStatistics {
        TrafficStatistics {
            limit: self.gate.limit(),
            ..*self.counted()
        }
    }

    /// Makes attempts until one succeeds, until nothing is left to try, or until the provider refuses for good.
    ///
    /// `estimated_tokens` is what one attempt costs of [`TrafficSettings::tokens_per_minute`]. Of the failures, transient ones
    /// are retried and come back with a [`TrafficError`] as their source when the attempts are used up. One of the content
    /// comes back at once. A terminal one comes back at once and ends every other call that waits or comes later.
    pub async fn call<T, F, Fut>(
        &self,
        estimated_tokens: u64,
        attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let _begun = self.calls.begin();
        let delivered = Call::new(self, estimated_tokens).deliver(attempt);
        let Some(watch) = &self.watch else {
            return delivered.await;
        };
        tokio::select! {
            biased;
            delivered = delivered => delivered,
            never = self.look_out(watch) => match never {},
        }
    }

    /// Tells when nothing moves, for as long as it is polled.
    async fn look_out(&self, watch: &Watch) -> Infallible {
        loop {
            match self.calls.quiet() {
                Ok(quiet) => watch(&self.line(quiet)),
                Err(moment) => sleep_until(moment).await,
            }
        }
    }

    fn line(&self, quiet: Quiet) -> String {
        let sent = self.gate.open();
        format!(
            "`{}` has not answered for {}: {sent} sent, {} waiting, the oldest for {}",
            self.provider,
            whole_seconds(quiet.since),
            quiet.calls.saturating_sub(sent),
            whole_seconds(quiet.oldest),
        )
    }

    /// Lowers the number of calls at once; where one is too many, all calls wait as after so many failures.
    fn overloaded(&self, permit: &Permit<'_>) {
        self.counted().overloads += 1;
        let at_one = permit.overloaded();
        if at_one > 0 {
            let pause = self.backoff.pause(at_one);
            self.gate.close_until(call::later(Instant::now(), pause));
        }
    }

    /// Ends every call that waits or comes later, and returns what each is told.
    fn refuse(&self, failure: AttemptError) -> AttemptError {
        let refused = Refused::new(failure.source);
        self.refused.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert_with(|| refused.clone());
            is_first
        });
        terminal(refused)
    }

    /// Waits until the provider has refused for good.
    async fn refusal(&self) -> AttemptError {
        let mut refused = self.refused.subscribe();
        let told = refused.wait_for(Option::is_some).await;
        let told = told.ok().and_then(|told| told.clone());
        match told {
            Some(refused) => terminal(refused),
            // The sender lives in `self`, so that waiting ends with a value alone.
            None => std::future::pending().await,
        }
    }

    fn counted(&self) -> MutexGuard<'_, TrafficStatistics> {
        self.statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Traffic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Traffic")
            .field("provider", &self.provider)
            .field("settings", &self.settings)
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

fn terminal(refused: Refused) -> AttemptError {
    AttemptError {
        failure: Failure::Terminal,
        retry_after: None,
        overloaded: false,
        source: Box::new(refused),
    }
}

fn whole_seconds(duration: Duration) -> String {
    seconds(Duration::from_secs(duration.as_secs()))
}

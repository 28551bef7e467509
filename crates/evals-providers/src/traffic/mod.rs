//! The one place through which every call to a provider passes: how many at once, how fast, and how often again.
//!
//! A call waits in one queue for its turn, is sent, and comes back to the end of the queue after a failure that may go away. The
//! number of calls at once adapts to what the server bears. When it bears not even one, or asks to be left alone, all calls
//! wait; when it refuses for good (a wrong key, a used-up quota, an unknown model), all calls with that key, or of that model,
//! end with that message and nothing more is sent for them.

mod attempt;
mod backoff;
mod call;
mod caller;
mod calls;
mod error;
mod gate;
mod lane;
mod limit;
mod pace;
mod refusals;
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

use tokio::time::{Instant, sleep_until};

pub use attempt::{AttemptError, Reach};
pub use error::TrafficError;
pub use settings::TrafficSettings;
pub use statistics::TrafficStatistics;

pub(crate) use lane::Lane;

use backoff::Backoff;
use call::Call;
use caller::Caller;
use calls::{Calls, Quiet};
use error::{Refused, seconds};
use gate::{Gate, Permit};
use limit::Limit;
use pace::Pace;
use refusals::Refusals;

use evals_models::Failure;

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
    refusals: Refusals,
    /// Whether the server ever answered, and since when it has been away.
    presence: Mutex<Presence>,
    statistics: Mutex<TrafficStatistics>,
}

/// Whether a server is there.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    answered: bool,
    away_since: Option<Instant>,
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
            .unwrap_or(settings.grown_concurrency);
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
            refusals: Refusals::new(),
            presence: Mutex::default(),
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

    /// Sends nothing any more. Attempts that were sent come to their end; calls that would need another one wait until they are
    /// dropped.
    pub fn close(&self) {
        self.gate.shut();
    }

    /// How many attempts were sent and have not come to their end.
    pub fn in_flight(&self) -> usize {
        self.gate.open()
    }

    /// Makes attempts until one succeeds, until nothing is left to try, or until the provider refuses for good.
    ///
    /// `estimated_tokens` is what one attempt costs of [`TrafficSettings::tokens_per_minute`]. Of the failures, transient ones
    /// are retried and come back with a [`TrafficError`] as their source when the attempts are used up. One of the content
    /// comes back at once. A terminal one comes back at once and ends every other call that waits or comes later.
    ///
    /// While a server that answered before is away, or loads its model, calls wait and try again until `call_deadline`,
    /// however many attempts that takes. One that stays away for longer is refused for good.
    pub async fn call<T, F, Fut>(
        &self,
        estimated_tokens: u64,
        attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let limit = self.settings.request_deadline;
        self.call_of(None, limit, estimated_tokens, attempt).await
    }

    /// The same for a caller, whose attempts may take as long as `limit` says.
    async fn call_of<T, F, Fut>(
        &self,
        caller: Option<&Caller>,
        limit: Duration,
        estimated_tokens: u64,
        attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let _begun = self.calls.begin();
        let delivered = Call::new(self, caller, limit, estimated_tokens).deliver(attempt);
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

    /// Ends every call of the caller that waits or comes later, and returns what each is told.
    fn refuse(&self, caller: Option<&Caller>, failure: AttemptError) -> AttemptError {
        let reach = failure.reach;
        let refused = Refused::new(failure.source);
        self.refusals.remember(caller, reach, &refused);
        terminal(reach, refused)
    }

    /// Waits until the caller is refused for good.
    async fn refusal(&self, caller: Option<&Caller>) -> AttemptError {
        terminal(Reach::Model, self.refusals.refusal(caller).await)
    }

    /// Notes that the server answered.
    fn answered(&self, caller: Option<&Caller>) {
        *self.presence() = Presence {
            answered: true,
            away_since: None,
        };
        self.refusals.answered(caller);
    }

    /// Notes that the server is away, and says for how long; `None` of one that was never there.
    fn away(&self) -> Option<Duration> {
        let mut presence = self.presence();
        let since = *presence.away_since.get_or_insert_with(Instant::now);
        presence.answered.then(|| since.elapsed())
    }

    fn presence(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
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

fn terminal(reach: Reach, refused: Refused) -> AttemptError {
    AttemptError {
        reach,
        ..AttemptError::new(Failure::Terminal, refused)
    }
}

fn whole_seconds(duration: Duration) -> String {
    seconds(Duration::from_secs(duration.as_secs()))
}

//! The one place through which every call to a provider passes. It decides how many run at once, how fast, and which are retried.
//!
//! A call waits in a queue for its turn and is sent. After a transient failure it goes back to the end of the queue. The number of
//! calls at once adapts to the server's load. When the server cannot take even one call, or asks for a pause, all calls wait. When it
//! refuses for good (a wrong key, a used-up quota, an unknown model), all calls with that key or to that model end with the server's
//! message, and no more are sent for them.

mod call;
mod calls;
mod error;
mod gate;
mod lane;
mod refusals;
mod settings;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evals_models::Failure;
use tokio::time::{Instant, sleep_until};

pub use error::{AttemptError, Contact, Reach, TrafficError};
pub(crate) use lane::Lane;
pub use settings::TrafficSettings;

use call::Call;
use calls::{Calls, Quiet};
use error::seconds;
use gate::{Gate, Limit, Permit, TrafficPace, later};
use refusals::{Caller, Refusals};
use settings::Backoff;

/// Receives a line when no attempt has ended for a minute while calls are under way, and again after each further minute. It must not
/// block.
pub type Watch = Arc<dyn Fn(&str) + Send + Sync>;

/// The traffic with one provider. All calls to an address share it, whichever model they ask.
///
/// Dropping a call's future cancels the call and frees its place. All waits follow the runtime's clock.
pub struct Traffic {
    provider: String,
    settings: TrafficSettings,
    gate: Gate,
    backoff: Backoff,
    calls: Calls,
    watch: Option<Watch>,
    refusals: Refusals,
    presence: Mutex<Presence>,
    statistics: Mutex<TrafficStatistics>,
}

/// Whether a server has ever answered, and since when it has been away.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    /// Whether it accepted a connection or sent anything, a refusal too.
    heard: bool,
    answered: bool,
    /// How many calls used up their attempts before the first success.
    exhausted: u32,
    away_since: Option<Instant>,
}

/// The result of a successful call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered<T> {
    /// The value that the successful attempt returned.
    pub value: T,
    /// How long the successful attempt took, without queueing and failed attempts.
    pub service_time: Duration,
    /// The number of attempts, at least 1.
    pub attempts: u32,
}

impl Traffic {
    /// The traffic with a provider. Messages name the provider as given here, usually by its address.
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
                TrafficPace::new(&settings),
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

    /// Calls `watch` when nothing moves.
    #[must_use]
    pub fn with_watch(self, watch: Watch) -> Self {
        Self {
            watch: Some(watch),
            ..self
        }
    }

    /// The provider's name in messages.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The limits and deadlines.
    pub fn settings(&self) -> &TrafficSettings {
        &self.settings
    }

    /// The counts so far.
    pub fn statistics(&self) -> TrafficStatistics {
        TrafficStatistics {
            limit: self.gate.limit(),
            ..*self.counted()
        }
    }

    /// Sends nothing from now on. Attempts under way finish. Calls that need another attempt wait until they are dropped.
    pub fn close(&self) {
        self.gate.shut();
    }

    /// How many attempts are under way.
    pub fn in_flight(&self) -> usize {
        self.gate.open()
    }

    /// Makes attempts until one succeeds, no attempt is left, or the provider refuses for good.
    ///
    /// Each attempt takes `estimated_tokens` from [`TrafficSettings::tokens_per_minute`]. Transient failures are retried; when no
    /// attempt is left, the call fails with a [`TrafficError`] as its source. A failure of the content fails the call at once. A
    /// terminal failure does too, and ends every other call that waits or comes later.
    ///
    /// While a server that answered before is away or loads its model, calls wait and retry until `call_deadline`, with any number
    /// of attempts. After that the server counts as gone: the failure is terminal. So does a server that is silent until the last
    /// attempt of a call, and was never heard of before.
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

    /// Makes attempts as [`Self::call`] does, for a caller, each within `limit`.
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

    /// Calls `watch` when nothing moves, for as long as this future is polled.
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

    /// Lowers the number of calls at once. If it is 1 already, all calls pause, longer after each further overload.
    fn overloaded(&self, permit: &Permit<'_>) {
        self.counted().overloads += 1;
        let at_one = permit.overloaded();
        if at_one > 0 {
            let pause = self.backoff.pause(at_one);
            self.gate.close_until(later(Instant::now(), pause));
        }
    }

    /// Ends every call of the caller that waits or comes later, and returns the error of each.
    fn refuse(&self, caller: Option<&Caller>, failure: AttemptError) -> AttemptError {
        let AttemptError { reach, source, .. } = failure;
        self.refusals.remember(caller, reach, &source);
        AttemptError {
            reach,
            ..AttemptError::of(Failure::Terminal, source)
        }
    }

    /// Waits until the provider refuses the caller for good.
    async fn refusal(&self, caller: Option<&Caller>) -> AttemptError {
        AttemptError::of(Failure::Terminal, self.refusals.refusal(caller).await)
    }

    /// Records that the server answered.
    fn answered(&self, caller: Option<&Caller>) {
        *self.presence() = Presence {
            heard: true,
            answered: true,
            exhausted: 0,
            away_since: None,
        };
        self.refusals.answered(caller);
    }

    /// Records that the server accepted a connection or sent something.
    fn heard(&self) {
        self.presence().heard = true;
    }

    /// Whether it ever did.
    fn is_heard(&self) -> bool {
        self.presence().heard
    }

    /// Records that a call used up its attempts. Returns how many did, if no call ever succeeded.
    fn exhausted(&self) -> Option<u32> {
        let mut presence = self.presence();
        presence.exhausted += 1;
        (!presence.answered).then_some(presence.exhausted)
    }

    /// Records that the server is away, and returns for how long; `None` if it never answered.
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

fn whole_seconds(duration: Duration) -> String {
    seconds(Duration::from_secs(duration.as_secs()))
}

/// Counts of a provider's traffic so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficStatistics {
    /// Attempts sent, successful or not.
    pub attempts: u64,
    /// Attempts that were not the first of their call.
    pub retries: u64,
    /// Attempts that met an overloaded server.
    pub overloads: u64,
    /// Attempts that were sent and got no answer: timed out, or the connection was lost. The server may charge for them, so their cost
    /// is unknown.
    pub unanswered: u64,
    /// How many calls may be open at once now.
    pub limit: usize,
    /// The total time that calls waited: in the queue, for the pace, and between attempts.
    pub waited: Duration,
}

//! Learns when requests to an object store are repeated.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// The module of the engine that repeats requests and logs each repetition.
const REPEATING: &str = "object_store::client::retry";

/// A request to an object store that failed and is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRetry {
    /// What the server did, without its name: `answered 503 Service Unavailable`. It may be the one that gives credentials to the machine.
    pub reason: String,
    /// How long this request is repeated, if that is not [`StoreSettings::retry_for`](crate::StoreSettings::retry_for), as while a store is
    /// opened.
    pub limit: Option<Duration>,
}

tokio::task_local! {
    /// How long the requests of this task are repeated.
    static LIMIT: Duration;
}

/// Does `work`, whose requests are repeated for `limit`.
pub(crate) async fn limited<T>(limit: Duration, work: impl Future<Output = T>) -> T {
    LIMIT.scope(limit, work).await
}

type Watch = Arc<dyn Fn(&StoreRetry) + Send + Sync>;

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Calls `watch` each time a request to an object store is repeated, in the whole process. The first call counts, and later ones do nothing;
/// neither does one in a program that reads the log of the engine itself.
pub fn watch_retries(watch: impl Fn(&StoreRetry) + Send + Sync + 'static) {
    if WATCH.set(Arc::new(watch)).is_ok() {
        // If the program has set a subscriber, it stays.
        let _ = tracing::subscriber::set_global_default(Listener);
    }
}

/// A subscriber to the engine's log that receives only the events of repeated requests.
#[derive(Debug)]
struct Listener;

impl Subscriber for Listener {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() == REPEATING
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        if let (Some(watch), Some(reason)) = (WATCH.get(), reason(&message.0)) {
            let limit = LIMIT.try_with(|limit| *limit).ok();
            watch(&StoreRetry { reason, limit });
        }
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// The reason in a message such as `Encountered server error with status 503 Service Unavailable, backing off for 0.1 seconds, …`.
fn reason(message: &str) -> Option<String> {
    let (failure, _) = message.split_once(", backing off")?;
    let failure = failure.strip_prefix("Encountered ")?;
    if let Some(status) = failure.strip_prefix("server error with status ") {
        return Some(format!("answered {status}"));
    }
    let reason = match failure.strip_prefix("transport error of kind ") {
        Some("Connect") => "cannot be reached",
        Some("Timeout") => "did not answer in time",
        Some(_) => "broke the connection off",
        None => "answered with an error",
    };
    Some(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_engine_has_a_reason() {
        for (message, expected) in [
            (
                "Encountered server error with status 503 Service Unavailable, backing off for 0.1 seconds, retry 1 of 10",
                "answered 503 Service Unavailable",
            ),
            (
                "Encountered transport error of kind Connect, backing off for 0.1 seconds, retry 1 of 3: error sending request",
                "cannot be reached",
            ),
            (
                "Encountered transport error of kind Interrupted, backing off for 0.1 seconds, retry 1 of 3: x",
                "broke the connection off",
            ),
        ] {
            assert_eq!(reason(message).unwrap(), expected);
        }
        assert_eq!(reason("another message"), None);
    }
}

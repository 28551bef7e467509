use super::{DownloadEvent, DownloadObserver, HubError, RetryPolicy};

/// Counts the failures of one request and pauses between its tries.
///
/// A loop around the request uses it, rather than a function that takes the request as a closure: futures of async
/// closures cannot be shown to be `Send`.
#[derive(Debug)]
pub(super) struct Retry {
    policy: RetryPolicy,
    failures: u32,
    /// The most tries where there is no connection.
    unconnected: u32,
}

/// Tries in all where there is no connection, and the cache has what was asked for: whoever is on a journey should not wait
/// at every start.
const UNCONNECTED: u32 = 2;

impl Retry {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            failures: 0,
            unconnected: policy.attempts,
        }
    }

    /// Gives up soon where there is no connection, because there is something to fall back on.
    pub(super) fn with_fallback(self) -> Self {
        Self {
            unconnected: UNCONNECTED.min(self.policy.attempts),
            ..self
        }
    }

    /// Pauses and returns where the request should be made again; else gives the error back. A server that asks for a
    /// longer pause than the policy's longest is not asked again: asking earlier would only be refused.
    pub(super) async fn after(
        &mut self,
        error: HubError,
        url: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<(), HubError> {
        self.failures += 1;
        let asked = error.retry_after();
        let is_too_long = asked.is_some_and(|pause| pause > self.policy.max_delay);
        let attempts = match error {
            HubError::NoConnection { .. } => self.unconnected,
            _ => self.policy.attempts,
        };
        if !error.is_transient() || is_too_long || self.failures >= attempts {
            return Err(error);
        }
        let delay = asked.unwrap_or_else(|| self.policy.backoff(self.failures));
        observer.on_event(&DownloadEvent::Retrying {
            url,
            reason: &error.reason(),
            delay,
        });
        tokio::time::sleep(delay).await;
        Ok(())
    }
}

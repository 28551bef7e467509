//! Retrying requests.

use super::{DownloadEvent, DownloadObserver, HubError, RetryPolicy};

/// Counts the failures of one request and pauses between its attempts.
///
/// A loop around the request uses it, rather than a function that takes the request as a closure: futures of async
/// closures cannot be shown to be `Send`.
#[derive(Debug)]
pub(super) struct Retry {
    policy: RetryPolicy,
    failures: u32,
    /// The most attempts without a connection.
    unconnected: u32,
}

/// The most attempts without a connection if the cache has the files: somebody without a network should not wait at every start.
const UNCONNECTED: u32 = 2;

impl Retry {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            failures: 0,
            unconnected: policy.attempts,
        }
    }

    /// Gives up soon without a connection, because the cache can serve instead.
    pub(super) fn with_fallback(self) -> Self {
        Self {
            unconnected: UNCONNECTED.min(self.policy.attempts),
            ..self
        }
    }

    /// Pauses and returns if the request should be retried, else returns the error. If the server asks for a longer pause than the policy
    /// allows, there is no retry, because the server would refuse an earlier one.
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

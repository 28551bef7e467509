use super::{DownloadEvent, DownloadObserver, HubError, RetryPolicy};

/// Counts the failures of one request and pauses between its tries.
///
/// A loop around the request uses it, rather than a function that takes the request as a closure: futures of async
/// closures cannot be shown to be `Send`.
#[derive(Debug)]
pub(super) struct Retry {
    policy: RetryPolicy,
    failures: u32,
}

impl Retry {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            failures: 0,
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
        if !error.is_transient() || is_too_long || self.failures >= self.policy.attempts {
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

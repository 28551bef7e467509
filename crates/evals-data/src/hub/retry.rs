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

    /// Pauses and returns where the request should be made again; else gives the error back.
    pub(super) async fn after(
        &mut self,
        error: HubError,
        url: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<(), HubError> {
        self.failures += 1;
        if !error.is_transient() || self.failures >= self.policy.attempts {
            return Err(error);
        }
        let delay = self.policy.delay(self.failures, error.retry_after());
        observer.on_event(&DownloadEvent::Retrying {
            url,
            reason: &error.chain(),
            delay,
        });
        tokio::time::sleep(delay).await;
        Ok(())
    }
}

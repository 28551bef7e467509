//! The one place through which every call to a provider passes.

mod settings;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

pub use settings::TrafficSettings;

use super::AttemptError;

/// The traffic with one provider. All calls to an address share one, whichever model they ask.
pub struct Traffic {
    provider: String,
    settings: TrafficSettings,
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
        Self {
            provider: provider.into(),
            settings,
        }
    }

    /// The provider, as messages name it.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Makes one call.
    pub async fn call<T, F, Fut>(
        &self,
        estimated_tokens: u64,
        mut attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let _ = estimated_tokens;
        let started = Instant::now();
        let value = attempt().await?;
        Ok(Delivered {
            value,
            service_time: started.elapsed(),
            attempts: 1,
        })
    }
}

impl fmt::Debug for Traffic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Traffic")
            .field("provider", &self.provider)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

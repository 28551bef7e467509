//! One model's access to the traffic with its server.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::error::AttemptError;
use super::refusals::Caller;
use super::{Delivered, Traffic, TrafficSettings};
use crate::settings::ServerSettings;

/// Added to the timeout of the HTTP client, whose error says more, so that the client's timeout comes first.
const GRACE: Duration = Duration::from_secs(1);

/// One model's access to the [`Traffic`] with its server, under its own name and with its own timeout.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    traffic: Arc<Traffic>,
    caller: Caller,
    limit: Duration,
}

impl Lane {
    pub(crate) fn new(traffic: Arc<Traffic>, server: &ServerSettings, model: &str) -> Self {
        Self {
            traffic,
            caller: Caller::new(server, model),
            limit: server.timeout.saturating_add(GRACE),
        }
    }

    /// The same access for callers that repeat failed calls themselves: each call makes one attempt. An outage does not end later calls, and
    /// the server may ask for a pause of any length.
    pub(crate) fn single(&self) -> Self {
        let settings = TrafficSettings {
            max_attempts: NonZeroU32::MIN,
            retry_after_cap: Duration::MAX,
            ..self.traffic.settings().clone()
        };
        Self {
            traffic: Arc::new(Traffic::new(self.traffic.provider(), settings)),
            ..self.clone()
        }
    }

    /// Makes attempts as [`Traffic::call`] does.
    pub(crate) async fn call<T, F, Fut>(
        &self,
        estimated_tokens: u64,
        attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let caller = Some(&self.caller);
        self.traffic
            .call_of(caller, self.limit, estimated_tokens, attempt)
            .await
    }
}

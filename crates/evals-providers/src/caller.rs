use std::sync::Arc;
use std::time::Duration;

use super::{ApiKey, AttemptError, BaseUrl, Delivered, ServerSettings, Traffic};

/// Longer than the HTTP client's own timeout, whose message says more.
const GRACE: Duration = Duration::from_secs(1);

/// Who makes calls: a refusal of a key ends the calls with that key, and one of a model the calls of that model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    base_url: BaseUrl,
    key: Option<ApiKey>,
    model: String,
}

impl Caller {
    /// Whether both show the server the same credentials.
    pub(super) fn has_account_of(&self, other: &Self) -> bool {
        self.base_url == other.base_url && self.key == other.key
    }
}

/// The way of one model's calls into the traffic with its server: with its own name and its own timeout.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    traffic: Arc<Traffic>,
    caller: Caller,
    limit: Duration,
}

impl Lane {
    pub(super) fn new(traffic: Arc<Traffic>, server: &ServerSettings, model: &str) -> Self {
        Self {
            traffic,
            caller: Caller {
                base_url: server.base_url.clone(),
                key: server.api_key.clone(),
                model: model.to_owned(),
            },
            limit: server.timeout.saturating_add(GRACE),
        }
    }

    /// Makes attempts as [`Traffic::call`] does.
    pub(super) async fn call<T, F, Fut>(
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

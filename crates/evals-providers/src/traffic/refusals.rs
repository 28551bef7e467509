//! Which callers a provider refused for good.

use std::error::Error;
use std::sync::Arc;

use tokio::sync::watch;

use super::error::Reach;
use crate::settings::{ApiKey, BaseUrl, ServerSettings};

/// How many equal refusals with an unknown status, without a single answer, count as final.
pub(super) const ENOUGH: u32 = 5;

/// What a provider said when it refused for good.
type Refused = Arc<dyn Error + Send + Sync>;

/// The final refusals, and for each caller the refusals with an unknown status so far.
#[derive(Debug)]
pub(super) struct Refusals(watch::Sender<KnownRefusals>);

#[derive(Debug, Default)]
struct KnownRefusals {
    final_ones: Vec<FinalRefusal>,
    unknown: Vec<UnknownRefusals>,
}

#[derive(Debug)]
struct FinalRefusal {
    caller: Option<Caller>,
    reach: Reach,
    refused: Refused,
}

/// The refusals with an unknown status that a caller met before its first answer.
#[derive(Debug)]
struct UnknownRefusals {
    caller: Option<Caller>,
    status: u16,
    /// `None` after the first answer.
    in_a_row: Option<u32>,
}

impl FinalRefusal {
    fn concerns(&self, caller: Option<&Caller>) -> bool {
        match (self.reach, &self.caller, caller) {
            (Reach::Account, Some(refused), Some(caller)) => caller.has_account_of(refused),
            (_, refused, caller) => refused.as_ref() == caller,
        }
    }
}

impl KnownRefusals {
    fn of(&self, caller: Option<&Caller>) -> Option<&Refused> {
        let mut all = self.final_ones.iter();
        let found = all.find(|one| one.concerns(caller))?;
        Some(&found.refused)
    }

    fn unknown(&mut self, caller: Option<&Caller>) -> &mut UnknownRefusals {
        let mut known = self.unknown.iter();
        let place = known.position(|one| one.caller.as_ref() == caller);
        let place = place.unwrap_or_else(|| {
            self.unknown.push(UnknownRefusals {
                caller: caller.cloned(),
                status: 0,
                in_a_row: Some(0),
            });
            self.unknown.len() - 1
        });
        &mut self.unknown[place]
    }
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(KnownRefusals::default()))
    }

    /// Records a final refusal. Callers fail with the first one that concerns them.
    pub(super) fn remember(&self, caller: Option<&Caller>, reach: Reach, refused: &Refused) {
        self.0.send_if_modified(|state| {
            let is_first = state.of(caller).is_none();
            if is_first {
                state.final_ones.push(FinalRefusal {
                    caller: caller.cloned(),
                    reach,
                    refused: Arc::clone(refused),
                });
            }
            is_first
        });
    }

    /// Waits until a caller is refused for good.
    pub(super) async fn refusal(&self, caller: Option<&Caller>) -> Refused {
        let mut state = self.0.subscribe();
        let found = state.wait_for(|state| state.of(caller).is_some()).await;
        let found = found.ok().and_then(|state| state.of(caller).cloned());
        match found {
            Some(refused) => refused,
            // Not reached: the sender lives in `self`, so the channel cannot close.
            None => std::future::pending().await,
        }
    }

    /// Records that a caller was answered.
    pub(super) fn answered(&self, caller: Option<&Caller>) {
        self.0.send_if_modified(|state| {
            state.unknown(caller).in_a_row = None;
            false
        });
    }

    /// Records a refusal with an unknown status, and returns how many equal ones the caller met in a row without any answer; 0 if the
    /// caller was ever answered.
    pub(super) fn unknown(&self, caller: Option<&Caller>, status: u16) -> u32 {
        let mut in_a_row = 0;
        self.0.send_if_modified(|state| {
            let unknown = state.unknown(caller);
            if let Some(count) = &mut unknown.in_a_row {
                *count = if unknown.status == status {
                    *count + 1
                } else {
                    1
                };
                unknown.status = status;
                in_a_row = *count;
            }
            false
        });
        in_a_row
    }
}

/// Who makes calls. A refused key ends all calls with that key; a refused model ends all calls to that model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    base_url: BaseUrl,
    key: Option<ApiKey>,
    model: String,
}

impl Caller {
    pub(super) fn new(server: &ServerSettings, model: &str) -> Self {
        Self {
            base_url: server.base_url.clone(),
            key: server.api_key.clone(),
            model: model.to_owned(),
        }
    }

    /// Whether both send the server the same credentials.
    pub(super) fn has_account_of(&self, other: &Self) -> bool {
        self.base_url == other.base_url && self.key == other.key
    }
}

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ReplyKey;
use evals_models::ChatReply;

/// The reply to a request that is under way, once it is there.
type Slot = Arc<tokio::sync::Mutex<Option<ChatReply>>>;

/// A request that is under way, and in how many parts.
#[derive(Debug, Default)]
struct Shared {
    slot: Slot,
    parts: usize,
}

/// The requests that are under way in this process, so that one call answers all that are equal.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<ReplyKey, Shared>>);

impl Flights {
    /// Takes part in the flight of a request, as the first or as one of several.
    pub(super) fn join(&self, key: ReplyKey) -> Flight<'_> {
        let mut under_way = self.under_way();
        let shared = under_way.entry(key).or_default();
        shared.parts += 1;
        let slot = Arc::clone(&shared.slot);
        Flight {
            flights: self,
            key,
            slot,
        }
    }

    /// How many requests are under way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.under_way().len()
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<ReplyKey, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Part in a request that is under way; it is forgotten with its last part.
#[derive(Debug)]
pub(super) struct Flight<'a> {
    flights: &'a Flights,
    key: ReplyKey,
    slot: Slot,
}

impl Flight<'_> {
    /// Waits for the one that is asking, if there is one: the reply if it was successful, or else the turn to ask.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, Option<ChatReply>> {
        self.slot.lock().await
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut under_way = self.flights.under_way();
        if let Entry::Occupied(mut shared) = under_way.entry(self.key) {
            shared.get_mut().parts -= 1;
            if shared.get().parts == 0 {
                shared.remove();
            }
        }
    }
}

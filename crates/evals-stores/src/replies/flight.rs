//! Equal requests at the same time share one call.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::EntryKey;
use evals_models::ChatReply;

/// The result of a call, once it is there.
type Slot = Arc<tokio::sync::Mutex<Option<ChatReply>>>;

/// A call under way.
#[derive(Debug, Default)]
struct ReplyUnderWay {
    slot: Slot,
    /// How many requests wait for it, the one that makes it included.
    waiting: usize,
}

/// The calls under way in this process, by the key of their request.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<EntryKey, ReplyUnderWay>>);

impl Flights {
    /// Joins the call for a request, or begins it.
    pub(super) fn join(&self, key: EntryKey) -> Flight<'_> {
        let mut under_way = self.under_way();
        let shared = under_way.entry(key).or_default();
        shared.waiting += 1;
        let slot = Arc::clone(&shared.slot);
        Flight {
            flights: self,
            key,
            slot,
        }
    }

    /// The number of calls under way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.under_way().len()
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<EntryKey, ReplyUnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request's part in a call. The call is forgotten when the last part is dropped.
#[derive(Debug)]
pub(super) struct Flight<'a> {
    flights: &'a Flights,
    key: EntryKey,
    slot: Slot,
}

impl Flight<'_> {
    /// Waits for the request that makes the call, if another does. Returns its result, or the turn to make the call if it failed.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, Option<ChatReply>> {
        self.slot.lock().await
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut under_way = self.flights.under_way();
        if let Entry::Occupied(mut shared) = under_way.entry(self.key) {
            shared.get_mut().waiting -= 1;
            if shared.get().waiting == 0 {
                shared.remove();
            }
        }
    }
}

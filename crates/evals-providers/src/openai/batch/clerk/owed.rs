//! What the budget keeps reserved for replies that callers have, until they have paid for them.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Clerk;
use crate::openai::batch::host::BatchSize;

/// The reservations for replies that callers have and have not paid for.
pub(super) struct Owed {
    sizes: BTreeMap<String, BatchSize>,
    /// When the last reply was handed out or paid for.
    moved: Instant,
}

impl Owed {
    pub(super) fn new() -> Self {
        Self {
            sizes: BTreeMap::new(),
            moved: Instant::now(),
        }
    }

    /// Notes that a reply is handed out now.
    pub(super) fn hand_out(&mut self) {
        self.moved = Instant::now();
    }

    /// When to go on: at once if every caller has paid, or else when none has for `quiet`. A caller that has gone never pays.
    pub(super) fn settled(&self, quiet: Duration) -> Instant {
        if self.sizes.is_empty() {
            self.moved
        } else {
            self.moved + quiet
        }
    }
}

impl Clerk {
    /// Keeps this reserved for a request until its caller has stored the reply, and so paid for it.
    pub(super) fn owe(&mut self, id: &str, size: BatchSize) {
        self.owed.hand_out();
        if let Some(earlier) = self.owed.sizes.insert(id.to_owned(), size) {
            self.desk.host.release(&earlier);
        }
    }

    /// Gives back what is reserved for a request.
    pub(super) fn release_owed(&mut self, id: &str) {
        if let Some(size) = self.owed.sizes.remove(id) {
            self.owed.moved = Instant::now();
            self.desk.host.release(&size);
        }
    }
}

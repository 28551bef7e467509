//! What the budget keeps reserved for replies that are handed out, until their callers have paid for them.
//!
//! A caller that has gone never pays. If it goes before its reply comes, the cost of the reply stays reserved. If it goes with the reply,
//! before it has stored it, the most that the request may cost stays reserved.

use std::collections::BTreeMap;
use std::time::Duration;

use evals_models::Usage;
use tokio::time::Instant;

use super::Clerk;
use crate::openai::batch::host::BatchSize;

/// The reservations for replies that callers have not paid for.
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

    /// Keeps only the cost of the reply reserved for a request whose callers have gone, because they never store the reply. If the server
    /// has not counted its tokens, the most that it may cost stays reserved.
    pub(super) fn keep_cost(&mut self, id: &str, usage: Usage) {
        if usage.estimated {
            return;
        }
        if let Some(size) = self.owed.sizes.get_mut(id) {
            let cost = size.take(BatchSize {
                requests: 1,
                input_tokens: usage.input_tokens,
                output_tokens: Some(usage.output_tokens),
            });
            let unused = std::mem::replace(size, cost);
            self.desk.host.release(&unused);
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

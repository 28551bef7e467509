//! The gate that requests to processes pass, for a program that is to end without losing a reply.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counts the requests that processes have, and holds back further ones. Clones are the same gate.
///
/// A program that is interrupted [`close`](Self::close)s the gate, waits until nothing is [`in_flight`](Self::in_flight), and
/// drops what still waits.
#[derive(Clone, Debug, Default)]
pub struct RequestGate(Arc<State>);

#[derive(Debug, Default)]
struct State {
    in_flight: AtomicUsize,
    is_closed: AtomicBool,
}

/// A request that passed the gate. It is in flight until this is dropped.
#[derive(Debug)]
pub(super) struct Passed(Arc<State>);

impl RequestGate {
    /// Sends nothing from now on. Requests in flight finish; others wait until they are dropped.
    pub fn close(&self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
    }

    /// How many requests the processes have.
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.load(Ordering::SeqCst)
    }

    /// Lets a request through. Never returns once the gate is closed.
    pub(super) async fn pass(&self) -> Passed {
        // Counted before the gate is looked at: whoever closes it and then counts misses no request.
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        let passed = Passed(Arc::clone(&self.0));
        if self.0.is_closed.load(Ordering::SeqCst) {
            drop(passed);
            return pending().await;
        }
        passed
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_closed_gate_holds_back_requests_and_counts_those_that_passed() {
        let gate = RequestGate::default();
        let passed = gate.pass().now_or_never().expect("the gate is open");
        gate.clone().close();
        assert!(gate.pass().now_or_never().is_none());
        assert_eq!(gate.in_flight(), 1);
        drop(passed);
        assert_eq!(gate.in_flight(), 0);
    }
}

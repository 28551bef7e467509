//! The queue in which attempts wait for their turn.

use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::limit::Limit;
use super::pace::TrafficPace;

/// Lets attempts in one after the other, in the order in which they came.
///
/// Only the first in the queue waits for something: the pace, the end of a pause that the server asked for, or the end of another
/// attempt. It takes its permit last, so that no attempt holds a permit while it waits.
#[derive(Debug)]
pub(super) struct Gate {
    turn: tokio::sync::Mutex<()>,
    pace: TrafficPace,
    state: Mutex<GateState>,
    changed: Notify,
}

#[derive(Debug)]
struct GateState {
    limit: Limit,
    open: usize,
    not_before: Option<Instant>,
    is_shut: bool,
}

/// The reason why the first in the queue waits.
enum Obstacle {
    Time(Instant),
    Room,
    /// The gate is shut for good.
    Shut,
}

impl Gate {
    pub(super) fn new(limit: Limit, pace: TrafficPace) -> Self {
        Self {
            turn: tokio::sync::Mutex::new(()),
            pace,
            state: Mutex::new(GateState {
                limit,
                open: 0,
                not_before: None,
                is_shut: false,
            }),
            changed: Notify::new(),
        }
    }

    /// Waits for permission to send an attempt of that many tokens.
    pub(super) async fn enter(&self, tokens: u64) -> Permit<'_> {
        let _turn = self.turn.lock().await;
        self.pace.admit(tokens).await;
        loop {
            match self.try_enter() {
                Ok(permit) => return permit,
                Err(Obstacle::Time(moment)) => sleep_until(moment).await,
                Err(Obstacle::Room) => self.changed.notified().await,
                Err(Obstacle::Shut) => pending().await,
            }
        }
    }

    /// Lets no attempt in before `moment`. A moment before the current one changes nothing.
    pub(super) fn close_until(&self, moment: Instant) {
        let mut state = self.state();
        state.not_before = state.not_before.max(Some(moment));
    }

    /// Lets no attempt in from now on: those that wait or come later wait until they are dropped.
    pub(super) fn shut(&self) {
        self.state().is_shut = true;
    }

    /// How many attempts may be open at once now.
    pub(super) fn limit(&self) -> usize {
        self.state().limit.current()
    }

    /// How many attempts are open.
    pub(super) fn open(&self) -> usize {
        self.state().open
    }

    fn try_enter(&self) -> Result<Permit<'_>, Obstacle> {
        let mut state = self.state();
        if state.is_shut {
            return Err(Obstacle::Shut);
        }
        if let Some(moment) = state.not_before
            && moment > Instant::now()
        {
            return Err(Obstacle::Time(moment));
        }
        if state.open >= state.limit.current() {
            return Err(Obstacle::Room);
        }
        state.open += 1;
        let open = state.open;
        state.limit.entered(open);
        Ok(Permit {
            gate: self,
            epoch: state.limit.epoch(),
        })
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permission to send one attempt, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    gate: &'a Gate,
    epoch: u64,
}

impl Permit<'_> {
    /// Records that the attempt succeeded.
    pub(super) fn succeeded(&self) {
        self.gate.state().limit.succeeded(self.epoch);
    }

    /// Records that the server was overloaded, and returns the number of overloads in a row while only one attempt was allowed.
    pub(super) fn overloaded(&self) -> u32 {
        self.gate.state().limit.overloaded(self.epoch)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.gate.state().open -= 1;
        self.gate.changed.notify_one();
    }
}

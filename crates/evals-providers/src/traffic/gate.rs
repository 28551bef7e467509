//! The queue in which attempts wait for their turn: how many may be open at once, and how fast they are sent.

use std::future::pending;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::settings::TrafficSettings;

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

/// The number of calls that may be open at once. It grows by one after each window of successes and halves after an overload (AIMD,
/// as in TCP's congestion avoidance, RFC 5681).
#[derive(Debug)]
pub(super) struct Limit {
    current: usize,
    ceiling: usize,
    successes: usize,
    /// Whether as many calls as allowed were open at once since the limit last changed.
    reached: bool,
    /// Overloads since the last success while only one call was allowed.
    at_one: u32,
    epoch: u64,
}

impl Limit {
    pub(super) fn new(start: usize, ceiling: usize) -> Self {
        Self {
            current: start.clamp(1, ceiling.max(1)),
            ceiling: ceiling.max(1),
            successes: 0,
            reached: false,
            at_one: 0,
            epoch: 0,
        }
    }

    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// The number of decreases so far, which tells under which limit a call was let in.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Records how many calls are open after another was let in.
    pub(super) fn entered(&mut self, open: usize) {
        self.reached |= open >= self.current;
    }

    /// Records the success of a call that was let in under `epoch`.
    ///
    /// A success does not count while there is room for more calls, because it says nothing about them. Nor does one from before a
    /// decrease.
    pub(super) fn succeeded(&mut self, epoch: u64) {
        self.at_one = 0;
        if epoch != self.epoch || !self.reached || self.current >= self.ceiling {
            return;
        }
        self.successes += 1;
        if self.successes >= self.current {
            self.current += 1;
            self.restart_window();
        }
    }

    /// Records an overload of a call that was let in under `epoch`, and returns the number of overloads in a row while only one call
    /// was allowed. As long as that is 0, fewer calls at once may help; after that only a pause does.
    ///
    /// Calls that were open at a decrease met the same overload, which counts once.
    pub(super) fn overloaded(&mut self, epoch: u64) -> u32 {
        if epoch != self.epoch {
            return 0;
        }
        if self.current == 1 {
            self.at_one = self.at_one.saturating_add(1);
        }
        self.current = (self.current / 2).max(1);
        self.epoch += 1;
        self.restart_window();
        self.at_one
    }

    fn restart_window(&mut self) {
        self.successes = 0;
        self.reached = false;
    }
}

/// The pace at which attempts may be sent.
#[derive(Debug)]
pub(super) struct TrafficPace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl TrafficPace {
    pub(super) fn new(settings: &TrafficSettings) -> Self {
        Self {
            requests: settings.requests_per_minute.map(Bucket::new),
            tokens: settings.tokens_per_minute.map(Bucket::new),
        }
    }

    /// Waits until an attempt of that many tokens may be sent.
    pub(super) async fn admit(&self, tokens: u64) {
        if let Some(bucket) = &self.requests {
            bucket.take(1).await;
        }
        if let Some(bucket) = &self.tokens {
            bucket.take(tokens).await;
        }
    }
}

/// A token bucket that fills evenly over a minute and holds the share of one second, at least 1. A call larger than the bucket waits for
/// its full amount.
///
/// A bucket that held the share of a minute would let twice the limit through in the first minute.
#[derive(Debug)]
struct Bucket {
    /// The time in which one token flows in.
    interval: Duration,
    /// The time in which an empty bucket fills.
    filling: Duration,
    /// When the bucket is full again.
    full: Mutex<Instant>,
}

impl Bucket {
    fn new(per_minute: NonZeroU32) -> Self {
        let interval = Duration::from_mins(1) / per_minute.get();
        let capacity = (per_minute.get() / 60).max(1);
        Self {
            interval,
            filling: interval * capacity,
            full: Mutex::new(Instant::now()),
        }
    }

    async fn take(&self, amount: u64) {
        let amount = u32::try_from(amount).unwrap_or(u32::MAX);
        let inflow = self.interval.saturating_mul(amount);
        let full = {
            let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
            *full = later((*full).max(Instant::now()), inflow);
            *full
        };
        if let Some(due) = full.checked_sub(self.filling) {
            sleep_until(due).await;
        }
    }
}

/// The moment after `duration`, or a century later where the clock does not reach that far.
pub(super) fn later(moment: Instant, duration: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_hours(24 * 365 * 100);
    moment
        .checked_add(duration)
        .unwrap_or_else(|| moment + CENTURY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets in as many calls as allowed and has them succeed.
    fn calm_window(limit: &mut Limit) -> usize {
        let (window, epoch) = (limit.current(), limit.epoch());
        (1..=window).for_each(|open| limit.entered(open));
        (1..=window).for_each(|_| limit.succeeded(epoch));
        limit.current()
    }

    #[test]
    fn grows_by_one_after_a_window_of_successes_up_to_the_ceiling() {
        let mut limit = Limit::new(2, 4);
        limit.entered(1);
        limit.entered(2);
        limit.succeeded(0);
        assert_eq!(limit.current(), 2);
        limit.succeeded(0);
        assert_eq!(limit.current(), 3);
        assert_eq!(calm_window(&mut limit), 4);
        assert_eq!(calm_window(&mut limit), 4);
    }

    #[test]
    fn successes_with_room_to_spare_prove_nothing() {
        let mut limit = Limit::new(2, 8);
        for _ in 0..100 {
            limit.entered(1);
            limit.succeeded(0);
        }
        assert_eq!(limit.current(), 2);
    }

    #[test]
    fn halves_once_for_all_calls_that_were_open_together() {
        let mut limit = Limit::new(32, 32);
        for _ in 0..32 {
            limit.overloaded(0);
        }
        assert_eq!(limit.current(), 16);
        limit.overloaded(limit.epoch());
        assert_eq!(limit.current(), 8);
    }

    #[test]
    fn never_falls_below_one_and_climbs_back() {
        let mut limit = Limit::new(3, 3);
        for _ in 0..5 {
            limit.overloaded(limit.epoch());
        }
        assert_eq!(limit.current(), 1);
        let trajectory: Vec<usize> = (0..3).map(|_| calm_window(&mut limit)).collect();
        assert_eq!(trajectory, [2, 3, 3]);
    }

    #[test]
    fn overloads_in_a_row_are_counted_from_one_call_at_a_time_on() {
        let mut limit = Limit::new(4, 4);
        let counts: Vec<u32> = (0..5).map(|_| limit.overloaded(limit.epoch())).collect();
        // 4 and 2 are halved; then come three overloads with one call at a time.
        assert_eq!(counts, [0, 0, 1, 2, 3]);
        limit.succeeded(0);
        assert_eq!(limit.overloaded(limit.epoch()), 1);
        assert_eq!(limit.overloaded(0), 0);
    }

    #[test]
    fn a_success_from_before_a_decrease_does_not_count() {
        let mut limit = Limit::new(2, 8);
        limit.overloaded(0);
        limit.entered(1);
        limit.succeeded(0);
        assert_eq!(limit.current(), 1);
    }
}

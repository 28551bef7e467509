//! Waiting for the time at which a request is due.

use std::thread;
use std::time::Duration;

use tokio::task;
use tokio::time::{self, Instant};

/// How to wait for a time.
pub trait Pace: Send {
    /// Returns at `due`, or at once if that has passed.
    fn wait_until(&mut self, due: Instant) -> impl Future<Output = ()> + Send;
}

/// Waits with the timer of tokio, which is up to a millisecond late. Tests with a paused clock use it.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimerPace;

impl Pace for TimerPace {
    async fn wait_until(&mut self, due: Instant) {
        time::sleep_until(due).await;
    }
}

/// Waits with an error of about a tenth of a millisecond, for systems that reply within a few milliseconds: the thread itself sleeps the last
/// two milliseconds. Needs a runtime of several threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadPace;

/// How late the timer of tokio may be, with a reserve.
const TIMER_ERROR: Duration = Duration::from_millis(2);

impl Pace for ThreadPace {
    async fn wait_until(&mut self, due: Instant) {
        if let Some(early) = due.checked_sub(TIMER_ERROR)
            && early > Instant::now()
        {
            time::sleep_until(early).await;
        }
        let rest = due.saturating_duration_since(Instant::now());
        if !rest.is_zero() {
            task::block_in_place(|| thread::sleep(rest));
        }
    }
}

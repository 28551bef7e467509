//! Loads a system with requests and measures how long they take.
//!
//! [`ClosedLoop`] is a number of callers who send the next request when they have the reply to the last one. It shows how many requests
//! per second a system serves. It hides how long users wait: while the system stalls, no caller sends a request, and the requests that
//! would have waited are missing from the latencies. This is *coordinated omission* (Tene, "How NOT to Measure Latency", 2013).
//!
//! [`OpenLoop`] sends requests at a fixed rate, as independent users do. It counts latency from the time at which a request was due, even
//! if it sends the request later. So a stall adds to the latency of every request that was due during the stall.
//!
//! The system is any asynchronous closure. A load calls it with the number of the request, from 0. The first failure ends the load.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::time::Duration;
//!
//! use evals_load::ClosedLoop;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
//! let load = ClosedLoop {
//!     callers: NonZeroUsize::new(4).expect("4 is not 0"),
//!     time: Duration::from_secs(2),
//!     ..ClosedLoop::default()
//! };
//! let served = load
//!     .run(async |_number: usize| {
//!         tokio::time::sleep(Duration::from_millis(10)).await;
//!         Ok::<(), std::io::Error>(())
//!     })
//!     .await?;
//! assert_eq!(served.per_second().map(f64::round), Some(400.0));
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod closed;
mod open;
mod pace;
mod served;

pub use closed::ClosedLoop;
pub use open::OpenLoop;
pub use pace::{Pace, ThreadPace, TimerPace};
pub use served::Served;

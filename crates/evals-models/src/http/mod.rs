//! Models behind HTTP servers.

mod attempt;
mod traffic;

pub use attempt::AttemptError;
pub use traffic::{Delivered, Traffic, TrafficError, TrafficSettings, TrafficStatistics, Watch};

//! Files of what models were asked for once: `SQLite` databases that several processes may use at a time, whose commits
//! outlive the process however it ends, and in which damage is noticed.

mod error;
mod file;
mod handle;
mod moment;
mod prune;
mod refresh;
mod statistics;
#[cfg(test)]
mod tests;
mod watch;
mod writes;

pub use error::StoreError;
pub(crate) use file::{File, Kind};
pub(crate) use handle::Handle;
pub(crate) use moment::now;
pub use prune::{Prune, Pruned};
pub use refresh::RefreshPolicy;
pub use statistics::{ModelEntries, StoreStatistics};
pub use watch::Watch;
pub use writes::Writes;

type Result<T, E = StoreError> = std::result::Result<T, E>;

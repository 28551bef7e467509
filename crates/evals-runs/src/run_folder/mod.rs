//! The folder of a run: its manifest, journal, reports and TREC files, and the state that they show.

mod failure;
mod files;
mod folder;
mod head;
mod lock;
mod start_lock;
mod state;

pub use self::failure::RunFailure;
pub use self::files::{LARGEST_REPORT, check_report, unreadable};
pub use self::folder::{PAGE, REPORT, RunFolder};
pub use self::start_lock::StartLock;
pub use self::state::{Left, RunState};

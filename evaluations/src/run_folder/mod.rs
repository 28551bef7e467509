//! The folder of a run: its manifest, journal, reports and TREC files, and the state that they show.

mod failure;
mod files;
mod folder;
mod head;
mod lock;
mod start_lock;
mod state;

pub(crate) use self::failure::RunFailure;
pub(crate) use self::files::{LARGEST_REPORT, REPORT, check_report, unreadable};
pub(crate) use self::folder::{PAGE, RunFolder};
pub(crate) use self::start_lock::StartLock;
pub(crate) use self::state::{Left, RunState};

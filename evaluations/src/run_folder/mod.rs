//! The folder that a run leaves behind: a manifest, a journal, the report for programs and for people, and TREC files.

mod folder;
mod head;
mod header;
mod identity;
mod lock;
mod manifest;
mod start_lock;
mod state;

pub(crate) use self::folder::{LARGEST_REPORT, REPORT, RunFolder, not_ours};
pub(crate) use self::header::{DatasetHeader, RunHeader};
pub(crate) use self::identity::{differences, identity};
pub(crate) use self::manifest::{DatasetRecord, IndexRecord, MANIFEST_VERSION, RunManifest, Tool};
pub(crate) use self::start_lock::StartLock;
pub(crate) use self::state::{RunFailure, RunState};

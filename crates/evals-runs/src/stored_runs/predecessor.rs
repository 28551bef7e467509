//! Finds the run that a run follows.

use super::choice::{StoredRuns, is_finished};
use super::run::StoredRun;
use crate::run_folder::RunFolder;
use crate::run_record::{Benchmark, RunRecord};

/// How an earlier run is related to one that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinship {
    /// The same dataset, benchmark and profile, and as many questions.
    Profile {
        /// Whether it has as many questions.
        is_as_long: bool,
    },
    /// The same dataset and benchmark, for a run that is alone in its command.
    Benchmark {
        /// Whether it has as many questions.
        is_as_long: bool,
    },
}

impl Kinship {
    /// Every kinship, the closest first. A run follows the newest finished run of the closest kinship that there is.
    pub const CLOSEST_FIRST: [Self; 4] = [
        Self::Profile { is_as_long: true },
        Self::Profile { is_as_long: false },
        Self::Benchmark { is_as_long: true },
        Self::Benchmark { is_as_long: false },
    ];

    /// Whether `before` is so related to `after`. A shard is related to the same shard alone.
    ///
    /// A run that is alone in its command may follow one of another profile, because a profile's name contains some settings. Runs of a
    /// command with several profiles only follow runs of their own profile.
    pub fn holds(self, before: &RunRecord, after: &RunRecord, is_alone: bool) -> bool {
        let has_length =
            |is_as_long: bool| !is_as_long || before.dataset.questions == after.dataset.questions;
        if before.shard() != after.shard() {
            return false;
        }
        match self {
            Self::Profile { is_as_long } => is_of_kind(before, after) && has_length(is_as_long),
            Self::Benchmark { is_as_long } => {
                is_alone && kind(before) == kind(after) && has_length(is_as_long)
            }
        }
    }
}

/// The newest finished run among `earlier` that `after` follows, of the closest kinship.
pub fn predecessor(
    runs: &StoredRuns<'_>,
    earlier: &[RunFolder],
    after: &StoredRun,
    is_alone: bool,
) -> Option<StoredRun> {
    let newest = |kinship: &Kinship| {
        let mut earlier = earlier.to_vec();
        let is_wanted = |before: &RunRecord| kinship.holds(before, &after.record, is_alone);
        runs.pop_newest(&mut earlier, is_wanted, is_finished).ok()
    };
    let (run, skipped) = Kinship::CLOSEST_FIRST.iter().find_map(newest)?;
    runs.note_skipped(&skipped);
    Some(run)
}

/// The dataset and the benchmark of a run.
pub fn kind(record: &RunRecord) -> (&str, Benchmark) {
    (&record.dataset.name, record.benchmark)
}

/// Whether two runs have the same dataset, benchmark and profile. Versions of a target do not matter: they are what changes over time.
pub fn is_of_kind(one: &RunRecord, other: &RunRecord) -> bool {
    kind(one) == kind(other) && one.system_name() == other.system_name()
}

//! Finds the run that a run follows.

use super::choice::{SkippedRun, StoredRuns, read};
use super::run::{StoredRun, is_finished};
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

/// The newest finished run among `earlier` that `after` follows, of the closest kinship. A note lists the newer runs of a kinship as close that
/// are not finished.
pub fn predecessor(
    runs: &StoredRuns<'_>,
    earlier: &[RunFolder],
    after: &StoredRun,
    is_alone: bool,
) -> Option<StoredRun> {
    let mut skipped = Vec::new();
    // How close it is, and how many were skipped before it.
    let mut found: Option<(usize, usize, StoredRun)> = None;
    for folder in earlier.iter().rev() {
        let run = match read(folder) {
            Ok(run) => run,
            Err(unreadable) => {
                skipped.push((0, unreadable));
                continue;
            }
        };
        let holds = |kinship: &Kinship| kinship.holds(&run.record, &after.record, is_alone);
        let closest = found
            .as_ref()
            .map_or(usize::MAX, |(closeness, ..)| *closeness);
        let closeness = Kinship::CLOSEST_FIRST.iter().position(holds);
        let Some(closeness) = closeness.filter(|it| *it < closest) else {
            continue;
        };
        let state = folder.state();
        if is_finished(state) {
            found = Some((closeness, skipped.len(), run));
            if closeness == 0 {
                break;
            }
        } else {
            skipped.push((closeness, SkippedRun::because_of(folder, state)));
        }
    }
    let (closeness, newer, run) = found?;
    let skipped = skipped.into_iter().take(newer);
    let skipped = skipped.filter(|(of, _)| *of <= closeness);
    runs.note_skipped(&skipped.map(|(_, run)| run).collect::<Vec<_>>());
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

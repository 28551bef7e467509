//! Finds the run that a run follows.

use super::choice::{StoredRuns, is_finished};
use super::run::StoredRun;
use crate::run_folder::{RunFolder, RunHeader};

/// The newest finished run among `earlier` with the dataset and benchmark of `after`, preferably with its profile and its number of
/// questions.
///
/// A run that is alone in its command may follow one of another profile, because a profile's name contains some settings. Runs of a
/// command with several profiles only follow runs of their own profile.
pub(crate) fn predecessor(
    runs: &StoredRuns<'_>,
    earlier: &[RunFolder],
    after: &StoredRun,
    is_alone: bool,
) -> Option<StoredRun> {
    let is_of_profile = |header: &RunHeader| is_of_kind(header, &after.header);
    let is_of_benchmark = |header: &RunHeader| is_alone && kind(header) == kind(&after.header);
    let is_as_long =
        |header: &RunHeader| header.dataset.questions == after.header.dataset.questions;
    let newest = |is_wanted: &dyn Fn(&RunHeader) -> bool| {
        let mut earlier = earlier.to_vec();
        runs.pop_newest(&mut earlier, is_wanted, is_finished).ok()
    };
    let (run, skipped) = newest(&|header| is_of_profile(header) && is_as_long(header))
        .or_else(|| newest(&is_of_profile))
        .or_else(|| newest(&|header| is_of_benchmark(header) && is_as_long(header)))
        .or_else(|| newest(&is_of_benchmark))?;
    runs.note_skipped(&skipped);
    Some(run)
}

/// The dataset and the benchmark of a run.
pub(crate) fn kind(header: &RunHeader) -> (&str, &str) {
    (&header.dataset.name, &header.benchmark)
}

/// Whether two runs have the same dataset, benchmark and profile.
pub(crate) fn is_of_kind(one: &RunHeader, other: &RunHeader) -> bool {
    kind(one) == kind(other) && one.profile == other.profile
}

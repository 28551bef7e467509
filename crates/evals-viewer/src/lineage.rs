//! Which run follows which.

use std::ops::Range;
use std::sync::Arc;

use evals_runs::stored_runs::{Kinship, StoredRun, headlines, is_of_command, is_of_kind, kind};

/// The commands that started the runs of a list.
#[derive(Debug)]
pub(super) struct Lineage<'r> {
    runs: &'r [Arc<StoredRun>],
    /// For each run, the places of the runs that its command started.
    commands: Vec<Range<usize>>,
}

impl<'r> Lineage<'r> {
    /// Of runs, oldest first.
    pub(super) fn of(runs: &'r [Arc<StoredRun>]) -> Self {
        let mut commands = vec![0..0; runs.len()];
        let mut end = runs.len();
        while end > 0 {
            let mut start = end - 1;
            while start > 0 {
                let command = runs[start..end].iter().map(|run| &**run);
                if !is_of_command(&runs[start - 1].record, command) {
                    break;
                }
                start -= 1;
            }
            commands[start..end].fill(start..end);
            end = start;
        }
        Self { runs, commands }
    }

    /// The place of the run that the one at a place follows, as `evaluations compare` chooses it.
    pub(super) fn predecessor(&self, place: usize) -> Option<usize> {
        let command = self.commands[place].clone();
        let after = &self.runs[place].record;
        let same = self.runs[command.clone()]
            .iter()
            .filter(|run| kind(&run.record) == kind(after));
        let is_alone = same.count() == 1;
        let earlier = &self.runs[..command.start];
        Kinship::CLOSEST_FIRST.iter().find_map(|kinship| {
            earlier.iter().rposition(|before| {
                kinship.holds(&before.record, after, is_alone) && before.is_finished()
            })
        })
    }

    /// The place of the newest finished run before the one at a place that asked the same questions, whatever its profile: where a run follows
    /// none, a list still says how it differs.
    pub(super) fn neighbour(&self, place: usize) -> Option<usize> {
        let after = &self.runs[place].record;
        self.runs[..place].iter().rposition(|before| {
            Kinship::Benchmark { is_as_long: true }.holds(&before.record, after, true)
                && before.is_finished()
        })
    }

    /// The small line that ends with the run at a place: over the runs of its profile, or where it is the first, of all profiles.
    pub(super) fn headlines(&self, place: usize) -> Vec<Option<f64>> {
        let (last, earlier) = (&self.runs[place], &self.runs[..place]);
        let earlier = || earlier.iter().rev().map(|run| &**run);
        let own = headlines(last, earlier(), is_of_kind);
        if own.len() > 1 {
            return own;
        }
        headlines(last, earlier(), |one, other| kind(one) == kind(other))
    }
}

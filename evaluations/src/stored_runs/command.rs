//! The runs that one command started.

use anyhow::Result;

use super::choice::{SkippedRun, StoredRuns, is_finished};
use super::predecessor::is_of_kind;
use super::run::StoredRun;
use crate::run_folder::{RunFolder, RunHeader};

/// Whether the command that started the runs `command` started the run before them in the list, too.
///
/// The same command typed twice in a row is two commands, so no two of its runs have the same dataset, benchmark and profile.
pub(crate) fn is_of_command<'h>(
    header: &RunHeader,
    command: impl IntoIterator<Item = &'h RunHeader>,
) -> bool {
    let mut command = command.into_iter();
    command.all(|run| run.command_line == header.command_line && !is_of_kind(run, header))
}

impl StoredRuns<'_> {
    /// Takes the runs of the last command with any finished run off the end of `folders`. Returns the finished ones, oldest first, and
    /// the newer runs that are unfinished.
    pub(crate) fn pop_last_command(
        &self,
        folders: &mut Vec<RunFolder>,
    ) -> Result<(Vec<StoredRun>, Vec<SkippedRun>)> {
        let (latest, mut skipped) = self.pop_newest(folders, |_| true, is_finished)?;
        let mut command = vec![latest];
        while let Some(folder) = folders.last() {
            let Ok(header) = folder.read_manifest::<RunHeader>() else {
                break;
            };
            if !is_of_command(&header, command.iter().map(|run| &run.header)) {
                break;
            }
            let state = folder.state();
            if is_finished(state) {
                command.push(StoredRun::of_folder(folder.clone())?);
            } else {
                skipped.push(SkippedRun::because_of(folder, state));
            }
            folders.pop();
        }
        command.reverse();
        Ok((command, skipped))
    }
}

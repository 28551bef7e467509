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

/// Runs that differ in their settings, which one command tried one after another.
#[derive(Debug)]
pub(crate) struct Variants {
    /// The finished runs, oldest first.
    pub(crate) runs: Vec<StoredRun>,
    pub(crate) skipped: Vec<SkippedRun>,
}

impl StoredRuns<'_> {
    /// The runs of the last command with any finished run, if it tried several settings: they then have the same dataset, benchmark and
    /// profile, and different names. `None` for any other command.
    pub(crate) fn variants_of_last_command(
        &self,
        mut folders: Vec<RunFolder>,
    ) -> Result<Option<Variants>> {
        let (latest, mut skipped) = self.pop_newest(&mut folders, |_| true, is_finished)?;
        if !latest.header.command_line.is_array() {
            return Ok(None);
        }
        let mut runs = vec![latest];
        while let Some(folder) = folders.pop() {
            let Ok(header) = folder.read_manifest::<RunHeader>() else {
                break;
            };
            let is_again = |run: &StoredRun| {
                run.header.name == header.name && is_of_kind(&run.header, &header)
            };
            if header.command_line != runs[0].header.command_line || runs.iter().any(is_again) {
                break;
            }
            let state = folder.state();
            if is_finished(state) {
                runs.push(StoredRun::of_folder(folder)?);
            } else {
                skipped.push(SkippedRun::because_of(&folder, state));
            }
        }
        runs.reverse();
        let differs_in_name = |run: &StoredRun| {
            let others = runs.iter();
            let mut others = others.filter(|it| is_of_kind(&it.header, &run.header));
            others.any(|it| it.header.name != run.header.name)
        };
        let are_variants = runs.iter().any(differs_in_name);
        Ok(are_variants.then_some(Variants { runs, skipped }))
    }

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

//! The runs that one command started.

use anyhow::{Result, bail};

use super::choice::{SkippedRun, StoredRuns};
use super::predecessor::is_of_kind;
use super::run::{StoredRun, is_finished};
use crate::run_folder::RunFolder;
use crate::run_record::RunRecord;

/// Whether the command that started the runs `command` started the run before them in the list, too.
///
/// The same command typed twice in a row is two commands, so no two of its runs have the same dataset, benchmark and profile.
pub fn is_of_command<'r>(
    before: &RunRecord,
    command: impl IntoIterator<Item = &'r StoredRun>,
) -> bool {
    let mut command = command.into_iter().map(|run| &run.record);
    command.all(|run| run.command_line == before.command_line && !is_of_kind(run, before))
}

/// Runs that differ in their settings, which one command tried one after another.
#[derive(Debug)]
pub struct Variants {
    /// The finished runs, oldest first.
    pub runs: Vec<StoredRun>,
    /// Runs of the same command that are not finished.
    pub skipped: Vec<SkippedRun>,
}

impl StoredRuns<'_> {
    /// The runs of the last command with any finished run, if it tried several settings: they then have the same dataset, benchmark and
    /// profile, and different names. `None` for any other command. Fails if the newest run is not finished and is of a later command, about
    /// which the finished one says nothing.
    pub fn variants_of_last_command(
        &self,
        mut folders: Vec<RunFolder>,
    ) -> Result<Option<Variants>> {
        let newest = folders.last().cloned();
        let (latest, mut skipped) = self.pop_newest(&mut folders, |_| true, is_finished)?;
        if let Some(newest) = newest.filter(|_| !skipped.is_empty()) {
            check_finished(&newest, &latest)?;
        }
        if latest.record.command_line.is_empty() {
            return Ok(None);
        }
        let mut runs = vec![latest];
        while let Some(folder) = folders.pop() {
            let Ok(record) = folder.read_record() else {
                break;
            };
            let is_again = |run: &StoredRun| {
                run.record.name == record.name && is_of_kind(&run.record, &record)
            };
            if record.command_line != runs[0].record.command_line || runs.iter().any(is_again) {
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
            let mut others = others.filter(|it| is_of_kind(&it.record, &run.record));
            others.any(|it| it.record.name != run.record.name)
        };
        let are_variants = runs.iter().any(differs_in_name);
        Ok(are_variants.then_some(Variants { runs, skipped }))
    }

    /// Takes the runs of the last command with any finished run off the end of `folders`. Returns the finished ones, oldest first, and
    /// the newer runs that are unfinished.
    pub fn pop_last_command(
        &self,
        folders: &mut Vec<RunFolder>,
    ) -> Result<(Vec<StoredRun>, Vec<SkippedRun>)> {
        let (latest, mut skipped) = self.pop_newest(folders, |_| true, is_finished)?;
        let mut command = vec![latest];
        while let Some(folder) = folders.last() {
            let Ok(record) = folder.read_record() else {
                break;
            };
            if !is_of_command(&record, &command) {
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

/// Fails if the newest run is not finished and is of a later command than the newest finished one.
fn check_finished(newest: &RunFolder, latest: &StoredRun) -> Result<()> {
    let state = newest.state();
    let is_same_command = newest.read_record().is_ok_and(|record| {
        let (line, latest) = (&record.command_line, &latest.record);
        let is_again = record.name == latest.name && is_of_kind(&record, latest);
        !line.is_empty() && *line == latest.command_line && !is_again
    });
    if is_finished(state) || is_same_command {
        return Ok(());
    }
    bail!(
        "your last command did not finish: {}; run it again, or name the two runs to compare",
        SkippedRun::because_of(newest, state).text()
    )
}

//! Finds the stored run that a command line names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::run::{StoredRun, is_finished};
use crate::Notes;
use crate::directories::Directories;
use crate::run_folder::{RunFolder, RunState};
use crate::run_record::RunRecord;

/// The name of the newest finished run.
const LATEST: &str = "latest";

/// Most runs listed in one message.
const NAMED: usize = 5;

/// The runs in the data folder.
#[expect(missing_debug_implementations, reason = "its notes go anywhere")]
pub struct StoredRuns<'s> {
    runs: PathBuf,
    notes: &'s dyn Notes,
}

/// A newer run that was not chosen, with the reason.
#[derive(Debug)]
pub struct SkippedRun {
    name: String,
    why: String,
}

impl<'s> StoredRuns<'s> {
    /// The runs in these folders. `notes` gets what to say about runs that are skipped.
    pub fn of(directories: &Directories, notes: &'s dyn Notes) -> Self {
        Self {
            runs: directories.runs(),
            notes,
        }
    }

    /// Every run folder, oldest first.
    pub fn list(&self) -> Result<Vec<RunFolder>> {
        RunFolder::list(&self.runs)
    }

    /// The run that `wanted` names: a path, a name, the start of a name, or `latest`.
    pub fn find(&self, wanted: &OsStr) -> Result<StoredRun> {
        if is_latest(wanted) {
            self.latest(|_| true, is_finished)
        } else {
            self.named(wanted)
        }
    }

    /// The run at a path, in the folder of that name or start of a name, or the newest finished run with that `--name`.
    pub fn named(&self, wanted: &OsStr) -> Result<StoredRun> {
        if let Some(run) = StoredRun::at(Path::new(wanted))? {
            return Ok(run);
        }
        match self.by_name(wanted) {
            Err(unknown) if unknown.is::<UnknownRun>() => {
                self.by_given_name(wanted)?.ok_or(unknown)
            }
            folder => StoredRun::of_folder(folder?),
        }
    }

    /// The newest finished run with that `--name`; `None` if no run has it.
    ///
    /// One command gives its name to every profile's run and to question answering. Taking the newest of these would compare
    /// rankings with answers, so runs of several kinds are an error that lists the newest of each.
    fn by_given_name(&self, wanted: &OsStr) -> Result<Option<StoredRun>> {
        let has_name = |record: &RunRecord| wanted == OsStr::new(&record.name);
        let mut newest_of_kind = BTreeMap::new();
        for folder in self.list()? {
            if let Ok(record) = folder.read_record()
                && has_name(&record)
            {
                let kind = (record.benchmark.word(), record.system_name().to_owned());
                newest_of_kind.insert(kind, folder.name());
            }
        }
        match newest_of_kind.len() {
            0 => Ok(None),
            1 => self.latest(has_name, is_finished).map(Some),
            _ => {
                let names: Vec<String> = newest_of_kind
                    .values()
                    .map(|name| format!("  {name}"))
                    .collect();
                bail!(
                    "runs named `{}` differ in benchmark or profile; choose one:\n{}",
                    wanted.display(),
                    names.join("\n")
                )
            }
        }
    }

    /// Prints a note if a run is incomplete or has failures, for commands that use it anyway.
    pub fn note_incomplete(&self, run: &StoredRun) {
        let state = run.state();
        if !state.has_no_failures() {
            let remedy = match state {
                RunState::Running | RunState::Unfinished(_) => format!("; {}", run.remedy()),
                _ => String::new(),
            };
            self.notes
                .note(&format!("`{}`: {state}{remedy}", run.name()));
        }
    }

    /// The folder with that name, or the only one whose name starts with it.
    pub fn by_name(&self, wanted: &OsStr) -> Result<RunFolder> {
        let mut folders = self.list()?;
        if let Some(exact) = folders.iter().find(|it| it.file_name() == *wanted) {
            return Ok(exact.clone());
        }
        let start = wanted.as_encoded_bytes();
        folders.retain(|it| it.file_name().as_encoded_bytes().starts_with(start));
        match folders.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(UnknownRun::new(wanted, &self.runs).into()),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|folder| format!("  {}", folder.name()))
                    .collect();
                bail!(
                    "`{}` matches more than one run:\n{}",
                    wanted.display(),
                    names.join("\n")
                )
            }
        }
    }

    /// The newest run with an acceptable record and state. A note lists newer ones whose state is not acceptable.
    pub fn latest(
        &self,
        is_wanted: impl Fn(&RunRecord) -> bool,
        is_acceptable: impl Fn(RunState) -> bool,
    ) -> Result<StoredRun> {
        let mut folders = self.list()?;
        let (run, skipped) = self.pop_newest(&mut folders, is_wanted, is_acceptable)?;
        self.note_skipped(&skipped);
        Ok(run)
    }

    /// The newest run that a process works on, if any. A note lists the others.
    pub fn newest_running(
        &self,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<Option<StoredRun>> {
        let mut running = Vec::new();
        for folder in self.list()?.into_iter().rev() {
            if folder.is_locked()
                && let Ok(run) = StoredRun::of_folder(folder)
                && is_wanted(&run.record)
            {
                running.push(run);
            }
        }
        let others: Vec<String> = running.iter().skip(1).map(StoredRun::name).collect();
        if !others.is_empty() {
            self.notes
                .note(&format!("also running: {}", others.join(", ")));
        }
        Ok(running.into_iter().next())
    }

    /// Removes the newest acceptable run and everything newer from the end of `folders`. The second value holds the wanted runs
    /// whose state was not acceptable.
    pub fn pop_newest(
        &self,
        folders: &mut Vec<RunFolder>,
        is_wanted: impl Fn(&RunRecord) -> bool,
        is_acceptable: impl Fn(RunState) -> bool,
    ) -> Result<(StoredRun, Vec<SkippedRun>)> {
        let mut skipped = Vec::new();
        while let Some(folder) = folders.pop() {
            let run = match read(&folder) {
                Ok(run) => run,
                Err(unreadable) => {
                    skipped.push(unreadable);
                    continue;
                }
            };
            if !is_wanted(&run.record) {
                continue;
            }
            let state = folder.state();
            if is_acceptable(state) {
                return Ok((run, skipped));
            }
            skipped.push(SkippedRun::because_of(&folder, state));
        }
        let runs = self.runs.display();
        if skipped.is_empty() {
            bail!("there are no runs in `{runs}` that fit; `evaluations runs` lists all runs");
        }
        bail!(
            "found no finished run in `{runs}`; skipped:\n{}",
            listed(&skipped).join("\n")
        )
    }

    /// Lists the runs that are newer than the chosen one, each with the reason why it was skipped.
    pub fn note_skipped(&self, skipped: &[SkippedRun]) {
        for line in listed(skipped) {
            self.notes.note(&format!("skipped {line}"));
        }
    }
}

impl SkippedRun {
    /// The name and the reason.
    pub fn text(&self) -> String {
        format!("`{}`: {}", self.name, self.why)
    }

    pub fn because_of(folder: &RunFolder, state: RunState) -> Self {
        Self {
            name: folder.name(),
            why: state.to_string(),
        }
    }
}

/// The run in a folder, or why it is skipped: its manifest cannot be read.
pub(super) fn read(folder: &RunFolder) -> Result<StoredRun, SkippedRun> {
    StoredRun::of_folder(folder.clone()).map_err(|error| SkippedRun {
        name: folder.name(),
        why: format!("{error:#}"),
    })
}

fn listed(skipped: &[SkippedRun]) -> Vec<String> {
    let mut lines: Vec<String> = skipped.iter().take(NAMED).map(SkippedRun::text).collect();
    if skipped.len() > NAMED {
        lines.push(format!("{} more", skipped.len() - NAMED));
    }
    lines
}

/// Whether a word stands for the newest finished run, and names no file.
pub fn is_latest(wanted: &OsStr) -> bool {
    wanted == OsStr::new(LATEST) && StoredRun::at(Path::new(wanted)).is_ok_and(|run| run.is_none())
}

/// Whether the error says that neither a run nor a path has the wanted name.
pub fn is_unknown(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<UnknownRun>(),
        Some(UnknownRun::Nowhere { .. })
    )
}

/// No stored run has the wanted name.
#[derive(Debug, thiserror::Error)]
enum UnknownRun {
    #[error("`{folder}`: {objection}")]
    NotARun { folder: String, objection: String },
    #[error(
        "no run `{wanted}` in `{runs}`, and no run folder or report at that path; `evaluations runs` lists the runs"
    )]
    Nowhere { wanted: String, runs: String },
}

impl UnknownRun {
    fn new(wanted: &OsStr, runs: &Path) -> Self {
        let named = [PathBuf::from(wanted), runs.join(wanted)];
        let found = named.iter().find(|path| path.is_dir());
        match found.and_then(|path| Some((path, RunFolder::objection(path)?))) {
            Some((folder, objection)) => Self::NotARun {
                folder: folder.display().to_string(),
                objection,
            },
            None => Self::Nowhere {
                wanted: wanted.display().to_string(),
                runs: runs.display().to_string(),
            },
        }
    }
}

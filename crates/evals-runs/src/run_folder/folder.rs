//! A run folder: created, listed, named, locked and deleted.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use chrono::{DateTime, Utc};
use evals_guard::regular_file::other_kind;

use super::lock::{self, IsRunning};
use crate::directories::file_stem;

/// The file that makes a folder a run folder.
pub(super) const MANIFEST: &str = "manifest.json";
/// The file that a run writes last.
pub const REPORT: &str = "report.json";
const JOURNAL: &str = "journal.jsonl";
/// The page that shows the report to people.
pub const PAGE: &str = "report.html";

/// One run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// The lock that shows other processes that this one works on the run.
    _lock: Option<Arc<File>>,
}

impl RunFolder {
    /// Creates `<runs>/<UTC time>-<name>`, with a numeric suffix if two runs start within one millisecond. The run counts as running
    /// until the last clone is dropped.
    pub fn create(runs: &Path, started: DateTime<Utc>, name: &str) -> Result<Self> {
        fs::create_dir_all(runs).with_context(|| unwritable(runs))?;
        let stem = format!(
            "{}-{}",
            started.format("%Y%m%dT%H%M%S%.3fZ"),
            file_stem(name)
        );
        for attempt in 1..1000 {
            let path = runs.join(if attempt == 1 {
                stem.clone()
            } else {
                format!("{stem}-{attempt}")
            });
            match fs::create_dir(&path) {
                Ok(()) => {
                    // Without a manifest the folder is not a run yet, so no other process locks it.
                    return match lock::try_lock_shared(&path) {
                        Ok(held) => Ok(Self::locked(path, held)),
                        Err(IsRunning) => Err(Self::at(path).already_running()),
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| unwritable(&path)),
            }
        }
        bail!(
            "`{}` already holds 999 runs with this name and start time",
            runs.display()
        )
    }

    fn at(path: PathBuf) -> Self {
        Self { path, _lock: None }
    }

    /// Makes the run count as running until the last clone of the result is dropped. Has no effect on a file system without locks.
    /// Fails if another process holds the exclusive lock.
    pub async fn hold(self) -> Result<Self> {
        match lock::lock_shared(&self.path).await {
            Ok(held) => Ok(Self::locked(self.path, held)),
            Err(IsRunning) => Err(self.already_running()),
        }
    }

    fn locked(path: PathBuf, lock: Option<File>) -> Self {
        Self {
            path,
            _lock: lock.map(Arc::new),
        }
    }

    /// The error for a run that another process works on.
    pub fn already_running(&self) -> anyhow::Error {
        anyhow!(
            "another process is already working on run `{}`; wait for it to finish, or start a new run with `--fresh`",
            self.name()
        )
    }

    /// Keeps other processes from working on the run until the result is dropped. Returns `None` on a file system without locks.
    pub fn lock_exclusive(&self) -> Result<Option<File>, IsRunning> {
        lock::lock_exclusive(&self.path)
    }

    /// Whether a process works on the run.
    pub fn is_locked(&self) -> bool {
        self.lock_exclusive().is_err()
    }

    /// Every run folder, oldest first.
    pub fn list(runs: &Path) -> Result<Vec<Self>> {
        let entries = entries(runs)?;
        let mut folders: Vec<Self> = entries.iter().filter_map(|it| Self::open(it)).collect();
        folders.sort_by_cached_key(Self::order);
        Ok(folders)
    }

    /// The newest folder with results of a run and without the manifest that would make it one.
    pub fn newest_without_manifest(runs: &Path) -> Result<Option<Self>> {
        let has_lost = |path: &PathBuf| {
            let has = |file: &str| path.join(file).exists();
            !has(MANIFEST) && (has(REPORT) || has(JOURNAL))
        };
        let lost = entries(runs)?.into_iter().filter(has_lost);
        Ok(lost.max().map(Self::at))
    }

    /// Sorts run folders from the oldest to the newest. Names start with the time. A folder with another name, such as a copy, has
    /// the time of its manifest and follows the runs of that time; without a time it comes first.
    pub fn order(&self) -> impl Ord + use<> {
        let name = self.file_name();
        let start = if self.has_time() {
            name.to_string_lossy().into_owned()
        } else {
            let started = self.read_record().ok().and_then(|record| record.started);
            // `~` comes behind the `-` that ends the time in a name.
            started.map_or_else(String::new, |time| time.replace(['-', ':'], "") + "~")
        };
        (start, name)
    }

    /// Why the folder `path` holds no run; `None` if it holds one.
    pub fn objection(path: &Path) -> Option<String> {
        match fs::metadata(path.join(MANIFEST)) {
            Ok(metadata) => other_kind(&metadata)
                .map(|found| format!("`{MANIFEST}` is {found}, not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(format!("a folder without `{MANIFEST}`, so it is not a run"))
            }
            Err(error) => Some(format!("cannot read `{MANIFEST}`: {error}")),
        }
    }

    /// The run in the folder `path`, if it holds one.
    pub fn open(path: &Path) -> Option<Self> {
        let is_run = path.join(MANIFEST).is_file();
        is_run.then(|| Self::at(path.to_owned()))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that records every finished case.
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// The page of the run, if one was written.
    pub fn page(&self) -> Option<PathBuf> {
        let page = self.path.join(PAGE);
        page.is_file().then_some(page)
    }

    /// The name of the folder, for messages.
    pub fn name(&self) -> String {
        self.file_name().to_string_lossy().into_owned()
    }

    /// The name of the folder.
    pub fn file_name(&self) -> OsString {
        // `.` and `..` have no name of their own.
        let full = || fs::canonicalize(&self.path).ok();
        let name = |path: &Path| path.file_name().map(OsStr::to_owned);
        name(&self.path)
            .or_else(|| name(&full()?))
            .unwrap_or_default()
    }

    /// Whether the name starts with a time, like every name from [`create`](Self::create).
    fn has_time(&self) -> bool {
        let name = self.file_name();
        let name = name.as_encoded_bytes();
        let digits = |from: usize, to: usize| {
            let digits = name.get(from..to);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        };
        digits(0, 8) && name.get(8) == Some(&b'T') && digits(9, 15)
    }

    /// Whether the folder is a link to a folder elsewhere.
    pub fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|it| it.is_symlink())
    }

    /// Deletes the folder with everything in it, but only the link if it is one. The manifest goes first, so a partly deleted folder
    /// is no longer a run.
    pub fn delete(&self) -> io::Result<()> {
        if self.is_link() {
            return fs::remove_file(&self.path);
        }
        fs::remove_file(self.path.join(MANIFEST))?;
        fs::remove_dir_all(&self.path)
    }
}

/// The paths in a folder; none if there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(|entries| {
            let paths = entries.map(|entry| Ok(entry?.path()));
            paths.collect()
        }),
    };
    entries.with_context(|| format!("cannot list `{}`", folder.display()))
}

pub(super) fn unwritable(path: &Path) -> String {
    format!(
        "cannot write to run folder `{}`; set EVALUATIONS_DATA_DIR to use a different data folder",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::lock::PATIENCE;
    use super::*;

    fn time() -> DateTime<Utc> {
        "2026-05-01T12:00:00Z".parse().unwrap()
    }

    fn run(runs: &Path, name: &str) -> RunFolder {
        let folder = RunFolder::create(runs, time(), name).unwrap();
        fs::write(folder.path().join(MANIFEST), "{}").unwrap();
        folder
    }

    #[test]
    fn two_runs_with_the_same_start_time_get_their_own_folders() {
        let runs = tempfile::tempdir().unwrap();
        assert_eq!(
            run(runs.path(), "beir:scifact").name(),
            "20260501T120000.000Z-beir-scifact"
        );
        assert_eq!(
            run(runs.path(), "beir:scifact").name(),
            "20260501T120000.000Z-beir-scifact-2"
        );
    }

    #[test]
    fn runs_are_listed_by_time_after_those_without_one() {
        let runs = tempfile::tempdir().unwrap();
        let first = run(runs.path(), "alpha");
        let copied = runs.path().join("from CI");
        fs::create_dir(&copied).unwrap();
        fs::write(copied.join(MANIFEST), "{}").unwrap();
        fs::create_dir(runs.path().join("no-run")).unwrap();
        let listed = RunFolder::list(runs.path()).unwrap();
        let names: Vec<String> = listed.iter().map(RunFolder::name).collect();
        assert_eq!(names, ["from CI".to_owned(), first.name()]);
    }

    #[tokio::test]
    async fn waiting_for_a_locked_run_times_out() {
        let runs = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(run(runs.path(), "kept").path()).unwrap();
        let alone = folder.lock_exclusive().unwrap();
        let began = Instant::now();
        let error = folder.clone().hold().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "another process is already working on run `20260501T120000.000Z-kept`; wait for it to finish, or start a \
             new run with `--fresh`"
        );
        assert!(began.elapsed() < 3 * PATIENCE, "it waited");

        let freed = async {
            tokio::time::sleep(PATIENCE / 8).await;
            drop(alone);
        };
        let (held, ()) = tokio::join!(folder.clone().hold(), freed);
        assert!(held.is_ok());
        assert!(folder.is_locked());
    }

    #[test]
    fn two_processes_that_read_the_state_do_not_see_each_other_as_running() {
        let runs = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(run(runs.path(), "looked-at").path()).unwrap();
        let look = || {
            let alone = folder.lock_exclusive();
            thread::sleep(Duration::from_millis(5));
            alone.is_ok()
        };
        thread::scope(|scope| {
            let looks: Vec<_> = (0..2).map(|_| scope.spawn(look)).collect();
            for look in looks {
                assert!(look.join().unwrap());
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn deleting_does_not_follow_links() {
        use std::os::unix::fs::symlink;

        let runs = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let kept = elsewhere.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        fs::write(elsewhere.path().join(MANIFEST), "{}").unwrap();
        let folder = run(runs.path(), "gone");
        symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        folder.delete().unwrap();
        assert!(!folder.path().exists());
        let link = runs.path().join("a-link");
        symlink(elsewhere.path(), &link).unwrap();
        RunFolder::open(&link).unwrap().delete().unwrap();
        assert!(fs::symlink_metadata(&link).is_err());
        assert!(kept.is_file() && elsewhere.path().join(MANIFEST).is_file());
    }
}

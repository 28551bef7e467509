//! One run's folder: its files, and how far the run came.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use chrono::{DateTime, Utc};
use evals::{Domain, FileJournal, Report, Summary};
use evals_guard::regular_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::head::ReportHead;
use super::lock::{self, IsRunning};
use super::manifest::MANIFEST_VERSION;
use super::state::{Left, RunState};
use crate::atomic_file::write_atomically;
use crate::directories::file_stem;
use crate::terminal::Printer;

const MANIFEST: &str = "manifest.json";
pub(crate) const REPORT: &str = "report.json";
const JOURNAL: &str = "journal.jsonl";

/// Largest manifest that is read.
const LARGEST_MANIFEST: u64 = 64_000_000;

/// Largest report that is read. It takes several times as much memory once it is read.
pub(crate) const LARGEST_REPORT: u64 = 512_000_000;

/// The part of a manifest that says how much a run was to do.
#[derive(Debug, Deserialize)]
struct Planned {
    dataset: PlannedDataset,
    repeat: usize,
}

#[derive(Debug, Deserialize)]
struct PlannedDataset {
    questions: usize,
}

/// The part of a manifest that is the same in every version.
#[derive(Debug, Deserialize)]
struct Versioned {
    schema_version: Option<u32>,
}

/// One run's folder.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Tells other processes that this one is working on the run, by its lock.
    _held: Option<Arc<File>>,
}

impl RunFolder {
    /// Makes `<runs>/<UTC time>-<name>`, with a number behind it where two runs start within one millisecond. Until the last
    /// copy of it is dropped the run counts as running.
    pub(crate) fn create(runs: &Path, started: DateTime<Utc>, name: &str) -> Result<Self> {
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
                    // Without a manifest it is no run yet, so that nobody looks at it.
                    return match lock::try_share(&path) {
                        Ok(held) => Ok(Self::held(path, held)),
                        Err(IsRunning) => Err(Self::at(path).already_running()),
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| unwritable(&path)),
            }
        }
        bail!(
            "`{}` already holds 999 runs of this second and name",
            runs.display()
        )
    }

    fn at(path: PathBuf) -> Self {
        Self { path, _held: None }
    }

    /// Lets the run count as running until the last copy of what is returned is dropped. On a file system without locks it
    /// does not. Fails where another process keeps the run for itself.
    pub(crate) async fn hold(self) -> Result<Self> {
        match lock::share(&self.path).await {
            Ok(held) => Ok(Self::held(self.path, held)),
            Err(IsRunning) => Err(self.already_running()),
        }
    }

    fn held(path: PathBuf, lock: Option<File>) -> Self {
        Self {
            path,
            _held: lock.map(Arc::new),
        }
    }

    /// That another process has the run.
    pub(crate) fn already_running(&self) -> anyhow::Error {
        anyhow!(
            "another process is already working on run `{}`; wait until it has ended, or start a second one with `--fresh`",
            self.name()
        )
    }

    /// Keeps other processes from working on the run until what is returned is dropped. Where the file system has no locks
    /// nothing tells who works on it.
    pub(crate) fn lock_exclusive(&self) -> Result<Option<File>, IsRunning> {
        lock::take_alone(&self.path)
    }

    fn is_held(&self) -> bool {
        self.lock_exclusive().is_err()
    }

    /// Every run folder, oldest first. Their names start with the time; those whose names do not come first.
    pub(crate) fn list(runs: &Path) -> Result<Vec<Self>> {
        let entries = match fs::read_dir(runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot list `{}`", runs.display()));
            }
        };
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot list `{}`", runs.display()))?
                .path();
            folders.extend(Self::open(&path));
        }
        folders.sort_by_cached_key(|folder| (folder.has_time(), folder.path.clone()));
        Ok(folders)
    }

    /// The run in the folder `path`, if it holds one.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let is_run = path.join(MANIFEST).is_file();
        is_run.then(|| Self::at(path.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that every finished case is written to before it counts.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// The folder's own name, for people.
    pub(crate) fn name(&self) -> String {
        self.file_name().to_string_lossy().into_owned()
    }

    /// The folder's own name.
    pub(crate) fn file_name(&self) -> OsString {
        // `.` and `..` have no name of their own.
        let full = || fs::canonicalize(&self.path).ok();
        let name = |path: &Path| path.file_name().map(OsStr::to_owned);
        name(&self.path)
            .or_else(|| name(&full()?))
            .unwrap_or_default()
    }

    /// Whether the name starts with a time, as those do that [`create`](Self::create) gives.
    fn has_time(&self) -> bool {
        let name = self.file_name();
        let name = name.as_encoded_bytes();
        let digits = |from: usize, to: usize| {
            let digits = name.get(from..to);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        };
        digits(0, 8) && name.get(8) == Some(&b'T') && digits(9, 15)
    }

    /// How far the run came.
    pub(crate) fn state(&self) -> RunState {
        self.state_and_summary().0
    }

    /// How far the run came, with its figures where it left a report.
    pub(crate) fn state_and_summary(&self) -> (RunState, Option<Summary>) {
        if self.is_held() {
            return (RunState::Running, None);
        }
        let path = self.path.join(REPORT);
        if !path.exists() {
            return (RunState::Unfinished(self.left()), None);
        }
        let head = regular_file::open(&path)
            .ok()
            .and_then(|file| ReportHead::read(file).ok());
        match head {
            Some(ReportHead { summary }) => (RunState::of(&summary), Some(summary)),
            None => (RunState::Unreadable, None),
        }
    }

    /// What a run without a report left to do, as far as a journal tells.
    fn left(&self) -> Option<Left> {
        let planned: Planned = self.read_manifest().ok()?;
        let done = FileJournal::count(&self.journal()).ok()?;
        let of = planned.dataset.questions.checked_mul(planned.repeat)?;
        Some(Left {
            not_run: of.saturating_sub(done),
            of,
        })
    }

    pub(crate) fn write_manifest(&self, manifest: &impl Serialize) -> Result<()> {
        self.write(MANIFEST, |file| {
            serde_json::to_writer_pretty(&mut *file, manifest)?;
            writeln!(file)
        })
    }

    pub(crate) fn read_manifest<T: DeserializeOwned>(&self) -> Result<T> {
        let path = self.path.join(MANIFEST);
        let bytes = regular_file::read(&path, LARGEST_MANIFEST)?;
        if let Ok(Versioned {
            schema_version: Some(found),
        }) = serde_json::from_slice(&bytes)
            && found != MANIFEST_VERSION
        {
            bail!(
                "`{}` has schema version {found}, but this version of evaluations reads {MANIFEST_VERSION}",
                path.display()
            );
        }
        parse(&path, &bytes)
    }

    pub(crate) fn read_report<T: DeserializeOwned>(&self) -> Result<T> {
        parse(&self.path.join(REPORT), &self.report()?)
    }

    /// The report with its SHA-256 in hexadecimal.
    pub(crate) fn read_report_with_digest<T: DeserializeOwned>(&self) -> Result<(T, String)> {
        let bytes = self.report()?;
        let digest = hex::encode(Sha256::digest(&bytes));
        Ok((parse(&self.path.join(REPORT), &bytes)?, digest))
    }

    fn report(&self) -> Result<Vec<u8>> {
        let path = self.path.join(REPORT);
        if !path.exists() {
            bail!(
                "run `{}` has no report: it is {}; {}",
                self.name(),
                self.state(),
                self.remedy()
            );
        }
        Ok(regular_file::read(&path, LARGEST_REPORT)?)
    }

    /// What to do about a run that is not finished.
    pub(crate) fn remedy(&self) -> &'static str {
        if self.is_held() {
            "wait until it has ended"
        } else if self.journal().exists() {
            "run the original command again to resume it"
        } else {
            "run the original command again, which starts anew"
        }
    }

    /// Writes one file of the folder, whole or not at all.
    pub(crate) fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write_atomically(&self.path.join(name), content).with_context(|| unwritable(&self.path))
    }

    /// Says where every failure of `report` is written in full, if there is one: a page shows the first few.
    pub(crate) fn note_failures<D: Domain>(&self, printer: &Printer, report: &Report<D>) {
        let failed = report
            .cases
            .iter()
            .any(|case| case.result.failure().is_some() || !case.evaluator_failures.is_empty());
        if failed {
            let path = self.path.join(REPORT);
            printer.note(&format!("every failure in full: {}", path.display()));
        }
    }

    /// Deletes the folder with everything in it; of links the link alone. What is left when that ends early is no run any more.
    pub(crate) fn delete(&self) -> io::Result<()> {
        if fs::symlink_metadata(&self.path)?.is_symlink() {
            return fs::remove_file(&self.path);
        }
        fs::remove_file(self.path.join(MANIFEST))?;
        fs::remove_dir_all(&self.path)
    }
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).with_context(|| not_ours(path))
}

/// That a file of a run cannot be read as one.
pub(crate) fn not_ours(path: &Path) -> String {
    format!("`{}` is not what this version writes", path.display())
}

fn unwritable(path: &Path) -> String {
    format!(
        "cannot write run folder `{}`; EVALUATIONS_DATA_DIR moves the data folder to another place",
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
        folder.write_manifest(&serde_json::json!({})).unwrap();
        folder
    }

    #[test]
    fn two_runs_of_one_moment_do_not_share_a_folder() {
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
    fn runs_are_listed_by_their_time_and_others_before_them() {
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

    #[test]
    fn a_run_is_running_as_long_as_somebody_holds_it() {
        let runs = tempfile::tempdir().unwrap();
        let held = run(runs.path(), "going-on");
        let seen = RunFolder::open(held.path()).unwrap();
        assert_eq!(seen.state(), RunState::Running);
        assert_eq!(seen.lock_exclusive().err(), Some(IsRunning));
        let copy = held.clone();
        drop(held);
        assert_eq!(seen.state(), RunState::Running);
        drop(copy);
        assert_eq!(seen.state(), RunState::Unfinished(None));
        let alone = seen.lock_exclusive().unwrap();
        assert!(alone.is_some() && seen.lock_exclusive().is_err());
    }

    #[tokio::test]
    async fn a_run_that_somebody_keeps_is_not_waited_for_without_end() {
        let runs = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(run(runs.path(), "kept").path()).unwrap();
        let alone = folder.lock_exclusive().unwrap();
        let began = Instant::now();
        let error = folder.clone().hold().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "another process is already working on run `20260501T120000.000Z-kept`; wait until it has ended, or start a \
             second one with `--fresh`"
        );
        assert!(began.elapsed() < 3 * PATIENCE, "it waited");

        let freed = async {
            tokio::time::sleep(PATIENCE / 8).await;
            drop(alone);
        };
        let (held, ()) = tokio::join!(folder.clone().hold(), freed);
        assert!(held.is_ok());
        assert_eq!(folder.state(), RunState::Running);
    }

    #[test]
    fn those_who_look_at_once_do_not_take_each_other_for_a_run() {
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

    #[test]
    fn a_manifest_of_another_version_is_refused() {
        let runs = tempfile::tempdir().unwrap();
        let folder = run(runs.path(), "later");
        let manifest = serde_json::json!({"schema_version": 2, "dataset": "other"});
        folder.write_manifest(&manifest).unwrap();
        let error = folder.read_manifest::<serde_json::Value>().unwrap_err();
        assert!(
            error.to_string().contains("has schema version 2, but"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn deleting_leaves_alone_what_links_point_to() {
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

    #[test]
    fn a_run_without_a_report_says_so() {
        let runs = tempfile::tempdir().unwrap();
        let created = run(runs.path(), "killed");
        let folder = RunFolder::open(created.path()).unwrap();
        let error = |folder: &RunFolder| {
            let error = folder.read_report::<serde_json::Value>().unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error(&folder),
            "run `20260501T120000.000Z-killed` has no report: it is running; wait until it has ended"
        );
        drop(created);
        assert_eq!(
            error(&folder),
            "run `20260501T120000.000Z-killed` has no report: it is unfinished; run the original command again, which starts \
             anew"
        );
    }
}

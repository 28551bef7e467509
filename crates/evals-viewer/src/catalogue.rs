//! The runs that the viewer lists and opens. What was read stays in memory until a file of the run changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};
use evals_html::view::BrokenRow;
use evals_runs::calibrations::CalibrationStore;
use evals_runs::run_folder::{REPORT, RunFolder};
use evals_runs::stored_runs::{Results, StoredRun};

use super::failure::PageFailure;

/// The files that show what a run is. The lists read only the manifest of one that is running.
const FILES: [&str; 3] = ["manifest.json", REPORT, "journal.jsonl"];

/// The runs in the data folder, and the one that the command line names if it is elsewhere.
#[derive(Debug)]
pub(super) struct Catalogue {
    folder: PathBuf,
    elsewhere: Option<RunFolder>,
    calibrations: CalibrationStore,
    read: Mutex<BTreeMap<PathBuf, (Version, Arc<StoredRun>)>>,
}

/// What tells a file from a later one of the same name; `None` where there is no file.
type FileVersion = Option<(Option<SystemTime>, u64)>;

/// What is listed of a run changes with this.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    is_running: bool,
    files: Vec<FileVersion>,
}

/// The runs, and the folders that are not runs.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Oldest first.
    pub(super) runs: Vec<Arc<StoredRun>>,
    pub(super) broken: Vec<BrokenRow>,
}

impl Catalogue {
    /// The runs in `folder`, and the run `named` wherever it is. `calibrations` may correct their pass rates.
    pub(super) fn new(
        folder: PathBuf,
        named: Option<RunFolder>,
        calibrations: CalibrationStore,
    ) -> Self {
        let full = |path: &Path| fs::canonicalize(path).ok();
        let is_elsewhere = |run: &RunFolder| {
            let parent = full(run.path()).and_then(|path| path.parent().map(Path::to_owned));
            parent.is_none() || parent != full(&folder)
        };
        Self {
            elsewhere: named.filter(is_elsewhere),
            folder,
            calibrations,
            read: Mutex::default(),
        }
    }

    /// The calibrations that may correct pass rates.
    pub(super) fn calibrations(&self) -> &CalibrationStore {
        &self.calibrations
    }

    /// The folder of the runs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every run, read again only where a file changed.
    pub(super) fn list(&self) -> Result<Listing> {
        let mut listing = Listing {
            broken: self.foreign()?,
            ..Listing::default()
        };
        let folders = self.folders()?;
        self.forget_deleted(&folders);
        for folder in folders {
            let run = self.run(&folder);
            let run = run.and_then(|run| match &run.results().problem {
                Some(problem) => bail!("{problem}"),
                None => Ok(run),
            });
            match run {
                Ok(run) => listing.runs.push(run),
                Err(error) => listing.broken.push(BrokenRow {
                    name: folder.name(),
                    reason: format!("{error:#}"),
                }),
            }
        }
        Ok(listing)
    }

    /// The listed run with exactly this name. No path is made of the name.
    pub(super) fn find(&self, name: &str) -> Result<RunFolder, PageFailure> {
        let folders = self.folders()?;
        let mut newest_first = folders.into_iter().rev();
        let found = newest_first.find(|folder| folder.name() == name);
        found.ok_or_else(|| PageFailure::no_run(name))
    }

    /// The folders of the runs, oldest first. The run that the command line names hides one of the same name.
    fn folders(&self) -> Result<Vec<RunFolder>> {
        let mut folders = RunFolder::list(&self.folder)?;
        if let Some(elsewhere) = &self.elsewhere
            && let Some(run) = RunFolder::open(elsewhere.path())
        {
            folders.retain(|folder| folder.file_name() != run.file_name());
            let place = folders.partition_point(|folder| folder.order() < run.order());
            folders.insert(place, run);
        }
        Ok(folders)
    }

    /// Folders beside the runs that hold no run.
    fn foreign(&self) -> Result<Vec<BrokenRow>> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot list `{}`", self.folder.display()))?
                .path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !name.starts_with('.') {
                rows.extend(RunFolder::objection(&path).map(|reason| BrokenRow {
                    name: name.into_owned(),
                    reason,
                }));
            }
        }
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(rows)
    }

    /// Reads what is listed: the record, and if the run is not running, the head of the report up to its summary or the number of cases in
    /// the journal.
    fn run(&self, folder: &RunFolder) -> Result<Arc<StoredRun>> {
        // Asked once: a run that ends in the meantime has another version the next time.
        let is_running = folder.is_locked();
        let version = Version::of(folder.path(), is_running);
        let known = self.lock().get(folder.path()).cloned();
        if let Some((read, run)) = known
            && read == version
        {
            return Ok(run);
        }
        let run = StoredRun::of_folder(folder.clone())?;
        let run = Arc::new(run.with_results(Results::read(folder, is_running)));
        let entry = (version, Arc::clone(&run));
        self.lock().insert(folder.path().to_owned(), entry);
        Ok(run)
    }

    fn forget_deleted(&self, folders: &[RunFolder]) {
        let mut read = self.lock();
        if read.len() > folders.len() {
            read.retain(|path, _| folders.iter().any(|folder| folder.path() == path));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, (Version, Arc<StoredRun>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Version {
    fn of(folder: &Path, is_running: bool) -> Self {
        // The journal of a running run grows with each case, and changes nothing that is listed.
        let files = if is_running { &FILES[..1] } else { &FILES[..] };
        let version = |file: &&str| -> FileVersion {
            let metadata = folder.join(file).metadata().ok()?;
            Some((metadata.modified().ok(), metadata.len()))
        };
        Self {
            is_running,
            files: files.iter().map(version).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use evals_runs::run_folder::RunState;

    fn catalogue_of(folder: PathBuf, named: Option<RunFolder>) -> Catalogue {
        let calibrations = CalibrationStore::at(folder.join("calibrations"));
        Catalogue::new(folder, named, calibrations)
    }

    fn run(runs: &Path, name: &str) -> PathBuf {
        let path = runs.join(name);
        fs::create_dir_all(&path).unwrap();
        let manifest = json!({
            "schema_version": 1, "benchmark": "retrieval", "name": "n", "profile": "bm25", "seed": 0,
            "dataset": {"name": "sample", "questions": 7}, "repeat": 1,
        });
        fs::write(path.join("manifest.json"), manifest.to_string()).unwrap();
        path
    }

    fn names(listing: &Listing) -> Vec<String> {
        listing.runs.iter().map(|run| run.name()).collect()
    }

    #[test]
    fn folders_that_are_no_runs_are_listed_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path();
        run(runs, "20260501T120000.000Z-good");
        fs::write(
            run(runs, "20260501T120001.000Z-torn").join("manifest.json"),
            "{",
        )
        .unwrap();
        let newer = run(runs, "20260501T120002.000Z-newer");
        fs::write(newer.join("manifest.json"), r#"{"schema_version": 99}"#).unwrap();
        fs::write(
            run(runs, "20260501T120003.000Z-foreign").join("manifest.json"),
            "[]",
        )
        .unwrap();
        let damaged = run(runs, "20260501T120004.000Z-report");
        fs::write(damaged.join(REPORT), r#"{"schema_version": 1, "name": "#).unwrap();
        fs::create_dir_all(runs.join("folder").join("manifest.json")).unwrap();
        fs::create_dir(runs.join("notes")).unwrap();
        fs::write(runs.join("file.txt"), "").unwrap();
        let listing = catalogue_of(runs.to_owned(), None).list().unwrap();
        assert_eq!(names(&listing), ["20260501T120000.000Z-good"]);
        let broken: Vec<(&str, &str)> = listing
            .broken
            .iter()
            .map(|row| (row.name.as_str(), row.reason.as_str()))
            .collect();
        let has = |name: &str, reason: &str| {
            let mut rows = broken.iter();
            rows.any(|(found, why)| found.ends_with(name) && why.contains(reason))
        };
        assert!(has("torn", "is damaged"), "{broken:?}");
        assert!(has("newer", "schema version 99"), "{broken:?}");
        assert!(has("foreign", "is damaged"), "{broken:?}");
        assert!(has("notes", "without `manifest.json`"), "{broken:?}");
        assert!(
            has(
                "report",
                "`report.json` of run `20260501T120004.000Z-report` is damaged"
            ),
            "{broken:?}"
        );
        assert!(
            has("folder", "`manifest.json` is a folder, not a regular file"),
            "{broken:?}"
        );
        assert_eq!(broken.len(), 6, "{broken:?}");
    }

    #[test]
    fn a_run_is_read_again_only_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = run(folder.path(), "20260501T120000.000Z-a");
        let catalogue = catalogue_of(folder.path().to_owned(), None);
        let contents = |catalogue: &Catalogue| {
            let folder = RunFolder::open(&path).unwrap();
            catalogue.run(&folder).unwrap()
        };
        let (one, same) = (contents(&catalogue), contents(&catalogue));
        assert!(Arc::ptr_eq(&one, &same));
        fs::write(path.join("report.json"), "{").unwrap();
        assert_eq!(contents(&catalogue).results().state, RunState::Unreadable);
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(names(&catalogue.list().unwrap()), Vec::<String>::new());
        assert!(catalogue.lock().is_empty());
    }

    #[test]
    fn a_running_run_is_not_read_again_when_its_journal_grows() {
        let folder = tempfile::tempdir().unwrap();
        let time = "2026-05-01T12:00:00Z".parse().unwrap();
        let running = RunFolder::create(folder.path(), time, "n").unwrap();
        let manifest = json!({
            "schema_version": 1, "benchmark": "qa", "name": "n", "profile": "bm25", "seed": 0,
            "dataset": {"name": "sample", "questions": 7}, "repeat": 1,
        });
        fs::write(running.path().join("manifest.json"), manifest.to_string()).unwrap();
        fs::write(running.path().join(REPORT), "{").unwrap();
        let catalogue = catalogue_of(folder.path().to_owned(), None);
        let contents = || {
            let run = catalogue.folders().unwrap().remove(0);
            catalogue.run(&run).unwrap()
        };
        let one = contents();
        assert_eq!(one.results().state, RunState::Running);
        fs::write(running.journal(), "{}\n{}\n").unwrap();
        assert!(Arc::ptr_eq(&one, &contents()));
        drop(running);
        assert_eq!(contents().results().state, RunState::Unreadable);
    }

    #[test]
    fn a_name_is_never_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        run(&runs, "20260501T120000.000Z-a");
        run(folder.path(), "outside");
        let catalogue = catalogue_of(runs.clone(), None);
        assert!(catalogue.find("20260501T120000.000Z-a").is_ok());
        let outside = folder.path().join("outside");
        for name in [
            "",
            ".",
            "..",
            "../outside",
            "20260501T120000.000Z-a/",
            "20260501T120000.000Z-a/../../outside",
            "20260501",
            outside.to_str().unwrap(),
        ] {
            assert!(catalogue.find(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_run_elsewhere_is_listed_if_the_command_line_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let inside = run(&runs, "20260501T120000.000Z-a");
        let outside = run(&folder.path().join("copies"), "20260430T120000.000Z-b");
        let catalogue = |path: &Path| catalogue_of(runs.clone(), RunFolder::open(path));
        let listed = names(&catalogue(&outside).list().unwrap());
        assert_eq!(listed, ["20260430T120000.000Z-b", "20260501T120000.000Z-a"]);
        let listed = names(&catalogue(&inside).list().unwrap());
        assert_eq!(listed, ["20260501T120000.000Z-a"]);
        let copied = run(&folder.path().join("copies"), "a copy");
        let listed = names(&catalogue(&copied).list().unwrap());
        assert_eq!(
            listed,
            ["a copy", "20260501T120000.000Z-a"],
            "a run without a time comes first"
        );
        let manifest = json!({
            "schema_version": 1, "benchmark": "retrieval", "name": "n", "profile": "bm25", "seed": 0,
            "dataset": {"name": "sample", "questions": 7}, "repeat": 1, "started": "2026-05-01T12:00:00.000Z",
        });
        fs::write(copied.join("manifest.json"), manifest.to_string()).unwrap();
        run(&runs, "20260501T120000.001Z-c");
        let listed = names(&catalogue(&copied).list().unwrap());
        assert_eq!(
            listed,
            ["20260501T120000.000Z-a", "a copy", "20260501T120000.001Z-c"],
            "a copy follows its original"
        );
    }
}

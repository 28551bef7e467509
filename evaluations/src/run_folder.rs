//! The folder that a run leaves behind: a manifest, the report for programs and for people, and TREC files.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::directories::file_stem;

const MANIFEST: &str = "manifest.json";
const REPORT: &str = "report.json";
const JOURNAL: &str = "journal.jsonl";

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    /// It has no report: it is under way, or was killed.
    Unfinished,
    /// Its report holds what was finished before an interruption.
    Interrupted {
        /// Cases that were not run.
        not_run: usize,
    },
    /// Its report is whole.
    Finished,
    /// Its report is not what this version writes.
    Unreadable,
}

impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished => formatter.write_str("unfinished"),
            Self::Interrupted { not_run } => write!(formatter, "interrupted, {not_run} not run"),
            Self::Finished => formatter.write_str("finished"),
            Self::Unreadable => formatter.write_str("unreadable"),
        }
    }
}

/// The part of a report that tells how far the run came.
#[derive(Debug, Deserialize)]
struct ReportHeader {
    interrupted: bool,
    not_run: usize,
}

/// One run's folder.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes `<runs>/<UTC time>-<name>`, with a number behind it where two runs start within one millisecond.
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
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| unwritable(&path)),
            }
        }
        bail!(
            "`{}` already holds 999 runs of this second and name",
            runs.display()
        )
    }

    /// Every run folder, oldest first. Their names start with the time.
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
            if path.join(MANIFEST).is_file() {
                folders.push(Self { path });
            }
        }
        folders.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(folders)
    }

    /// Finds the run that `wanted` names: a folder's path, its name or the start of it, or `latest`.
    pub(crate) fn find(runs: &Path, wanted: &str) -> Result<Self> {
        if Path::new(wanted).join(MANIFEST).is_file() {
            return Ok(Self {
                path: PathBuf::from(wanted),
            });
        }
        let mut folders = Self::list(runs)?;
        if wanted == "latest" {
            return folders
                .pop()
                .with_context(|| format!("there are no runs in `{}`", runs.display()));
        }
        if let Some(exact) = folders.iter().find(|folder| folder.name() == wanted) {
            return Ok(exact.clone());
        }
        folders.retain(|folder| folder.name().starts_with(wanted));
        match folders.as_slice() {
            [one] => Ok(one.clone()),
            [] => bail!(
                "no run `{wanted}` in `{}`; `evaluations runs` lists those there are",
                runs.display()
            ),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|folder| format!("  {}", folder.name()))
                    .collect();
                bail!(
                    "`{wanted}` is the start of more than one run:\n{}",
                    names.join("\n")
                )
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that every finished case is written to before it counts.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// The folder's own name.
    pub(crate) fn name(&self) -> String {
        self.path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    /// How far the run came.
    pub(crate) fn state(&self) -> RunState {
        if !self.path.join(REPORT).is_file() {
            return RunState::Unfinished;
        }
        match self.read::<ReportHeader>(REPORT) {
            Ok(header) if header.interrupted => RunState::Interrupted {
                not_run: header.not_run,
            },
            Ok(_) => RunState::Finished,
            Err(_) => RunState::Unreadable,
        }
    }

    pub(crate) fn write_manifest(&self, manifest: &impl Serialize) -> Result<()> {
        self.write(MANIFEST, |file| {
            serde_json::to_writer_pretty(&mut *file, manifest)?;
            writeln!(file)
        })
    }

    pub(crate) fn read_manifest<T: DeserializeOwned>(&self) -> Result<T> {
        self.read(MANIFEST)
    }

    pub(crate) fn read_report<T: DeserializeOwned>(&self) -> Result<T> {
        self.parse(REPORT, &self.report()?)
    }

    /// The report with its SHA-256 in hexadecimal.
    pub(crate) fn read_report_with_digest<T: DeserializeOwned>(&self) -> Result<(T, String)> {
        let bytes = self.report()?;
        let mut digest = String::new();
        for byte in Sha256::digest(&bytes) {
            write!(digest, "{byte:02x}").expect("a string takes any text");
        }
        Ok((self.parse(REPORT, &bytes)?, digest))
    }

    fn report(&self) -> Result<Vec<u8>> {
        if self.state() == RunState::Unfinished {
            bail!(
                "run `{}` did not come to its end, so that it has no report",
                self.name()
            );
        }
        self.bytes(REPORT)
    }

    /// Writes one file of the folder, whole or not at all.
    pub(crate) fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write_whole(&self.path.join(name), content).with_context(|| unwritable(&self.path))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.parse(name, &self.bytes(name)?)
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
    }

    fn parse<T: DeserializeOwned>(&self, name: &str, bytes: &[u8]) -> Result<T> {
        serde_json::from_slice(bytes).with_context(|| {
            let path = self.path.join(name);
            format!("`{}` is not what this version writes", path.display())
        })
    }
}

/// Writes a file beside its place and moves it there, so that nobody ever sees half of it.
pub(crate) fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = File::create(&partial).and_then(|file| {
        let mut file = BufWriter::new(file);
        content(&mut file)?;
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        fs::rename(&partial, path)
    });
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(&partial);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

/// A time as manifests hold it: `2026-05-01T12:00:00.000Z`.
pub(crate) fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn unwritable(path: &Path) -> String {
    format!(
        "cannot write run folder `{}`; EVALUATIONS_DATA_DIR moves the data folder to another place",
        path.display()
    )
}

#[cfg(test)]
mod tests {
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
    fn a_run_is_found_by_name_start_path_and_latest() {
        let runs = tempfile::tempdir().unwrap();
        let first = run(runs.path(), "alpha");
        run(runs.path(), "alpha-2nd");
        let last = run(runs.path(), "beta");
        let found = |wanted: &str| RunFolder::find(runs.path(), wanted).map(|folder| folder.name());
        assert_eq!(
            found("20260501T120000.000Z-alpha").unwrap(),
            first.name(),
            "exact before a longer name"
        );
        assert_eq!(found("20260501T120000.000Z-b").unwrap(), last.name());
        assert_eq!(found("latest").unwrap(), last.name());
        assert_eq!(found(first.path().to_str().unwrap()).unwrap(), first.name());
        assert!(
            found("20260501T120000.000Z-a")
                .unwrap_err()
                .to_string()
                .contains("more than one run")
        );
        assert!(
            found("gamma")
                .unwrap_err()
                .to_string()
                .starts_with("no run `gamma` in ")
        );
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        write_whole(&path, |file| file.write_all(b"old")).unwrap();
        let error = write_whole(&path, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("disk full"))
        });
        assert!(error.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_without_a_report_says_so() {
        let runs = tempfile::tempdir().unwrap();
        let folder = run(runs.path(), "killed");
        let error = folder.read_report::<serde_json::Value>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "run `20260501T120000.000Z-killed` did not come to its end, so that it has no report"
        );
    }
}

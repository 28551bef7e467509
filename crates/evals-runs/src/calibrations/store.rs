//! The calibrations in the data folder, and those in files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use evals_guard::regular_file;
use evals_messages::{chain, nearest};
use serde::Deserialize;

use super::calibration::{Calibration, VERSION};
use crate::atomic_file::write_atomically;
use crate::directories::Directories;

/// The size limit of a calibration, which holds counts and digests.
const LARGEST: u64 = 16_000_000;

/// The extension of the files.
const EXTENSION: &str = "json";

/// The calibrations in the data folder, one file each.
#[derive(Debug, Clone)]
pub struct CalibrationStore {
    folder: PathBuf,
}

/// The part of a calibration that every version has.
#[derive(Debug, Deserialize)]
struct Versioned {
    schema_version: Option<u32>,
}

fn left_out(error: &anyhow::Error) -> String {
    format!("left out a calibration: {}", chain(error.as_ref()))
}

impl CalibrationStore {
    /// The calibrations of a user.
    pub fn of(directories: &Directories) -> Self {
        Self::at(directories.calibrations())
    }

    /// The calibrations in a folder.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of the calibrations, which need not exist.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is nothing to read.
    pub(super) fn is_empty(&self) -> bool {
        self.files().is_ok_and(|files| files.is_empty())
    }

    /// Every calibration that can be read, by id, and what to warn of: why the others are left out.
    pub fn list(&self) -> Result<(Vec<Calibration>, Vec<String>)> {
        let (mut calibrations, mut problems) = (Vec::new(), Vec::new());
        for path in self.files()? {
            match Self::read(&path) {
                Ok(calibration) => calibrations.push(calibration),
                Err(error) => problems.push(left_out(&error)),
            }
        }
        calibrations.sort_by(|left, right| left.id.cmp(&right.id));
        Ok((calibrations, problems))
    }

    /// The calibration with an id or the start of it, or the one in a file.
    pub fn find(&self, wanted: &str) -> Result<Calibration> {
        let path = Path::new(wanted);
        if path.is_file() {
            return Self::read(path);
        }
        Self::read(&self.path(wanted)?)
    }

    /// Stores a calibration. Returns its file.
    pub fn save(&self, calibration: &Calibration) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create `{}`", self.folder.display()))?;
        let path = self.file_of(&calibration.id);
        Self::write(&path, calibration)?;
        Ok(path)
    }

    /// Writes a calibration into a file.
    pub fn write(path: &Path, calibration: &Calibration) -> Result<()> {
        write_atomically(path, |file| {
            serde_json::to_writer_pretty(&mut *file, calibration)?;
            writeln!(file)
        })
    }

    /// Deletes a calibration with an id or the start of it. Returns its file.
    pub fn delete(&self, wanted: &str) -> Result<PathBuf> {
        let path = self.path(wanted)?;
        fs::remove_file(&path).with_context(|| format!("cannot delete `{}`", path.display()))?;
        Ok(path)
    }

    fn read(path: &Path) -> Result<Calibration> {
        let bytes = regular_file::read(path, LARGEST)?;
        if let Ok(Versioned {
            schema_version: Some(found),
        }) = serde_json::from_slice(&bytes)
            && found != VERSION
        {
            bail!(
                "`{}` has schema version {found}, but this version of evaluations reads calibrations of version {VERSION}; calibrate again with `evaluations labels calibrate RUN`",
                path.display()
            );
        }
        let calibration: Calibration = serde_json::from_slice(&bytes)
            .with_context(|| format!("`{}` is not a calibration", path.display()))?;
        calibration
            .check()
            .with_context(|| format!("`{}` is damaged", path.display()))?;
        Ok(calibration)
    }

    /// The only file whose name starts so.
    fn path(&self, wanted: &str) -> Result<PathBuf> {
        let ids: Vec<String> = self
            .files()?
            .iter()
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        if ids.iter().any(|id| id == wanted) {
            return Ok(self.file_of(wanted));
        }
        let matching: Vec<&String> = ids.iter().filter(|id| id.starts_with(wanted)).collect();
        match matching.as_slice() {
            [one] => Ok(self.file_of(one)),
            [] => Err(self.unknown(wanted, &ids)),
            several => {
                let names: Vec<String> = several.iter().map(|id| format!("  {id}")).collect();
                bail!(
                    "`{wanted}` matches more than one calibration:\n{}",
                    names.join("\n")
                )
            }
        }
    }

    fn unknown(&self, wanted: &str, ids: &[String]) -> anyhow::Error {
        let near = nearest::did_you_mean(nearest::of(wanted, ids.iter().map(String::as_str)));
        anyhow!(
            "there is no calibration `{wanted}` in `{}` and no such file; `evaluations labels calibrate --list` lists the calibrations{near}",
            self.folder.display()
        )
    }

    fn file_of(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.{EXTENSION}"))
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        let unreadable = || format!("cannot list `{}`", self.folder.display());
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(unreadable),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.with_context(unreadable)?.path();
            if path.extension().is_some_and(|it| it == EXTENSION) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

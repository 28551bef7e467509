//! The files of a run folder: reads and writes the manifest and the report.

use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context as _, Error, Result, bail};
use evals::render::tables::Table;
use evals::{Domain, Report, ReportCheck, Summary, render};
use evals_guard::regular_file;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::folder::{MANIFEST, REPORT, RunFolder, unwritable};
use crate::atomic_file::write_atomically;
use crate::run_record::{RECORD_VERSION, RunRecord};

/// The size limit of a manifest.
const LARGEST_MANIFEST: u64 = 64_000_000;

/// The size limit of a report, which takes several times as much memory.
pub const LARGEST_REPORT: u64 = 512_000_000;

/// The part of a manifest that every version has.
#[derive(Debug, Deserialize)]
struct Versioned {
    schema_version: Option<u32>,
}

impl RunFolder {
    /// Writes `manifest.json`.
    pub fn write_record(&self, record: &RunRecord) -> Result<()> {
        self.write(MANIFEST, |file| {
            serde_json::to_writer_pretty(&mut *file, record)?;
            writeln!(file)
        })
    }

    /// Reads `manifest.json`.
    pub fn read_record(&self) -> Result<RunRecord> {
        let path = self.path().join(MANIFEST);
        let bytes = regular_file::read(&path, LARGEST_MANIFEST)?;
        let record = serde_json::from_slice::<RunRecord>(&bytes);
        // The record of a later version may have other members.
        let version = if let Ok(record) = &record {
            Some(record.schema_version)
        } else {
            let versioned = serde_json::from_slice::<Versioned>(&bytes).ok();
            versioned.and_then(|it| it.schema_version)
        };
        if let Some(found) = version.filter(|found| *found != RECORD_VERSION) {
            bail!(
                "`{}` has schema version {found}, but this version of evaluations reads {RECORD_VERSION}",
                path.display()
            );
        }
        record.map_err(|error| {
            // Only this reading, which takes longer, knows the key.
            let json = &mut serde_json::Deserializer::from_slice(&bytes);
            let keyed = serde_path_to_error::deserialize::<_, RunRecord>(json).err();
            let key = keyed.map(|error| error.path().to_string());
            let place = key
                .filter(|key| key != ".")
                .map(|key| format!(", at `{key}`"));
            let place = place.unwrap_or_default();
            let remedy = "; restore it from a copy, or delete the folder of the run";
            Error::new(error).context(unreadable(&path) + &place + remedy)
        })
    }

    /// Reads `report.json`, and fails if it was changed since it was written.
    pub fn read_report<T: DeserializeOwned>(&self) -> Result<T> {
        parse(&self.path().join(REPORT), &self.report()?)
    }

    /// The report and its SHA-256 in hexadecimal.
    pub fn read_report_with_digest<T: DeserializeOwned>(&self) -> Result<(T, String)> {
        let bytes = self.report()?;
        let digest = hex::encode(Sha256::digest(&bytes));
        Ok((parse(&self.path().join(REPORT), &bytes)?, digest))
    }

    fn report(&self) -> Result<Vec<u8>> {
        let path = self.path().join(REPORT);
        if !path.exists() {
            bail!(
                "run `{}` has no report ({}); {}",
                self.name(),
                self.state(),
                self.remedy()
            );
        }
        let bytes = regular_file::read(&path, LARGEST_REPORT)?;
        self.check_report(Cursor::new(&bytes))?;
        Ok(bytes)
    }

    /// Fails if the report is not as it was written. The numbers of an edited or damaged one would look like results.
    pub(super) fn check_report(&self, file: impl Read + Seek) -> Result<()> {
        let remedy = format!("restore it from a copy, or {}", self.remedy());
        check_report(file, &remedy)
            .with_context(|| format!("`{REPORT}` of run `{}` is damaged", self.name()))
    }

    /// Writes the report as `report.md`, with further tables at its end, and last as `report.json`, so that a folder that has it is
    /// complete.
    pub fn write_report<D: Domain>(
        &self,
        report: &Report<D>,
        summary: &Summary,
        tables: &[Table],
    ) -> Result<()> {
        self.write("report.md", |file| {
            render::markdown::report(&mut *file, report, summary)?;
            let mut tables = tables.iter().cloned();
            tables.try_for_each(|table| render::markdown::table(&mut *file, table))
        })?;
        self.write(REPORT, |file| render::json::report(file, report, summary))
    }

    /// Writes one file of the folder atomically.
    pub fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write_atomically(&self.path().join(name), content).with_context(|| unwritable(self.path()))
    }
}

/// Fails if a report is not as it was written.
pub fn check_report(file: impl Read + Seek, remedy: &str) -> Result<()> {
    if ReportCheck::of(file)? == ReportCheck::Changed {
        bail!("its checksum does not match its content; {remedy}");
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).with_context(|| unreadable(path))
}

/// The error for a file of a run that cannot be parsed.
pub fn unreadable(path: &Path) -> String {
    format!(
        "`{}` is damaged or in a format that this version does not read",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(runs: &Path, name: &str) -> RunFolder {
        let time = "2026-05-01T12:00:00Z".parse().unwrap();
        let folder = RunFolder::create(runs, time, name).unwrap();
        std::fs::write(folder.path().join(MANIFEST), "{}").unwrap();
        folder
    }

    #[test]
    fn a_manifest_of_another_version_is_refused() {
        let runs = tempfile::tempdir().unwrap();
        let folder = run(runs.path(), "later");
        let later = r#"{"schema_version": 2, "dataset": "other"}"#;
        std::fs::write(folder.path().join(MANIFEST), later).unwrap();
        let error = folder.read_record().unwrap_err();
        assert!(
            error.to_string().contains("has schema version 2, but"),
            "{error}"
        );
    }

    #[test]
    fn the_error_for_a_damaged_manifest_names_the_file_and_the_key() {
        let runs = tempfile::tempdir().unwrap();
        let folder = run(runs.path(), "damaged");
        let whole = include_str!("../../tests/records/retrieval.json");
        for (path, key) in [
            ("/k", "`k`"),
            ("/measures", "`measures`"),
            ("/dataset/questions", "`dataset.questions`"),
            ("/index/table", "`index.table`"),
            ("/models/embedder", "`models.embedder`"),
            ("/settings", "`settings`"),
        ] {
            let mut damaged: serde_json::Value = serde_json::from_str(whole).unwrap();
            *damaged.pointer_mut(path).unwrap() = serde_json::json!(-1);
            std::fs::write(folder.path().join(MANIFEST), damaged.to_string()).unwrap();
            let error = format!("{:#}", folder.read_record().unwrap_err());
            assert!(error.contains(MANIFEST) && error.contains(key), "{error}");
        }
    }

    #[test]
    fn the_error_for_a_missing_report_states_the_state_of_the_run() {
        let runs = tempfile::tempdir().unwrap();
        let created = run(runs.path(), "killed");
        let folder = RunFolder::open(created.path()).unwrap();
        let error = |folder: &RunFolder| {
            let error = folder.read_report::<serde_json::Value>().unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error(&folder),
            "run `20260501T120000.000Z-killed` has no report (running); wait for it to finish"
        );
        drop(created);
        assert_eq!(
            error(&folder),
            "run `20260501T120000.000Z-killed` has no report (unfinished); run the original command again to start over"
        );
    }
}

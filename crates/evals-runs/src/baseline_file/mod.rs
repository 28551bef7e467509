//! Baseline files: the numbers of a run in a small file that checks itself and can be committed. A bare name stands for a file in `baselines`.

mod layout;
mod reading;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use evals::Snapshot;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::atomic_file::write_atomically;
use crate::stored_runs::{StoredRun, finished, settings, snapshot};

/// The folder of baselines that are named without a path.
const FOLDER: &str = "baselines";
/// What the member `kind` of every baseline says.
const KIND: &str = "evaluations baseline";
/// The version of the format that this program writes and reads.
const VERSION: u32 = 1;
/// The member with the digest of all others.
const CHECKSUM: &str = "checksum";

/// A baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFile {
    kind: String,
    schema_version: u32,
    /// The version of evaluations that wrote it.
    pub tool: String,
    /// The benchmark, as [`Benchmark::word`](crate::run_record::Benchmark::word) has it.
    pub benchmark: String,
    /// The name of the dataset.
    pub dataset: String,
    /// The search profile, or the target.
    pub profile: String,
    /// The name of the run.
    pub run: String,
    /// The settings that the run's figures depend on, by dotted path.
    pub settings: Map<String, Value>,
    /// The numbers.
    pub snapshot: Snapshot,
}

impl BaselineFile {
    /// The baseline of a run that is finished.
    pub fn of(run: &StoredRun) -> Result<Self> {
        finished(run)?;
        let record = &run.record;
        Ok(Self {
            kind: KIND.to_owned(),
            schema_version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            benchmark: record.benchmark.to_string(),
            dataset: record.dataset.name.clone(),
            profile: record.profile.clone(),
            run: run.name(),
            settings: settings(run),
            snapshot: snapshot(run)?,
        })
    }

    /// Writes the file. Equal baselines have equal bytes. Fails if the file exists, unless it may be replaced.
    pub fn write(&self, path: &Path, may_replace: bool) -> Result<()> {
        if path.is_dir() {
            bail!("`{}` is a folder", path.display());
        }
        if !may_replace && path.exists() {
            bail!("`{}` exists already; `--force` replaces it", path.display());
        }
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        let content = serde_json::to_value(self).context("a number is not finite")?;
        let mut document = Map::new();
        let checksum = checksum(&content);
        document.insert(CHECKSUM.to_owned(), checksum.into());
        if let Value::Object(members) = content {
            document.extend(members);
        }
        let text = layout::document(&Value::Object(document));
        write_atomically(path, |file| file.write_all(text.as_bytes()))
    }
}

/// The digest of a baseline's content, without white space.
fn checksum(content: &Value) -> String {
    let digest = Sha256::digest(content.to_string());
    format!("sha256:{}", hex::encode(digest))
}

/// The file that an argument of `runs baseline` names: `main` stands for `baselines/main.json`, and everything with a folder or an extension for
/// itself.
pub fn path_of(written: &Path) -> PathBuf {
    standing_for(written).unwrap_or_else(|| written.to_owned())
}

/// The file that a bare name stands for; `None` for a path.
pub fn standing_for(written: &Path) -> Option<PathBuf> {
    let is_bare = written.components().count() == 1
        && written.extension().is_none()
        && written.file_name().is_some();
    is_bare.then(|| Path::new(FOLDER).join(written).with_extension("json"))
}

/// The bare name that stands for a file; `None` for a file without such a name.
fn shorthand(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let is_named = standing_for(Path::new(name)).is_some_and(|file| file == path);
    is_named.then(|| name.to_owned())
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

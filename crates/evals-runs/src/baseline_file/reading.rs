//! Reads baselines, and refuses those that are damaged, cut short or edited.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use serde_json::Value;

use super::{BaselineFile, CHECKSUM, KIND, VERSION, checksum, shorthand};
use crate::shell_word::shell_word;

/// The largest baseline that is read.
const LARGEST: u64 = 256_000_000;
/// A baseline says what it is within this many bytes.
const BEGINNING: u64 = 1_000;

/// The command that saves a run at a path.
fn saving(path: &Path, options: &str) -> String {
    let written = shorthand(path).unwrap_or_else(|| path.display().to_string());
    format!(
        "evaluations runs baseline save {} RUN{options}",
        shell_word(&written)
    )
}

impl BaselineFile {
    /// Whether the file at a path is a baseline, damaged or not. A report of a run is not.
    pub fn is_at(path: &Path) -> bool {
        let mut start = Vec::new();
        let is_read = path.is_file()
            && File::open(path)
                .and_then(|file| file.take(BEGINNING).read_to_end(&mut start))
                .is_ok();
        is_read && String::from_utf8_lossy(&start).contains(KIND)
    }

    /// Reads a baseline and checks all of it.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            bail!(
                "there is no baseline `{}`; `{}` saves a run as one",
                path.display(),
                saving(path, "")
            );
        }
        let bytes = regular_file::read(path, LARGEST)?;
        Self::parse(&bytes).with_context(|| {
            let path_text = path.display().to_string();
            format!(
                "baseline `{}` cannot be used; restore it, such as with `git restore -- {}`, or save a run again with `{}`",
                path_text,
                shell_word(&path_text),
                saving(path, " --force")
            )
        })
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut document: Value =
            serde_json::from_slice(bytes).context("it is not JSON, or cut short")?;
        if document["kind"] != KIND {
            bail!("it is not a baseline: `kind` is not `{KIND}`");
        }
        if document["schema_version"] != VERSION {
            bail!(
                "it has schema version {}, but this version of evaluations reads {VERSION}",
                document["schema_version"]
            );
        }
        let members = document.as_object_mut();
        let found = members.and_then(|members| members.shift_remove(CHECKSUM));
        let expected = checksum(&document);
        if found.as_ref().and_then(Value::as_str) != Some(&expected) {
            bail!("its checksum does not match its content: it was edited or damaged");
        }
        let baseline: Self =
            serde_json::from_value(document).context("it has members that do not fit")?;
        match baseline.snapshot.fault() {
            Some(fault) => bail!("{fault}"),
            None => Ok(baseline),
        }
    }
}

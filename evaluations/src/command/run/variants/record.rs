//! Which variants of an unfinished command are done, so that the same command continues where it was stopped.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use evals_guard::regular_file;
use evals_pipeline::session::Session;
use evals_runs::atomic_file::write_atomically;
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::is_finished;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::stored::Made;
use crate::cli::RunArgs;
use crate::redaction;

/// The size limit of a record, in bytes.
const LARGEST: u64 = 1_000_000;

/// The file of an unfinished command.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    content: Content,
}

#[derive(Debug, Default, Serialize, Deserialize, PartialEq)]
struct Content {
    command_line: Vec<String>,
    /// The names of the run folders of each variant that is done, by its title.
    done: BTreeMap<String, Vec<String>>,
}

impl Record {
    /// The record of this command. It is empty unless an earlier one with the same words did not finish, or with `--fresh`.
    pub(super) fn open(session: &Session<'_>, arguments: &RunArgs) -> Result<Self> {
        let command_line = redaction::command_line();
        let folder = session.directories.data.join("unfinished");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        let digest = Sha256::digest(command_line.join("\0"));
        let mut start = [0; 8];
        start.copy_from_slice(&digest[..8]);
        let path = folder.join(format!("{:016x}.json", u64::from_be_bytes(start)));
        let earlier = if arguments.control.fresh {
            None
        } else {
            read(&path).filter(|it| it.command_line == command_line)
        };
        Ok(Self {
            path,
            content: earlier.unwrap_or_else(|| Content {
                command_line,
                done: BTreeMap::new(),
            }),
        })
    }

    /// The runs of a variant that is done. `None` if one of them is gone.
    pub(super) fn done(&self, session: &Session<'_>, title: &str) -> Option<&[String]> {
        let runs = self.content.done.get(title)?;
        let folder = session.directories.runs();
        let is_there = |name: &String| {
            let run = RunFolder::open(&folder.join(name));
            run.is_some_and(|run| is_finished(run.state()))
        };
        (!runs.is_empty() && runs.iter().all(is_there)).then_some(runs)
    }

    /// Records a variant as done.
    pub(super) fn add(&mut self, title: &str, runs: &[Made]) -> Result<()> {
        let names = runs.iter().map(|it| it.run.folder.clone()).collect();
        self.content.done.insert(title.to_owned(), names);
        write_atomically(&self.path, |file| {
            serde_json::to_writer_pretty(&mut *file, &self.content)?;
            writeln!(file)
        })
    }

    /// Removes the file: the command is done.
    pub(super) fn remove(self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove `{}`", self.path.display()))
            }
            _ => Ok(()),
        }
    }
}

/// A record that cannot be read counts as none: its variants run again.
fn read(path: &Path) -> Option<Content> {
    let bytes = regular_file::read(path, LARGEST).ok()?;
    serde_json::from_slice(&bytes).ok()
}

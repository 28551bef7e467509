//! Exchanges grades with people, as CSV.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_runs::annotations::{checked_labeller, user_name};
use evals_runs::atomic_file::write_atomically;
use evals_runs::clock::{now, timestamp};
use evals_runs::pooling::{Assessor, FilledSheet, write_sheet};

use super::Command;

/// The size limit of a file to import.
const LARGEST_IMPORT: u64 = 512_000_000;

impl Command<'_> {
    pub(super) fn export(&self, path: &Path) -> Result<()> {
        if path.symlink_metadata().is_ok() {
            bail!(
                "`{}` exists; choose a different name, because somebody may have graded in it",
                path.display()
            );
        }
        let stored = self.file.read()?;
        let (seed, questions) = (self.arguments.seed, self.arguments.sample.get());
        let mut rows = 0;
        write_atomically(path, |out| {
            let written = write_sheet(&self.pool, (&stored, seed), questions, out);
            rows = written.map_err(io::Error::other)?;
            Ok(())
        })?;
        self.session.printer.note(&format!(
            "wrote {} to `{}`; fill in the column `grade` with 0, 1, 2 or 3, and import the file",
            quantity::of(rows, "row"),
            path.display()
        ));
        Ok(())
    }

    pub(super) fn import(&self, path: &Path) -> Result<()> {
        let bytes = regular_file::read(path, LARGEST_IMPORT)?;
        let named = self.arguments.labeller.clone().or_else(user_name);
        let labeller = checked_labeller(named.as_deref().unwrap_or_default());
        let labeller = labeller.context("name who graded with `--labeller NAME`")?;
        let sheet = FilledSheet {
            file: path.display().to_string(),
            bytes: &bytes,
            assessor: Assessor::Person(labeller.to_owned()),
            time: timestamp(now()),
        };
        let file = self.file.open()?;
        let added = sheet.read(&self.pool, &file.stored)?;
        for judgement in &added {
            file.add(judgement)?;
        }
        file.sync()?;
        let grades = quantity::of(added.len(), "grade");
        self.session.printer.note(&format!("added {grades}"));
        Ok(())
    }
}

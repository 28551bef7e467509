//! Exchanges grades with people, as CSV.

use std::io;
use std::path::Path;

use anyhow::{Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_runs::annotations::user_name;
use evals_runs::atomic_file::write_atomically;
use evals_runs::clock::{now, timestamp};
use evals_runs::pooling::{Sheet, SheetFile, StoredJudgements};

use super::Command;

/// The size limit of a file to import.
const LARGEST_IMPORT: u64 = 512_000_000;

impl Command<'_> {
    fn sheet<'s>(&'s self, stored: &'s StoredJudgements) -> Sheet<'s> {
        Sheet {
            pool: &self.pool,
            stored,
            seed: self.arguments.seed,
        }
    }

    pub(super) fn export(&self, path: &Path) -> Result<()> {
        if path.symlink_metadata().is_ok() {
            bail!(
                "`{}` exists; choose a different name, because somebody may have graded in it",
                path.display()
            );
        }
        let stored = self.file.read()?;
        let sheet = self.sheet(&stored);
        let mut rows = 0;
        write_atomically(path, |out| {
            rows = sheet
                .write(self.arguments.sample.get(), out)
                .map_err(io::Error::other)?;
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
        let user = user_name();
        let labeller = self.arguments.labeller.as_deref().map(str::trim);
        let file = SheetFile {
            file: path.display().to_string(),
            labeller: labeller.or(user.as_deref()),
            time: timestamp(now()),
        };
        let stored = self.file.read()?;
        let given = self.sheet(&stored).read(&file, &bytes)?;
        if given.judgements.is_empty() && given.known == 0 {
            bail!(
                "no row of `{}` has a grade; fill in the column `grade`",
                path.display()
            );
        }
        self.file.add(&given.judgements)?;
        self.session.printer.note(&format!(
            "added {}; {} already known, {} without a grade",
            quantity::of(given.judgements.len(), "grade"),
            given.known,
            given.empty
        ));
        Ok(())
    }
}

//! The files of `--out` for verdicts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use evals_pages::out_file::check_place;
use evals_runs::atomic_file::write_atomically;
use evals_terminal::Printer;

/// The formats of verdicts, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictFormat {
    Junit,
    Json,
    Markdown,
}

impl VerdictFormat {
    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "xml" => Some(Self::Junit),
            "json" => Some(Self::Json),
            "md" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// A file to write.
#[derive(Debug)]
pub(crate) struct VerdictFile {
    path: PathBuf,
    format: VerdictFormat,
}

impl VerdictFile {
    /// The files of several `--out`. Fails for an extension that is not among `accepted`, so that commands fail before they do any work.
    pub(crate) fn all(paths: &[PathBuf], accepted: &[&str]) -> Result<Vec<Self>> {
        let one = |path: &PathBuf| {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let extension = extension.to_lowercase();
            let known = VerdictFormat::of_extension(&extension);
            let Some(format) = known.filter(|_| accepted.contains(&&*extension)) else {
                bail!(
                    "cannot tell the format of `--out {}`; use a name that ends in .{}",
                    path.display(),
                    accepted.join(" or .")
                );
            };
            check_place(path)?;
            Ok(Self {
                path: path.clone(),
                format,
            })
        };
        paths.iter().map(one).collect()
    }

    pub(crate) fn format(&self) -> VerdictFormat {
        self.format
    }

    pub(crate) fn write(
        &self,
        printer: &Printer,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write_atomically(&self.path, content)?;
        printer.note_file("wrote", self.path());
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

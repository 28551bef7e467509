//! The files of `--out`: their formats, and writing them.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use evals::{Change, Comparison, Domain, Report, Summary, render};
use evals_evaluators::Untyped;
use evals_evaluators::pydantic_report::EvaluationReport;

use crate::atomic_file::write_atomically;

/// The formats of a report, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonLines,
    Csv,
    Markdown,
    /// pydantic-evals' report model.
    Pydantic,
}

/// A file to write, with the format that its extension names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutFile {
    path: PathBuf,
    format: Format,
}

impl OutFile {
    /// Fails for an unknown extension or a missing folder, so that commands fail before they do any work.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let file = Self::of_eval(path)?;
        match file.format {
            Format::Pydantic => Err(file.not_pydantic()),
            _ => Ok(file),
        }
    }

    /// The same for a run of a dataset file, which may also be written as pydantic-evals' report.
    pub(crate) fn of_eval(path: &Path) -> Result<Self> {
        let extension = path
            .extension()
            .map(|extension| extension.to_string_lossy().to_lowercase());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let format = match extension.as_deref() {
            _ if name.to_lowercase().ends_with(".pydantic.json") => Format::Pydantic,
            Some("json") => Format::Json,
            Some("jsonl") => Format::JsonLines,
            Some("csv") => Format::Csv,
            Some("md") => Format::Markdown,
            _ => bail!(
                "cannot tell the format of `--out {}`; use a name that ends in .json, .jsonl, .csv or .md",
                path.display()
            ),
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder
            && !folder.is_dir()
        {
            bail!(
                "`--out {}`: the folder `{}` does not exist",
                path.display(),
                folder.display()
            );
        }
        if path.is_dir() {
            bail!("`--out {}` is a folder", path.display());
        }
        Ok(Self {
            path: path.to_owned(),
            format,
        })
    }

    /// The files of several `--out`.
    pub(crate) fn all(paths: &[PathBuf]) -> Result<Vec<Self>> {
        paths.iter().map(|path| Self::new(path)).collect()
    }

    /// The files of several `--out` of a run of a dataset file.
    pub(crate) fn all_of_eval(paths: &[PathBuf]) -> Result<Vec<Self>> {
        paths.iter().map(|path| Self::of_eval(path)).collect()
    }

    fn not_pydantic(&self) -> anyhow::Error {
        anyhow!(
            "`--out {self}`: only runs of `evaluations eval` can be written as pydantic-evals' report"
        )
    }

    /// Writes the report of a dataset file.
    pub(crate) fn eval_report(&self, report: &Report<Untyped>, summary: &Summary) -> Result<()> {
        if self.format != Format::Pydantic {
            return self.report(report, summary);
        }
        let model = EvaluationReport::from(report);
        write_atomically(&self.path, |file| {
            serde_json::to_writer_pretty(&mut *file, &model)?;
            writeln!(file)
        })
    }

    /// Writes one report.
    pub(crate) fn report<D: Domain>(&self, report: &Report<D>, summary: &Summary) -> Result<()> {
        if self.format == Format::Pydantic {
            return Err(self.not_pydantic());
        }
        write_atomically(&self.path, |file| {
            write_report(file, self.format, report, summary)
        })
    }

    /// Writes a comparison of reports. Returns `false` for the formats with a row for each case, which cannot hold one.
    pub(crate) fn comparison(&self, comparison: &Comparison) -> Result<bool> {
        match self.format {
            Format::Json => write_atomically(&self.path, |file| {
                render::json::comparison(file, comparison)
            })?,
            Format::Markdown => write_atomically(&self.path, |file| {
                render::markdown::comparison(file, comparison)
            })?,
            Format::JsonLines | Format::Csv | Format::Pydantic => return Ok(false),
        }
        Ok(true)
    }

    /// The files of several `--out` for a comparison of runs, which the formats with a row for each case cannot hold.
    pub(crate) fn all_of_changes(paths: &[PathBuf]) -> Result<Vec<Self>> {
        let files = Self::all(paths)?;
        let rows = [Format::JsonLines, Format::Csv];
        if let Some(file) = files.iter().find(|file| rows.contains(&file.format)) {
            bail!(
                "`--out {file}`: a comparison of runs has no rows for cases; use a name that ends in .json or .md"
            );
        }
        Ok(files)
    }

    /// Writes a comparison of two runs.
    pub(crate) fn change(&self, change: &Change) -> Result<()> {
        write_atomically(&self.path, |file| match self.format {
            Format::Markdown => render::markdown::change(file, change),
            Format::Json | Format::JsonLines | Format::Csv | Format::Pydantic => {
                render::json::change(file, change)
            }
        })
    }

    /// The file of one of several reports: `report.csv` becomes `report.bm25.csv`.
    pub(crate) fn of(&self, profile: &str) -> Self {
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        Self {
            path: self.path.with_extension(format!("{profile}.{extension}")),
            format: self.format,
        }
    }
}

impl fmt::Display for OutFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)
    }
}

fn write_report<D: Domain>(
    file: &mut dyn Write,
    format: Format,
    report: &Report<D>,
    summary: &Summary,
) -> io::Result<()> {
    match format {
        Format::Json | Format::Pydantic => render::json::report(file, report, summary),
        Format::JsonLines => render::jsonl::report(file, report),
        Format::Csv => render::csv::report(file, report),
        Format::Markdown => render::markdown::report(file, report, summary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_chooses_the_format() {
        let format = |name: &str| OutFile::new(Path::new(name)).map(|file| file.format);
        assert_eq!(format("a.json").unwrap(), Format::Json);
        assert_eq!(format("a.JSONL").unwrap(), Format::JsonLines);
        assert_eq!(
            format("a.xlsx").unwrap_err().to_string(),
            "cannot tell the format of `--out a.xlsx`; use a name that ends in .json, .jsonl, .csv or .md"
        );
        assert_eq!(
            format("no/such/a.md").unwrap_err().to_string(),
            "`--out no/such/a.md`: the folder `no/such` does not exist"
        );
    }

    #[test]
    fn each_profile_has_its_own_file() {
        let file = OutFile::new(Path::new("report.v1.csv")).unwrap().of("bm25");
        assert_eq!(file.to_string(), "report.v1.bm25.csv");
    }
}

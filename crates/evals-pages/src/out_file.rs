//! The files of `--out`: their formats, and writing them.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use evals::{Report, Standings, Summary, render};
use evals_html::page::{Texts, Written};
use evals_runs::atomic_file::write_atomically;
use evals_terminal::Printer;

use crate::page::{self, ChangePage, HasPage, PageSource, RunPage, SeveralPage};

/// The formats of a report, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The report whole, as a value.
    Json,
    /// A line for each case.
    JsonLines,
    /// A row for each case.
    Csv,
    /// The tables of a report.
    Markdown,
    /// A page for browsers.
    Html,
    /// pydantic-evals' report model.
    Pydantic,
}

/// A file to write, with the format that its extension names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutFile {
    path: PathBuf,
    format: Format,
}

impl OutFile {
    /// Where the file is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails for an unknown extension or a missing folder, so that commands fail before they do any work.
    pub fn new(path: &Path) -> Result<Self> {
        let file = Self::of_eval(path)?;
        match file.format {
            Format::Pydantic => Err(file.not_pydantic()),
            _ => Ok(file),
        }
    }

    /// The same for a run of a dataset file, which may also be written as pydantic-evals' report.
    pub fn of_eval(path: &Path) -> Result<Self> {
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
            Some("html") => Format::Html,
            _ => bail!(
                "cannot tell the format of `--out {}`; use a name that ends in .html, .json, .jsonl, .csv or .md",
                path.display()
            ),
        };
        check_place(path)?;
        Ok(Self {
            path: path.to_owned(),
            format,
        })
    }

    /// The files of several `--out`.
    pub fn all(paths: &[PathBuf]) -> Result<Vec<Self>> {
        paths.iter().map(|path| Self::new(path)).collect()
    }

    /// The files of several `--out` of a run of a dataset file.
    pub fn all_of_eval(paths: &[PathBuf]) -> Result<Vec<Self>> {
        paths.iter().map(|path| Self::of_eval(path)).collect()
    }

    fn not_pydantic(&self) -> anyhow::Error {
        anyhow!(
            "`--out {self}`: only runs of `evaluations eval` can be written as pydantic-evals' report"
        )
    }

    /// Writes one report. Only a page shows its source.
    pub fn report<D: HasPage>(
        &self,
        printer: &Printer,
        report: &Report<D>,
        summary: &Summary,
        source: &PageSource,
    ) -> Result<()> {
        let page = RunPage {
            report,
            summary,
            source,
        };
        match self.format {
            Format::Html => return self.page(printer, |out| page.write(out)),
            Format::Pydantic => {
                let model = D::pydantic(report).ok_or_else(|| self.not_pydantic())?;
                return write_atomically(&self.path, |file| {
                    serde_json::to_writer_pretty(&mut *file, &model)?;
                    writeln!(file)
                });
            }
            Format::Json | Format::JsonLines | Format::Csv | Format::Markdown => {}
        }
        write_atomically(&self.path, |file| match self.format {
            Format::JsonLines => render::jsonl::report(file, report),
            Format::Csv => render::csv::report(file, report),
            Format::Markdown => {
                render::markdown::report(&mut *file, report, summary)?;
                let mut corrections = source.corrections.iter().cloned();
                corrections.try_for_each(|table| render::markdown::table(&mut *file, table))
            }
            Format::Json | Format::Html | Format::Pydantic => {
                render::json::report(file, report, summary)
            }
        })
    }

    fn page(
        &self,
        printer: &Printer,
        write: impl FnOnce(&mut dyn Write) -> Result<Written>,
    ) -> Result<()> {
        let warning = page::write_file(&self.path, write)?;
        printer.warn_of(warning.as_deref());
        Ok(())
    }

    /// Whether pages hold texts. Fails if they should not and no file is a page, because the other formats hold all texts.
    pub fn texts(files: &[Self], without: bool) -> Result<Texts> {
        if !without {
            return Ok(Texts::Kept);
        }
        match files.iter().find(|file| !file.is_page()) {
            None => Ok(Texts::Omitted),
            Some(file) => bail!(
                "`--without-texts` works only for .html files, and `{file}` would hold the texts; use a name that ends in .html"
            ),
        }
    }

    /// Whether it is a page, the only format that shows documents and can leave texts out.
    pub fn is_page(&self) -> bool {
        self.format == Format::Html
    }

    /// Writes a comparison of reports. Returns `false` for the formats with a row for each case, which cannot hold one.
    pub fn comparison<D: HasPage>(
        &self,
        printer: &Printer,
        several: &SeveralPage<'_, D>,
    ) -> Result<bool> {
        let comparison = several.comparison;
        match self.format {
            Format::Html => self.page(printer, |out| several.write(out))?,
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

    /// The files of several `--out` for a comparison of two runs. Only one with cases has rows.
    pub fn all_of_changes(paths: &[PathBuf], has_cases: bool) -> Result<Vec<Self>> {
        let files = Self::all_of_standings(paths)?;
        let is_csv = |file: &&Self| file.format == Format::Csv;
        if let Some(file) = files.iter().find(is_csv).filter(|_| !has_cases) {
            bail!(
                "`--out {file}`: a comparison of two runs has no rows; add `--cases` for a row for each case, or use a name that ends in \
                 .html, .json or .md"
            );
        }
        Ok(files)
    }

    /// The files of several `--out` for a comparison of more than two runs.
    pub fn all_of_standings(paths: &[PathBuf]) -> Result<Vec<Self>> {
        let files = Self::all(paths)?;
        if let Some(file) = files.iter().find(|file| file.format == Format::JsonLines) {
            bail!(
                "`--out {file}`: a comparison of runs has no lines for cases; use a name that ends in .html, .json, .md or .csv"
            );
        }
        Ok(files)
    }

    /// Writes a comparison of more than two runs.
    pub fn standings<D: HasPage>(
        &self,
        printer: &Printer,
        standings: &Standings,
        page: &SeveralPage<'_, D>,
    ) -> Result<()> {
        if self.format == Format::Html {
            return self.page(printer, |out| page.write(out));
        }
        let cases = page.source.cases.as_ref();
        write_atomically(&self.path, |file| match (self.format, cases) {
            (Format::Markdown, _) => render::markdown::standings(file, standings),
            (Format::Csv, Some(cases)) => render::csv::case_table(file, cases),
            (Format::Csv, None) => render::csv::standings(file, standings),
            (Format::Json | Format::JsonLines | Format::Html | Format::Pydantic, _) => {
                render::json::standings(file, standings)
            }
        })
    }

    /// Writes a comparison of two runs.
    pub fn change<D: HasPage>(&self, printer: &Printer, page: &ChangePage<'_, D>) -> Result<()> {
        let change = page.change;
        if self.format == Format::Html {
            return self.page(printer, |out| page.write(out));
        }
        let cases = page.source.cases.as_ref();
        write_atomically(&self.path, |file| match (self.format, cases) {
            (Format::Markdown, _) => render::markdown::change(file, change),
            (Format::Csv, Some(cases)) => render::csv::case_table(file, cases),
            _ => render::json::change(file, change),
        })
    }

    /// The file of one of several reports: `report.csv` becomes `report.bm25.csv`.
    #[must_use]
    pub fn of(&self, profile: &str) -> Self {
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        Self {
            path: self.path.with_extension(format!("{profile}.{extension}")),
            format: self.format,
        }
    }
}

/// Fails for a file in a missing folder, or one that is a folder.
pub fn check_place(path: &Path) -> Result<()> {
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
    Ok(())
}

impl fmt::Display for OutFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_chooses_the_format() {
        let format = |name: &str| OutFile::new(Path::new(name)).map(|file| file.format);
        assert_eq!(format("a.json").unwrap(), Format::Json);
        assert_eq!(format("a.html").unwrap(), Format::Html);
        assert_eq!(format("a.JSONL").unwrap(), Format::JsonLines);
        assert_eq!(
            format("a.xlsx").unwrap_err().to_string(),
            "cannot tell the format of `--out a.xlsx`; use a name that ends in .html, .json, .jsonl, .csv or .md"
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

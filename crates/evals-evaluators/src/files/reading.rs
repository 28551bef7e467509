//! Reads a dataset file with all of its mistakes at once.

use std::path::Path;

use evals_guard::regular_file;
use evals_yaml::{json, yaml11};

use super::built::{Builder, Loaded};
use super::dataset_file::{DatasetFile, FileFormat};
use super::grammar;
use super::problem::{DatasetFileError, Findings, Problem, Problems};
use super::{promptfoo, records};
use crate::{Registry, Resources};

/// The largest dataset file, in bytes.
const LARGEST: u64 = 512_000_000;

impl DatasetFile {
    /// Reads a dataset file, in the format that its extension names, and builds its evaluators.
    ///
    /// Without a [folder](Resources::folder) in `resources`, paths in arguments are relative to the file's.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it has mistakes: all of them are listed, also evaluators that the registry does not know or
    /// that refuse their arguments.
    pub fn open(
        path: &Path,
        registry: &Registry,
        resources: &Resources,
    ) -> Result<Loaded, DatasetFileError> {
        let format = FileFormat::of(path).ok_or_else(|| DatasetFileError::UnknownFormat {
            path: path.to_owned(),
        })?;
        let text = regular_file::read_named(path, LARGEST)?;
        let folder = resources
            .folder
            .clone()
            .or_else(|| path.parent().map(Path::to_owned));
        let resources = Resources {
            folder,
            ..resources.clone()
        };
        Ok(Self::read(&text, format, path, registry, &resources)?)
    }

    /// Reads the text of a dataset file. `path` is used in messages, and its stem is the name of a dataset that states none.
    ///
    /// # Errors
    ///
    /// All mistakes of the text.
    pub fn read(
        text: &str,
        format: FileFormat,
        path: &Path,
        registry: &Registry,
        resources: &Resources,
    ) -> Result<Loaded, Problems> {
        let failed = |problems| Problems {
            path: path.to_owned(),
            problems,
        };
        let stem = path
            .file_stem()
            .map_or_else(|| "dataset".into(), |stem| stem.to_string_lossy());
        let mut file = Self {
            name: stem.into_owned(),
            ..Self::default()
        };
        let mut findings = Findings::default();
        file.fill(text, format, &mut findings)
            .map_err(|problem| failed(vec![problem]))?;
        Builder::new(registry, resources, findings)
            .load(file)
            .map_err(failed)
    }

    fn fill(
        &mut self,
        text: &str,
        format: FileFormat,
        findings: &mut Findings,
    ) -> Result<(), Problem> {
        let read = match format {
            FileFormat::Yaml => yaml11::read(text),
            FileFormat::Json => json::read(text),
            FileFormat::JsonLines => {
                self.cases = records::lines(text, findings);
                return Ok(());
            }
            FileFormat::Csv => {
                self.cases = promptfoo::read(text, findings)?;
                return Ok(());
            }
        };
        let root = findings.root(read?);
        match root.items() {
            Some(items) if format == FileFormat::Json => {
                self.cases = records::array(items, findings);
            }
            _ => grammar::file(&root, self, findings),
        }
        Ok(())
    }
}

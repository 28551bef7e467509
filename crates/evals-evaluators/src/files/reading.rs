//! Reads a dataset file with all of its mistakes at once.

use std::path::Path;

use evals_guard::regular_file;
use evals_yaml::{Document, Node, YamlError, json, yaml11};

use super::built::{Builder, Loaded};
use super::dataset_file::DatasetFile;
use super::format::FileFormat;
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
        let mut findings = Findings::default();
        let written = match format {
            FileFormat::Yaml => {
                let root = root(yaml11::read(text), &mut findings);
                root.map(|root| grammar::file(&root, &mut findings))
            }
            FileFormat::Json => {
                root(json::read(text), &mut findings).map(|root| match root.items() {
                    Some(items) => records::array(items, &mut findings),
                    None => grammar::file(&root, &mut findings),
                })
            }
            FileFormat::JsonLines => Ok(records::lines(text, &mut findings)),
            FileFormat::Csv => promptfoo::read(text, &mut findings),
        };
        let written = written.map_err(|problem| failed(vec![problem]))?;
        let stem = path
            .file_stem()
            .map_or_else(|| "dataset".into(), |stem| stem.to_string_lossy());
        Builder::new(registry, resources, findings)
            .load(written, &stem)
            .map_err(failed)
    }
}

/// The root of a YAML or JSON text.
fn root(read: Result<Document, YamlError>, findings: &mut Findings) -> Result<Node, Problem> {
    let Document {
        root,
        errors,
        warnings,
    } = read?;
    findings
        .errors
        .extend(errors.into_iter().map(Problem::from));
    findings
        .warnings
        .extend(warnings.into_iter().map(Problem::from));
    Ok(root)
}

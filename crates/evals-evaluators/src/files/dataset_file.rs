//! A dataset file: its cases and evaluators as values, read with all mistakes at once.

use std::path::Path;

use evals::{CaseId, EvaluatorSpec};
use evals_guard::regular_file;
use evals_yaml::{Document, Node, Place, YamlError, json, yaml11};
use serde_json::Value;

use super::built::{Builder, Loaded};
use super::format::FileFormat;
use super::grammar;
use super::problem::{DatasetFileError, Findings, Problem, Problems};
use super::{promptfoo, records};
use crate::{Registry, Resources};

/// The largest dataset file, in bytes.
const LARGEST: u64 = 512_000_000;

/// What a dataset file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetFile {
    /// The dataset's name; the file's name without extension if the file states none.
    pub name: String,
    /// The file's `$schema`, which has no meaning here. YAML files usually name their schema in a comment, which is not read.
    pub schema: Option<String>,
    /// The cases.
    pub cases: Vec<FileCase>,
    /// The evaluators of every case.
    pub evaluators: Vec<FileEvaluator>,
    /// The evaluators of the report.
    pub report_evaluators: Vec<FileEvaluator>,
    /// The section `target`, which says what to test. pydantic-evals refuses a file that has it.
    pub target: Option<Node>,
}

/// One case of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileCase {
    /// The case's id in the dataset: its name, or `Case` with its position from 1.
    pub id: CaseId,
    /// The name that the file states.
    pub name: Option<String>,
    /// What the target is asked.
    pub inputs: Value,
    /// Further facts; null without any.
    pub metadata: Value,
    /// The expected output; a null counts as none.
    pub expected: Option<Value>,
    /// The case's own evaluators.
    pub evaluators: Vec<FileEvaluator>,
    /// Where the case begins.
    pub place: Place,
}

/// One evaluator of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileEvaluator {
    /// Name and arguments as they are written.
    pub spec: EvaluatorSpec,
    /// Where its name stands.
    pub place: Place,
}

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

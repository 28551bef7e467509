//! Checks of the kinds of files. Nothing is run, asked or downloaded; a manifest's files are read where they are on disk.

use std::error::Error;
use std::path::Path;

use evals_data::{Availability, Collection, Hub, HubSettings, Manifest, Origin};
use evals_evaluators::{DatasetFile, FileFormat, Loaded, Registry, Resources};
use evals_messages::{chain, quantity};
use evals_metrics::trec;
use evals_pipeline::choices::Choices;
use evals_pipeline::eval::check_judges;
use evals_pipeline::targets;
use evals_targets::TargetSettings;
use evals_yaml::{Document, Step, YamlError, yaml11};

use crate::settings::{self, Layer, SettingsFile};

/// A file without problems.
#[derive(Debug)]
pub(super) struct Checked {
    /// A summary of its contents.
    pub(super) summary: String,
    /// Warnings about it, with places.
    pub(super) warnings: Vec<String>,
}

impl Checked {
    fn of(summary: impl Into<String>) -> Self {
        Self {
            summary: summary.into(),
            warnings: Vec::new(),
        }
    }
}

/// The problems of a file, each with its place.
type Problems = Vec<String>;

pub(super) fn dataset(path: &Path, text: &str, format: FileFormat) -> Result<Checked, Problems> {
    let resources = Resources {
        folder: path.parent().map(Path::to_owned),
        ..Resources::default()
    };
    let registry = Registry::built_in();
    let read = DatasetFile::read(text, format, path, &registry, &resources);
    let Loaded { file, warnings, .. } = read.map_err(|found| {
        let problems = found.problems.iter();
        problems
            .map(|problem| problem.at(path))
            .collect::<Problems>()
    })?;
    let (problems, of_judges) = check_judges(&registry, &file, path);
    if !problems.is_empty() {
        return Err(problems);
    }
    let own: usize = file.cases.iter().map(|case| case.evaluators.len()).sum();
    let evaluators = own + file.evaluators.len() + file.report_evaluators.len();
    let cases = quantity::of(file.cases.len(), "case");
    let evaluators = quantity::of(evaluators, "evaluator");
    let warning = |place, message: &str| format!("{}:{place}: warning: {message}", path.display());
    let warnings = warnings.iter();
    let warnings = warnings.map(|problem| warning(problem.place, &problem.message));
    let of_judges = of_judges.iter().map(|text| format!("warning: {text}"));
    Ok(Checked {
        summary: format!("dataset file with {cases} and {evaluators}"),
        warnings: warnings.chain(of_judges).collect(),
    })
}

pub(super) fn manifest(path: &Path, text: &str) -> Result<Checked, Problems> {
    let manifest =
        Manifest::parse(text, Origin::File(path.to_owned())).map_err(|error| one(path, &error))?;
    let layer =
        Layer::dataset(&manifest.origin, &manifest.settings).map_err(|error| one(path, &error))?;
    resolved(path, layer)?;
    let name = &manifest.name;
    let offline = Hub::new(HubSettings {
        offline: true,
        ..HubSettings::from_env()
    });
    if manifest.availability(&offline) == Availability::Remote {
        let files = format!(
            "its files are not downloaded, so they are not checked; `evaluations datasets download {}` gets them",
            path.display()
        );
        return Ok(Checked::of(format!(
            "manifest of the dataset `{name}`; {files}"
        )));
    }
    let counts = read(&manifest, &offline).map_err(|error| one(path, error.as_ref()))?;
    Ok(Checked::of(format!(
        "manifest of the dataset `{name}` with {counts}"
    )))
}

/// Reads the documents and the questions as a run does, and counts them.
fn read(manifest: &Manifest, hub: &Hub) -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let collection = runtime.block_on(Collection::resolve(manifest, hub, &()))?;
    let questions = collection.questions()?.questions.len();
    let mut documents = 0_usize;
    let read = collection.manifest().has_documents();
    let read = read.then(|| collection.documents()).transpose()?;
    for document in read.into_iter().flatten() {
        document?;
        documents += 1;
    }
    let documents = quantity::of(documents, "document");
    let questions = quantity::of(questions, "question");
    Ok(format!("{documents} and {questions}"))
}

pub(super) fn settings(path: &Path) -> Result<Checked, Problems> {
    let file = SettingsFile::named(path).map_err(|error| one(path, &error))?;
    resolved(path, file.layer)?;
    let warnings = file.warnings.iter();
    let warnings = warnings.map(|warning| format!("{}: warning: {warning}", path.display()));
    Ok(Checked {
        warnings: warnings.collect(),
        ..Checked::of("settings")
    })
}

/// YAML without a value, which changes no setting.
pub(super) fn empty(path: &Path) -> Checked {
    let message =
        "the file is empty: as settings it changes nothing, and a dataset file needs `cases:`";
    Checked {
        warnings: vec![format!("{}: warning: {message}", path.display())],
        ..Checked::of("settings")
    }
}

/// Checks the values of settings over the defaults.
fn resolved(path: &Path, layer: Layer) -> Result<(), Problems> {
    let resolved = settings::resolve(vec![layer]).map_err(|error| one(path, &error))?;
    Choices::of(&resolved).map_err(|error| vec![named(path, &format!("{error:#}"))])?;
    targets::check(&resolved).map_err(|error| one(path, &error))
}

pub(super) fn target(path: &Path, text: &str) -> Result<Checked, Problems> {
    let at = |error: &YamlError| {
        format!(
            "{}:{}:{}: {error}",
            path.display(),
            error.line,
            error.column
        )
    };
    let Document { root, errors, .. } = yaml11::read(text).map_err(|error| vec![at(&error)])?;
    if !errors.is_empty() {
        return Err(errors.iter().map(at).collect());
    }
    // As a run does, the section is taken with and without its name.
    let section = match root.members() {
        Some([only]) if only.key.text == "target" => &only.value,
        _ => &root,
    };
    let settings = TargetSettings::from_value(section.to_value());
    let checked = settings.and_then(|settings| settings.check());
    checked.map_err(|problem| {
        let place = section.place_of(problem.key.split('.').map(Step::Key));
        vec![at(&place.error(problem.to_string()))]
    })?;
    Ok(Checked::of("target"))
}

pub(super) fn qrels(path: &Path, text: &str) -> Result<Checked, Problems> {
    let qrels = trec::parse_qrels(text).map_err(|error| one(path, &error))?;
    let queries = quantity::of(qrels.len(), "query");
    Ok(Checked::of(format!("judgements of {queries}")))
}

pub(super) fn run(path: &Path, text: &str) -> Result<Checked, Problems> {
    let run = trec::parse_run(text).map_err(|error| one(path, &error))?;
    let queries = quantity::of(run.len(), "query");
    Ok(Checked::of(format!("rankings of {queries}")))
}

fn one(path: &Path, error: &(dyn Error + 'static)) -> Problems {
    vec![named(path, &chain(error))]
}

/// A message that names the file, which most errors already do.
fn named(path: &Path, message: &str) -> String {
    let path = path.display().to_string();
    if message.contains(&path) {
        message.to_owned()
    } else {
        format!("{path}: {message}")
    }
}

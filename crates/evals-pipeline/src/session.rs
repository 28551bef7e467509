//! The session that every command receives: the printer, the user's folders and settings.

use anyhow::Result;
use evals_data::{Catalog, Manifest};
use evals_rag::rag_judges::JudgedMeasure;
use evals_runs::directories::Directories;
use evals_runs::stored_runs::StoredRuns;
use evals_settings::{Layer, Resolved, SettingsFile, Tree};
use evals_terminal::Printer;

use crate::options::{ModelName, SettingsArgs};

/// One invocation of the program.
#[derive(Debug)]
pub struct Session<'p> {
    /// Prints results, notes and progress.
    pub printer: &'p Printer,
    /// The user's folders.
    pub directories: Directories,
}

impl Session<'_> {
    /// The runs in the data folder.
    pub fn stored_runs(&self) -> StoredRuns<'_> {
        StoredRuns::of(&self.directories, self.printer)
    }

    /// The manifest of a dataset. Notes which file is read where a user's file hides a built-in dataset of the same name.
    pub fn manifest(&self, dataset: &str) -> Result<Manifest> {
        let manifest = Catalog::new(self.directories.manifests()).find(dataset)?;
        if let Some(hidden) = Catalog::hidden_by(&manifest, dataset) {
            self.printer.note(&format!(
                "`{hidden}` is read from {}, not the built-in dataset of that name",
                manifest.origin
            ));
        }
        Ok(manifest)
    }

    /// The layers of the user's settings file, `options` and `--set`, weakest first.
    pub fn user_layers(
        &self,
        arguments: &SettingsArgs,
        options: impl IntoIterator<Item = Layer>,
    ) -> Result<Vec<Layer>> {
        let directories = &self.directories;
        let named = arguments.config.iter().map(|it| SettingsFile::named(it));
        let mut files = named.collect::<Result<Vec<_>, _>>()?;
        if files.is_empty() {
            let found = SettingsFile::discover(&directories.working, &directories.config);
            files.extend(found.map(|path| SettingsFile::read(&path)).transpose()?);
        }
        let mut layers = Vec::new();
        for file in files {
            file.warnings
                .iter()
                .for_each(|warning| self.printer.warn(warning));
            self.printer
                .detail(&format!("settings from {}", file.path.display()));
            layers.push(file.layer);
        }
        layers.extend(options);
        layers.extend(Layer::assignments(&arguments.assignments)?);
        Ok(layers)
    }

    /// Warns that a command other than `run` does not try the values of the setting `matrix`.
    pub fn warn_of_matrix(&self, resolved: &Resolved) {
        if !resolved.settings.matrix.is_empty() {
            self.printer.warn(
                "only `run` tries the values of the setting `matrix`; this command uses the other settings alone",
            );
        }
    }
}

/// The layer of `--judges`, if any are named.
pub fn named_judges(judges: &[JudgedMeasure]) -> Option<Layer> {
    let names: Vec<&str> = judges.iter().map(|judge| judge.name()).collect();
    let origin = format!("`--judges {}`", names.join(","));
    let names = Tree::Leaf(names.into());
    (!judges.is_empty()).then(|| Layer::option(origin, "evaluations.judges", names))
}

/// The layers of `--model` and `--judge`.
pub fn named_models(model: Option<&ModelName>, judge: Option<&ModelName>) -> Vec<Layer> {
    let options = [
        ("--model", "qa.model", model),
        ("--judge", "evaluations.judge", judge),
    ];
    let named = options.into_iter().filter_map(|(option, path, model)| {
        let model = model?;
        Some(Layer::model(option, path, &model.provider, &model.name))
    });
    named.collect()
}

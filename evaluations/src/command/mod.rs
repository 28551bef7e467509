//! One file for each command.

mod bench;
mod cache;
mod compare;
mod config;
mod configuration;
mod datasets;
mod doctor;
mod download;
mod rejudge;
mod report;
mod run;
mod runs;
mod score;
mod stored;
mod table;

use anyhow::Result;
use evals_data::{Catalog, Manifest};

pub(crate) use run::Interruption;

use crate::cli::{Command, ModelName, SettingsArgs};
use crate::directories::Directories;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::{Layer, SettingsFile};

/// Does what the command line says.
pub(crate) fn execute(command: Command, printer: &Printer) -> Result<Exit> {
    let session = Session {
        printer,
        directories: Directories::from_env()?,
    };
    match command {
        Command::Run(arguments) => run::execute(&session, &arguments),
        Command::Datasets(arguments) => datasets::execute(&session, &arguments),
        Command::Download(arguments) => download::execute(&session, &arguments),
        Command::Score(arguments) => score::execute(&session, &arguments),
        Command::Runs(arguments) => runs::execute(&session, &arguments),
        Command::Compare(arguments) => compare::execute(&session, &arguments),
        Command::Report(arguments) => report::execute(&session, &arguments),
        Command::Rejudge(arguments) => rejudge::execute(&session, &arguments),
        Command::Table(arguments) => table::execute(&session, &arguments),
        Command::Bench(arguments) => bench::execute(&session, &arguments),
        Command::Cache(arguments) => cache::execute(&session, &arguments),
        Command::Config(arguments) => config::execute(&session, &arguments),
        Command::Doctor(arguments) => doctor::execute(&session, &arguments),
    }
}

/// What every command is given.
#[derive(Debug)]
struct Session<'p> {
    printer: &'p Printer,
    directories: Directories,
}

impl Session<'_> {
    /// The manifest of a dataset. Says which file is read where it has the name of a built-in dataset and is another one.
    fn manifest(&self, dataset: &str) -> Result<Manifest> {
        let manifest = Catalog::new(self.directories.manifests()).find(dataset)?;
        if let Some(hidden) = Catalog::hidden_by(&manifest, dataset) {
            self.printer.note(&format!(
                "`{hidden}` is read from {}, not the built-in dataset of that name",
                manifest.origin
            ));
        }
        Ok(manifest)
    }

    /// The layers that the user's file, `options` and `--set` make, weakest first.
    fn user_layers(
        &self,
        arguments: &SettingsArgs,
        options: impl IntoIterator<Item = Layer>,
    ) -> Result<Vec<Layer>> {
        let directories = &self.directories;
        let file = match &arguments.config {
            Some(path) => Some(SettingsFile::named(path)?),
            None => SettingsFile::discover(&directories.working, &directories.config)
                .map(|path| SettingsFile::read(&path))
                .transpose()?,
        };
        let mut layers = Vec::new();
        if let Some(file) = file {
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
}

/// The models that `--model` and `--judge` name.
fn named_models(model: Option<&ModelName>, judge: Option<&ModelName>) -> Vec<Layer> {
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

//! Opens a target.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_data::Collection;
use evals_settings::Resolved;
use evals_targets::process::WorkerCommand;
use evals_targets::{
    EmbeddingTarget, ExecTarget, Mapping, Outputs, OutputsTarget, SettingsProblem, Target,
    TargetAddress, TargetIdentity, TargetSettings,
};

use super::command_credential::credential_in;
use super::lancedb;
use super::layers::located;
use super::notice::notice;
use super::outputs;
use crate::models::{ConfiguredChat, prompted};
use crate::run_models::Opener;
use crate::run_models::embedder::{self, VectorCache};

/// The inputs of opening a target, besides its settings.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// Questions that are asked at the same time.
    pub(crate) concurrency: NonZeroUsize,
    /// The folder that relative paths in the settings start from.
    pub(crate) folder: PathBuf,
    /// How the vectors of questions are stored, for a target whose requests have them.
    pub(crate) vectors: VectorCache,
}

/// Opens the target of checked settings, and the embedding model if requests need the question's vector. Of targets, a chat
/// model's server is asked whether it has the model, and a database whether it knows what the statement names.
pub(crate) async fn open(
    settings: &TargetSettings,
    opening: &Opening,
    opener: &mut Opener<'_, '_>,
) -> Result<Arc<dyn Target>> {
    let Some(address) = &settings.address else {
        unreachable!("checked settings have an address");
    };
    let resolved = opener.resolved;
    let located = |problem| located(resolved, &problem);
    for withheld in &resolved.withheld {
        opener.session.printer.note(&withheld.to_string());
    }
    if let Some(notice) = notice(settings, address, resolved) {
        opener.session.printer.note(&notice);
    }
    let mut uses_vector = settings.uses_vector();
    let target: Arc<dyn Target> = match address {
        TargetAddress::Http(_) => opener.servers.service(settings, opening.concurrency)?,
        TargetAddress::Exec(line) => {
            Arc::new(command(settings, line, opening, opener).map_err(located)?)
        }
        TargetAddress::Chat { provider, name } => {
            let mut model = ConfiguredChat::under_test(&resolved.settings, provider, name);
            if let Some((connection, _)) = model.settings.kind.served_mut() {
                connection.timeout = settings.timeout.or(connection.timeout);
                connection.max_concurrency =
                    settings.max_concurrency.or(connection.max_concurrency);
            }
            prompted(opener.chat(&model).await?, settings, &opening.folder)?
        }
        TargetAddress::Postgres(_) => {
            let database = opener
                .servers
                .database(settings, opening.concurrency, &opening.folder);
            let database = database.await?;
            uses_vector = database.uses_vector();
            Arc::new(database)
        }
        TargetAddress::Outputs(file) => {
            let mapping = Mapping::new(&settings.response).map_err(located)?;
            let outputs = outputs::read(&opening.folder.join(file), &mapping)?;
            Arc::new(OutputsTarget::of("outputs", settings, outputs))
        }
        TargetAddress::Trec(file) => {
            let outputs = Outputs::read_trec(&opening.folder.join(file))?;
            Arc::new(OutputsTarget::of("trec", settings, outputs))
        }
        TargetAddress::LanceDb { database, table } => {
            let table = (database.as_str(), table.as_deref());
            // On the heap, as the engine's futures are large.
            return Box::pin(lancedb::open(settings, table, opening, opener)).await;
        }
    };
    if !uses_vector {
        return Ok(target);
    }
    let embedder = embedder::open(opener, opening.vectors).await?;
    Ok(Arc::new(EmbeddingTarget::new(target, embedder)))
}

/// The target that runs a command.
fn command(
    settings: &TargetSettings,
    line: &str,
    opening: &Opening,
    opener: &Opener<'_, '_>,
) -> Result<ExecTarget, SettingsProblem> {
    if let Some(name) = credential_in(line) {
        opener.session.printer.warn(&format!(
            "the command of the target contains `{name}`, and the run stores and shows the command; set it as an environment variable, which the \
             command inherits"
        ));
    }
    let command = WorkerCommand::new(&settings.command_line(line)?);
    let target = ExecTarget::of(command, settings, opening.concurrency)?;
    opener.interruption.track_commands(target.gate());
    Ok(target)
}

/// The file of `outputs:` that stands for the questions of the dataset, whose rows hold the answers.
const QUESTIONS: &str = "questions";

/// Whether the answers of a target are those that the dataset itself holds.
pub(crate) fn is_of_dataset(settings: &TargetSettings) -> bool {
    matches!(&settings.address, Some(TargetAddress::Outputs(file)) if file == QUESTIONS)
}

/// The answers in the file of the dataset's questions, as a target.
///
/// # Errors
///
/// The questions are in several files, or a row is no reply.
pub(crate) fn of_dataset(
    settings: &TargetSettings,
    resolved: &Resolved,
    collection: &Collection,
) -> Result<Arc<dyn Target>> {
    let file = collection.question_file().with_context(|| {
        format!(
            "`outputs:{QUESTIONS}` reads the answers in the file of the questions, but `{}` does not have its questions in one file on disk",
            collection.manifest().name
        )
    })?;
    let mapping = Mapping::new(&settings.response).map_err(|it| located(resolved, &it))?;
    let outputs = outputs::read(file, &mapping)?;
    let identity = TargetIdentity {
        version: settings.version.clone(),
        parameters: settings.parameters(),
        ..TargetIdentity::new("outputs", QUESTIONS)
    };
    Ok(Arc::new(OutputsTarget::new(identity, outputs)))
}

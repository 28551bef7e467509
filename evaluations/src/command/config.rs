//! `evaluations config`: prints the effective settings, or the JSON Schema of the settings file.

use anyhow::{Context as _, Result};

use crate::choices::Choices;
use crate::cli::{ConfigArgs, ConfigCommand, SettingsArgs};
use crate::exit::Exit;
use crate::session::Session;
use crate::settings::{self, Layer};
use crate::terminal::printable;

pub(super) fn execute(session: &Session<'_>, arguments: &ConfigArgs) -> Result<Exit> {
    match &arguments.command {
        ConfigCommand::Show { settings, dataset } => show(session, settings, dataset.as_deref()),
        ConfigCommand::Schema => schema(session),
    }
}

/// Prints the resolved settings as a settings file that resolves to the same settings.
fn show(session: &Session<'_>, arguments: &SettingsArgs, dataset: Option<&str>) -> Result<Exit> {
    let mut layers = Vec::new();
    if let Some(dataset) = dataset {
        let manifest = session.manifest(dataset)?;
        layers.push(Layer::dataset(&manifest)?);
    }
    layers.extend(session.user_layers(arguments, [])?);
    let resolved = settings::resolve(layers)?;
    Choices::of(&resolved)?;
    let mut text = String::from("# from: built-in defaults");
    for origin in resolved.origins() {
        text.push_str(", ");
        // A file name may contain line breaks, which would end the comment.
        text.push_str(&printable(&origin).replace('\n', "\\n"));
    }
    text.push('\n');
    text.push_str(
        &serde_saphyr::to_string(&resolved.settings)
            .context("cannot write the settings as YAML")?,
    );
    session.printer.result(&text)?;
    Ok(Exit::Done)
}

fn schema(session: &Session<'_>) -> Result<Exit> {
    let text = serde_json::to_string_pretty(&settings::json_schema())
        .context("cannot write the schema")?;
    session.printer.result(&(text + "\n"))?;
    Ok(Exit::Done)
}

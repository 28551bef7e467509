//! `evaluations config`: prints the effective settings or the prompts in use, or writes a JSON Schema of the settings file or of a dataset file.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_evaluators::{FileFormat, Registry, schema_beside};
use evals_messages::nearest;
use evals_pipeline::choices::Choices;
use evals_pipeline::exit::Exit;
use evals_pipeline::run_models::{FoundPrompt, Prompts};
use evals_pipeline::session::Session;
use evals_runs::atomic_file::write_atomically;
use evals_settings::redaction::printable;
use evals_terminal::listing;

use crate::cli::{ConfigArgs, ConfigCommand, SettingsArgs};
use crate::settings::{self, Layer};

pub(super) fn execute(session: &Session<'_>, arguments: &ConfigArgs) -> Result<Exit> {
    match &arguments.command {
        ConfigCommand::Show { settings, dataset } => show(session, settings, dataset.as_deref()),
        ConfigCommand::Prompts { name } => prompts(session, name.as_deref()),
        ConfigCommand::Schema { dataset: None } => schema(session),
        ConfigCommand::Schema {
            dataset: Some(file),
        } => schema_of_dataset(session, file),
    }
}

/// Prints the resolved settings as a settings file that resolves to the same settings.
fn show(session: &Session<'_>, arguments: &SettingsArgs, dataset: Option<&str>) -> Result<Exit> {
    let mut layers = Vec::new();
    if let Some(dataset) = dataset {
        let manifest = session.manifest(dataset)?;
        layers.push(Layer::dataset(&manifest.origin, &manifest.settings)?);
    }
    layers.extend(session.user_layers(arguments, [])?);
    let resolved = settings::resolve(layers)?;
    for withheld in &resolved.withheld {
        session.printer.note(&withheld.to_string());
    }
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

/// Lists the prompts, or prints the text of one.
fn prompts(session: &Session<'_>, name: Option<&str>) -> Result<Exit> {
    let layers = session.user_layers(&SettingsArgs::default(), [])?;
    let files = settings::resolve(layers)?.settings.prompts;
    let found = Prompts::replaceable(&session.directories, &files)?;
    let Some(name) = name else {
        let row = |found: &FoundPrompt| {
            let file = found.file.as_ref();
            let from = file.map_or_else(|| "bundled".to_owned(), |it| it.display().to_string());
            let digest = found.prompt.digest()[..12].to_owned();
            vec![found.prompt.name().to_owned(), digest, from]
        };
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        let titles = ["prompt", "digest", "from"];
        let listing = listing::render(session.printer, &titles, &rows);
        session.printer.result(&listing)?;
        return Ok(Exit::Done);
    };
    let wanted = |it: &&FoundPrompt| {
        let known = it.prompt.name();
        known == name || known.strip_suffix(".md.jinja") == Some(name)
    };
    let Some(found) = found.iter().find(wanted) else {
        let known: Vec<&str> = found.iter().map(|it| it.prompt.name()).collect();
        bail!(
            "no prompt is called `{name}`{}; there are `{}`",
            nearest::did_you_mean(nearest::of(name, known.iter().copied())),
            known.join("`, `")
        );
    };
    session.printer.result(found.prompt.text())?;
    Ok(Exit::Done)
}

fn schema(session: &Session<'_>) -> Result<Exit> {
    let text =
        serde_json::to_string_pretty(settings::json_schema()).context("cannot write the schema")?;
    session.printer.result(&(text + "\n"))?;
    Ok(Exit::Done)
}

/// Writes the schema of dataset files beside one of them, where pydantic-evals keeps it too.
fn schema_of_dataset(session: &Session<'_>, file: &Path) -> Result<Exit> {
    if !matches!(
        FileFormat::of(file),
        Some(FileFormat::Yaml | FileFormat::Json)
    ) {
        bail!(
            "the name of `{}` does not end like that of a dataset file in YAML or JSON, and editors use schemas for those only",
            file.display()
        );
    }
    let path = schema_beside(file);
    let schema = evals_evaluators::schema(&Registry::built_in());
    refuse_foreign(&path, &schema["title"])?;
    let text = serde_json::to_string_pretty(&schema).context("cannot write the schema")?;
    write_atomically(&path, |out| {
        out.write_all(
            (text
                + "
")
            .as_bytes(),
        )
    })?;
    session
        .printer
        .result(&format!("{}\n", printable(&path.display().to_string())))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    session.printer.note(&match FileFormat::of(file) {
        Some(FileFormat::Yaml) => format!(
            "editors use the schema if the first line of `{}` is `# yaml-language-server: $schema={name}`",
            file.display()
        ),
        _ => format!(
            "editors use the schema if `{}` has the key `\"$schema\": \"{name}\"`",
            file.display()
        ),
    });
    Ok(Exit::Done)
}

/// Refuses to replace a file that is no schema with our title, such as one that pydantic-evals wrote for custom evaluators.
fn refuse_foreign(path: &Path, title: &serde_json::Value) -> Result<()> {
    let Ok(present) = std::fs::read(path) else {
        // Nothing is there, or writing fails with a message that says why.
        return Ok(());
    };
    let present: Option<serde_json::Value> = serde_json::from_slice(&present).ok();
    if present.is_some_and(|present| present.get("title") == Some(title)) {
        return Ok(());
    }
    bail!(
        "`{}` is there already and `evaluations` did not write it; move it away or delete it first",
        path.display()
    )
}

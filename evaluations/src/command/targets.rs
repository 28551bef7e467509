//! `evaluations targets`: descriptions of search engines as targets, to start from.

use anyhow::{Result, bail};
use evals_messages::nearest;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_terminal::listing::Layout;

use crate::cli::{TargetsArgs, TargetsCommand};

/// Lists the files of `templates/targets/` without their extension.
macro_rules! engines {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/targets/", $name, ".yaml")))),+]
    };
}

/// Names and texts. The first line of a text says what the engine needs.
const ENGINES: &[(&str, &str)] = engines!(
    "chroma",
    "elasticsearch",
    "meilisearch",
    "milvus",
    "opensearch",
    "postgres",
    "qdrant",
    "solr",
    "typesense",
    "vespa",
    "weaviate",
);

pub(super) fn execute(session: &Session<'_>, arguments: &TargetsArgs) -> Result<Exit> {
    match &arguments.command {
        TargetsCommand::List => list(session)?,
        TargetsCommand::Show { name } => session.printer.result(text(name)?)?,
    }
    Ok(Exit::Done)
}

/// The text of an engine's description.
fn text(name: &str) -> Result<&'static str> {
    let found = ENGINES.iter().find(|(known, _)| *known == name);
    let Some((_, text)) = found else {
        let known = ENGINES.iter().map(|(known, _)| *known);
        let hint = nearest::did_you_mean(nearest::of(name, known));
        bail!("there is no description of `{name}`{hint}; `evaluations targets list` names all");
    };
    Ok(text)
}

fn list(session: &Session<'_>) -> Result<()> {
    let row = |(name, text): &(&str, &str)| {
        let about = text.lines().next().unwrap_or_default();
        vec![
            (*name).to_owned(),
            about.trim_start_matches("# ").to_owned(),
        ]
    };
    let rows: Vec<_> = ENGINES.iter().map(row).collect();
    let listing = Layout::of(session.printer).render(&["name", "searches"], &rows);
    Ok(session.printer.result(&listing)?)
}

//! `evaluations init`: writes a small evaluation that works into an empty folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::{InitArgs, StarterKind};

/// The name and the text of a file.
type File = (&'static str, &'static str);

/// Lists the files of one folder of `templates/`.
macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/", $folder, "/", $name)))),+]
    };
}

const RAG: &[File] = files!(
    "rag": "README.md", "dataset.yaml", "evaluations.yaml", "questions.csv", "docs/accounts.md", "docs/refunds.md",
    "docs/shipping.md"
);

const HTTP: &[File] = files!("http": "README.md", "cases.yaml", "service.py", "target.yaml");

const PROMPT: &[File] =
    files!("prompt": "README.md", "cases.yaml", "model.yaml", "prompt.txt", "replies.jsonl");

pub(super) fn execute(session: &Session<'_>, arguments: &InitArgs) -> Result<Exit> {
    let working = &session.directories.working;
    let folder = match &arguments.to {
        Some(folder) => working.join(folder),
        None => working.clone(),
    };
    check_empty(&folder)?;
    let files = match arguments.kind {
        StarterKind::Rag => RAG,
        StarterKind::Http => HTTP,
        StarterKind::Prompt => PROMPT,
    };
    for (name, text) in files {
        write(&folder.join(name), text)?;
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    session.printer.note(&format!(
        "wrote {} to {}",
        names.join(", "),
        folder.display()
    ));
    let start = arguments
        .to
        .as_ref()
        .map_or_else(PathBuf::new, PathBuf::clone);
    session.printer.note(&format!(
        "start with `{}`",
        start.join("README.md").display()
    ));
    Ok(Exit::Done)
}

/// Fails for a folder with anything in it, because files of the user must not be mixed up with ours.
fn check_empty(folder: &Path) -> Result<()> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", folder.display()));
        }
    };
    if entries.next().is_some() {
        bail!(
            "`{}` is not empty; name a new folder with `--to FOLDER`",
            folder.display()
        );
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let unwritable = || format!("cannot write `{}`", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(unwritable)?;
    }
    fs::write(path, text).with_context(unwritable)
}

//! `evaluations runs delete`: deletes stored runs after confirmation.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_messages::quantity;

use crate::annotations::LabelFile;
use crate::cli::DeleteRunsArgs;
use crate::exit::Exit;
use crate::run_folder::RunFolder;
use crate::session::Session;
use crate::stored_runs::{StoredRuns, is_latest};
use crate::terminal::printable;

pub(super) fn execute(session: &Session<'_>, arguments: &DeleteRunsArgs) -> Result<Exit> {
    let runs = StoredRuns::of(session);
    let mut folders: Vec<RunFolder> = Vec::new();
    for wanted in &arguments.runs {
        if is_latest(wanted) {
            bail!(
                "`runs delete` does not accept `latest`, because it may be another run by the time of deletion; name the run as `evaluations runs` lists it"
            );
        }
        if Path::new(wanted).components().count() > 1 {
            bail!(
                "`{}` is a path; `runs delete` takes the name of a run in `{}`, or the start of it",
                wanted.display(),
                session.directories.runs().display()
            );
        }
        let folder = runs.by_name(wanted)?;
        if folders.iter().all(|other| other.path() != folder.path()) {
            folders.push(folder);
        }
    }
    let Some(held) = confirm_and_hold(&folders, |question| {
        Ok(arguments.yes || is_confirmed(question)?)
    })?
    else {
        session.printer.note("nothing was deleted");
        return Ok(Exit::Done);
    };
    for folder in &folders {
        folder
            .delete()
            .with_context(|| format!("cannot delete run `{}`", folder.path().display()))?;
        session
            .printer
            .note(&format!("deleted `{}`", folder.path().display()));
    }
    drop(held);
    Ok(Exit::Done)
}

/// Asks for confirmation, then keeps other commands from working on the runs; `None` if the user declines.
///
/// The runs are not held while the user decides, so no command on another terminal has to wait for the answer.
fn confirm_and_hold(
    folders: &[RunFolder],
    is_confirmed: impl FnOnce(&str) -> Result<bool>,
) -> Result<Option<Vec<Option<File>>>> {
    // Do not ask about runs that cannot be deleted.
    drop(hold(folders)?);
    if is_confirmed(&question(folders))? {
        hold(folders).map(Some)
    } else {
        Ok(None)
    }
}

/// Keeps other commands from working on the runs for as long as the files are open.
fn hold(folders: &[RunFolder]) -> Result<Vec<Option<File>>> {
    let held = folders.iter().map(|folder| match folder.lock_exclusive() {
        Ok(held) => Ok(held),
        Err(_) => bail!(
            "run `{}` is still running; nothing was deleted",
            folder.name()
        ),
    });
    held.collect()
}

/// The confirmation prompt.
fn question(folders: &[RunFolder]) -> String {
    let mut question = String::new();
    for folder in folders {
        writeln!(
            question,
            "  {} ({}{})",
            folder.name(),
            folder.state(),
            labels(folder)
        )
        .expect("a string takes any text");
    }
    let count = quantity::of(folders.len(), "run");
    question + &format!("Delete {count}? [y/N] ")
}

/// How many labels of people go with the run: unlike everything else in its folder, no command brings them back.
fn labels(folder: &RunFolder) -> String {
    match LabelFile::of(folder).read() {
        Ok(stored) if stored.labels.is_empty() => String::new(),
        Ok(stored) => format!(", with {}", quantity::of(stored.labels.len(), "label")),
        Err(_) => ", with labels that cannot be read".to_owned(),
    }
}

/// Asks on the terminal.
fn is_confirmed(question: &str) -> Result<bool> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        bail!(
            "`runs delete` asks for confirmation, which needs a terminal; pass `--yes` to delete without confirmation"
        );
    }
    stderr
        .write_all(printable(question).as_bytes())
        .context("cannot ask on the terminal")?;
    let mut answer = String::new();
    stdin
        .lock()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_free_until_its_deletion_is_confirmed() {
        let runs = tempfile::tempdir().unwrap();
        let created = RunFolder::create(runs.path(), crate::clock::now(), "asked").unwrap();
        created.write_manifest(&serde_json::json!({})).unwrap();
        let folders = [RunFolder::open(created.path()).unwrap()];
        let running = |error: &anyhow::Error| error.to_string().contains("is still running");
        let asked = confirm_and_hold(&folders, |_| panic!("it is running"));
        assert!(running(&asked.unwrap_err()));

        drop(created);
        let alone = || folders[0].lock_exclusive();
        let held = confirm_and_hold(&folders, |question| {
            assert!(question.ends_with("Delete 1 run? [y/N] "), "{question}");
            Ok(alone().is_ok())
        });
        assert!(held.unwrap().is_some());
        let refused = confirm_and_hold(&folders, |_| Ok(false)).unwrap();
        assert!(refused.is_none() && alone().is_ok());

        std::fs::write(folders[0].path().join("annotations.jsonl"), "labels").unwrap();
        let shown = question(&folders);
        assert!(shown.contains("with labels that cannot be read"), "{shown}");

        let mut meanwhile = None;
        let taken = confirm_and_hold(&folders, |_| {
            meanwhile = alone().unwrap();
            Ok(true)
        });
        assert!(running(&taken.unwrap_err()));
    }
}

//! `evaluations runs delete`: deletes stored runs after confirmation.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::annotations::LabelFile;
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::is_latest;
use evals_settings::redaction::printable;

use crate::cli::DeleteRunsArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &DeleteRunsArgs) -> Result<Exit> {
    let runs = session.stored_runs();
    let mut folders: Vec<RunFolder> = Vec::new();
    for wanted in &arguments.runs {
        if is_latest(wanted) {
            bail!(
                "`runs delete` does not accept `latest`, because it may be a different run by the time of deletion; name the run as `evaluations runs` lists it"
            );
        }
        if Path::new(wanted).components().count() > 1 {
            bail!(
                "`{}` is a path; `runs delete` takes the name of a run in `{}`, or the start of it",
                wanted.display(),
                session.directories.runs().display()
            );
        }
        let folder = runs.by_name(wanted).context(
            "`runs delete` takes the name of a run's folder, or the start of it, and no `--name`",
        )?;
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
        let labels = Labels::of(folder);
        folder
            .delete()
            .with_context(|| format!("cannot delete run `{}`", folder.path().display()))?;
        let path = folder.path().display();
        session.printer.note(&format!("deleted `{path}`{labels}"));
    }
    drop(held);
    Ok(Exit::Done)
}

/// The labels that are deleted with a run: unlike everything else in its folder, no command brings them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    Count(usize),
    /// Somebody may have labelled, but the file cannot be read.
    Unreadable,
}

impl Labels {
    fn of(folder: &RunFolder) -> Self {
        if folder.is_link() {
            // Only the link is deleted.
            return Self::Count(0);
        }
        match LabelFile::of(folder).read() {
            Ok(stored) => Self::Count(stored.current()),
            Err(_) => Self::Unreadable,
        }
    }

    /// Whether more labels are lost than these.
    fn is_exceeded_by(self, now: Self) -> bool {
        match (self, now) {
            (Self::Count(before), Self::Count(now)) => now > before,
            (before, now) => before != now,
        }
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(0) => Ok(()),
            Self::Count(n) => write!(formatter, ", with {}", quantity::of(*n, "label")),
            Self::Unreadable => formatter.write_str(", with labels that cannot be read"),
        }
    }
}

/// Asks for confirmation, then keeps other commands from working on the runs; `None` if the user declines.
///
/// The runs are not held while the user decides, so no command on another terminal has to wait for the answer. If people add
/// labels meanwhile, the question is asked again.
fn confirm_and_hold(
    folders: &[RunFolder],
    mut is_confirmed: impl FnMut(&str) -> Result<bool>,
) -> Result<Option<Vec<Option<File>>>> {
    let count = || -> Vec<Labels> { folders.iter().map(Labels::of).collect() };
    // Do not ask about runs that cannot be deleted.
    drop(hold(folders)?);
    loop {
        let asked = count();
        if !is_confirmed(&question(folders, &asked))? {
            return Ok(None);
        }
        let held = hold(folders)?;
        let mut pairs = asked.iter().zip(count());
        if !pairs.any(|(asked, now)| asked.is_exceeded_by(now)) {
            return Ok(Some(held));
        }
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
fn question(folders: &[RunFolder], labels: &[Labels]) -> String {
    let mut question = String::new();
    for (folder, labels) in folders.iter().zip(labels) {
        let link = if folder.is_link() {
            ", a link: what it leads to stays"
        } else {
            ""
        };
        let (name, state) = (folder.name(), folder.state());
        writeln!(question, "  {name} ({state}{link}{labels})").expect("a string takes any text");
    }
    let count = quantity::of(folders.len(), "run");
    question + &format!("Delete {count}? [y/N] ")
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
    use evals_runs::annotations::Label;

    #[test]
    fn a_run_is_free_until_its_deletion_is_confirmed() {
        let runs = tempfile::tempdir().unwrap();
        let created = RunFolder::create(runs.path(), evals_runs::clock::now(), "asked").unwrap();
        std::fs::write(created.path().join("manifest.json"), "{}").unwrap();
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
        let shown = question(&folders, &[Labels::of(&folders[0])]);
        assert!(shown.contains("with labels that cannot be read"), "{shown}");

        let mut meanwhile = None;
        let taken = confirm_and_hold(&folders, |_| {
            meanwhile = alone().unwrap();
            Ok(true)
        });
        assert!(running(&taken.unwrap_err()));
    }

    #[test]
    fn labels_that_are_added_while_the_user_decides_are_asked_about() {
        let runs = tempfile::tempdir().unwrap();
        let created = RunFolder::create(runs.path(), evals_runs::clock::now(), "labelled").unwrap();
        std::fs::write(created.path().join("manifest.json"), "{}").unwrap();
        let folders = [RunFolder::open(created.path()).unwrap()];
        drop(created);
        let file = LabelFile::of(&folders[0]);
        let label = |case: &str, verdict: &str| -> Label {
            let label = serde_json::json!({
                "case": case, "repeat": 1, "verdict": verdict, "labeller": "ada", "time": "2026-05-01T12:00:00.000Z",
                "blind": true, "sampling": {"method": "chosen"}, "digests": {"case": "c", "answer": "a"},
            });
            serde_json::from_value(label).unwrap()
        };
        let mut asked = Vec::new();
        let held = confirm_and_hold(&folders, |question| {
            asked.push(question.to_owned());
            if asked.len() == 1 {
                let new = vec![
                    label("q1", "pass"),
                    label("q1", "fail"),
                    label("q2", "fail"),
                ];
                file.add(|_| Ok(new))?;
            }
            Ok(true)
        });
        assert!(held.unwrap().is_some());
        assert_eq!(asked.len(), 2);
        assert!(
            !asked[0].contains("label)") && !asked[0].contains("with"),
            "{}",
            asked[0]
        );
        assert!(
            asked[1].contains(", with 2 labels)"),
            "a changed label counts once: {}",
            asked[1]
        );
    }

    #[cfg(unix)]
    #[test]
    fn labels_behind_a_link_stay() {
        let (runs, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let created = RunFolder::create(elsewhere.path(), evals_runs::clock::now(), "far").unwrap();
        std::fs::write(created.path().join("manifest.json"), "{}").unwrap();
        std::fs::write(created.path().join("annotations.jsonl"), "labels").unwrap();
        let link = runs.path().join("link");
        std::os::unix::fs::symlink(created.path(), &link).unwrap();
        let folder = RunFolder::open(&link).unwrap();
        assert_eq!(Labels::of(&folder), Labels::Count(0));
        let shown = question(&[folder], &[Labels::Count(0)]);
        assert!(shown.contains("a link: what it leads to stays"), "{shown}");
    }
}

//! `--watch`: runs again whenever the dataset file or the command's folder changes.

mod files;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use evals::{Change, Titled};
use evals_metrics::PairedTest;
use evals_targets::TargetAddress;
use evals_terminal::console;
use tokio::time::sleep;

use self::files::{Snapshot, Watched};
use super::ReportError;
use super::finished::Finished;
use super::plan::Plan;
use super::run::{self, Start};
use crate::exit::Exit;
use crate::interruption::{Interrupted, Interruption, interruptible};
use crate::options::EvalArgs;
use crate::session::Session;
use crate::targets::Replies;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(400);

/// Most changed files that a note names.
const NAMED: usize = 3;

/// Runs until the user interrupts.
pub(super) fn execute(
    session: &Session<'_>,
    arguments: &EvalArgs,
    report: ReportError,
) -> Result<Exit> {
    interruptible(session.printer, async |interruption| {
        Watch::new(session, arguments, report)
            .until_interrupted(interruption)
            .await
    })
}

/// The runs so far.
struct Watch<'w> {
    session: &'w Session<'w>,
    arguments: &'w EvalArgs,
    report: ReportError,
    before: Option<Finished>,
    /// The replies of the run before, unless the system may have changed since.
    replies: Option<Replies>,
    watched: Watched,
    /// Files that changed while the run before this one was going on.
    changed_during_run: BTreeSet<PathBuf>,
    /// Whether the next run may continue an unfinished one of an earlier session. A run that fails before it asks anything leaves that
    /// as it is.
    may_resume: bool,
}

impl<'w> Watch<'w> {
    fn new(session: &'w Session<'w>, arguments: &'w EvalArgs, report: ReportError) -> Self {
        let mut watched = Watched::new(&arguments.file, &session.directories.working);
        watched.ignore(&session.directories.data);
        for file in &arguments.results.out {
            watched.ignore(file);
        }
        Self {
            session,
            arguments,
            report,
            before: None,
            replies: None,
            watched,
            changed_during_run: BTreeSet::new(),
            may_resume: !arguments.control.fresh,
        }
    }

    async fn until_interrupted(mut self, interruption: &Interruption) -> Result<Exit> {
        let printer = self.session.printer;
        // Every change is seen against the files that the last look showed, so none is lost in between.
        let mut seen = self.watched.snapshot();
        loop {
            match self.once(interruption).await {
                Err(error) if error.is::<Interrupted>() => return Err(error),
                // The next change may mend it.
                Err(error) => (self.report)(&error),
                Ok(()) => {}
            }
            if interruption.is_interrupted() {
                return Ok(Exit::Interrupted);
            }
            // The command's folder is known only once the file was read.
            printer.note_pages();
            seen = self.watched.extended(seen);
            let now = self.watched.snapshot();
            let mut changed = self.changed_during(now.changed_since(&seen));
            seen = self.watched.without_ignored(now);
            if changed.is_empty() {
                printer.note(&format!(
                    "waiting for changes of {}; Ctrl-C ends",
                    self.watched
                ));
                (changed, seen) = self.next_change(seen, interruption).await?;
            }
            let is_same_system = changed.iter().all(|path| self.watched.is_file(path));
            let asking = if is_same_system {
                ""
            } else {
                // A changed system has to be asked again.
                self.replies = None;
                self.may_resume = false;
                " and asking every case"
            };
            let changed = listed(&changed);
            printer.note(&format!("{changed} changed; running again{asking}"));
        }
    }

    /// One run, with what changed since the one before.
    async fn once(&mut self, interruption: &Interruption) -> Result<()> {
        let mut plan = Plan::new(self.session, self.arguments)?;
        if let Some(TargetAddress::Exec(_)) = plan.target.address {
            self.watched.add_folder(&self.session.directories.working);
        }
        let start = match &self.replies {
            Some(replies) => Start::Reuse(replies.clone()),
            None if self.may_resume => Start::Resume,
            None => Start::Fresh,
        };
        let run = run::run(self.session, self.arguments, &mut plan, start, interruption);
        let finished = Box::pin(run).await?;
        self.may_resume = false;
        self.replies = Some(finished.replies.clone());
        let printer = self.session.printer;
        printer.result(&finished.text(printer, &self.arguments.shown)?)?;
        finished
            .run
            .close(printer, &plan.out, interruption.is_interrupted())?;
        if let Some(before) = &self.before {
            self.print_change(before, &finished)?;
        }
        self.before = Some(finished);
        Ok(())
    }

    fn print_change(&self, before: &Finished, after: &Finished) -> Result<()> {
        let runs = [before, after].map(|finished| &finished.run);
        let titles = runs.map(|run| run.folder.name());
        let [first, second] = &titles;
        let sides = [(first, runs[0]), (second, runs[1])].map(|(title, run)| Titled {
            title,
            report: &run.report,
            summary: &run.summary,
        });
        let test = PairedTest {
            seed: self.arguments.control.seed,
            ..PairedTest::default()
        };
        let change = Change::between(&sides, test, |_| true);
        let mut page = b"\n".to_vec();
        console(self.session.printer).change(&mut page, &change)?;
        self.session
            .printer
            .result(&String::from_utf8_lossy(&page))?;
        Ok(())
    }

    /// The files that changed while a run was going on. One that changed during two runs in a row is taken for one that the command
    /// writes, because it would otherwise start runs without end.
    fn changed_during(&mut self, mut changed: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let again: Vec<PathBuf> = changed
            .intersection(&self.changed_during_run)
            .filter(|path| !self.watched.is_file(path))
            .cloned()
            .collect();
        for path in again {
            self.session.printer.note(&format!(
                "`{}` changes while the command runs, so it is no longer watched",
                path.display()
            ));
            self.watched.ignore(&path);
            changed.remove(&path);
        }
        self.changed_during_run.clone_from(&changed);
        changed
    }

    /// Waits for a change of the files that were `seen`, and until nothing changes any more: editors save in several steps. Returns
    /// what changed, and the files as they are now.
    async fn next_change(
        &self,
        seen: Snapshot,
        interruption: &Interruption,
    ) -> Result<(BTreeSet<PathBuf>, Snapshot)> {
        let mut last = seen.clone();
        loop {
            let pause = async {
                sleep(INTERVAL).await;
                Ok(())
            };
            interruption.guard(pause).await?;
            let now = self.watched.snapshot();
            let is_quiet = now == last;
            last = now;
            let changed = last.changed_since(&seen);
            if is_quiet && !changed.is_empty() {
                return Ok((changed, last));
            }
        }
    }
}

fn listed(changed: &BTreeSet<PathBuf>) -> String {
    let mut names: Vec<String> = changed
        .iter()
        .take(NAMED)
        .map(|path| format!("`{}`", shown(path)))
        .collect();
    if changed.len() > NAMED {
        names.push(format!("{} more", changed.len() - NAMED));
    }
    names.join(", ")
}

/// A path relative to the working folder, where it is inside.
fn shown(path: &Path) -> String {
    let working = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(working).unwrap_or(path);
    relative.display().to_string()
}

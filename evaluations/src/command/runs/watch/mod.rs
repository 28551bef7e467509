//! `evaluations runs show --watch`: follows a run that another process works on, until it ends.

mod text;

use std::ffi::OsStr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use evals_pipeline::run_progress::{Patience, ProgressReader};
use evals_pipeline::session::Session;
use evals_runs::stored_runs::{StoredRun, StoredRuns, is_latest};
use evals_terminal::live_console;

/// How often the folder of the run is read.
const INTERVAL: Duration = Duration::from_millis(500);

/// How often a line is printed where no page can be drawn.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// The run to watch: the named one, or the newest that is running.
pub(super) fn find(runs: &StoredRuns<'_>, wanted: Option<&OsStr>) -> Result<StoredRun> {
    let Some(wanted) = wanted.filter(|wanted| !is_latest(wanted)) else {
        return match runs.newest_running(|_| true)? {
            Some(run) => Ok(run),
            None => bail!("no run is running; `evaluations runs` lists all runs"),
        };
    };
    // The name of a command's runs means the running one, not a finished one of an earlier command.
    match runs.newest_running(|record| wanted == OsStr::new(&record.name))? {
        Some(run) => Ok(run),
        None => runs.named(wanted),
    }
}

/// Shows the progress of a run on stderr until no process works on it.
pub(super) fn follow(session: &Session<'_>, run: &StoredRun) -> Result<()> {
    // A report without its folder is from a run that ended.
    let Ok(folder) = run.folder("is not needed here") else {
        return Ok(());
    };
    let printer = session.printer;
    let mut reader = ProgressReader::new(folder.clone())?;
    let mut patience = Patience::default();
    let mut page = printer.live_page();
    let mut printed: Option<(String, Instant)> = None;
    loop {
        let Some(progress) = patience.with(reader.read(), Instant::now())? else {
            thread::sleep(INTERVAL);
            continue;
        };
        if !progress.is_running() {
            return Ok(());
        }
        if let Some(page) = &mut page {
            let console = live_console(printer, page.width());
            page.show(&text::page(console, run, &progress)?);
        } else {
            let line = text::line(run, &progress);
            let is_due = printed
                .as_ref()
                .is_none_or(|(last, when)| when.elapsed() >= LINE_INTERVAL && *last != line);
            if is_due {
                printer.note(&line);
                printed = Some((line, Instant::now()));
            }
        }
        thread::sleep(INTERVAL);
    }
}

//! `evaluations rejudge`: another judge on stored answers.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Session;
use super::run::{self, OutFile, RunHeader, Source};
use crate::cli::RejudgeArgs;
use crate::exit::Exit;
use crate::quantity;
use crate::run_folder::{RunFolder, RunState};

pub(super) fn execute(session: &Session<'_>, arguments: &RejudgeArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let folder = RunFolder::find(&session.directories.runs(), &arguments.run)?;
    let manifest: Value = folder.read_manifest()?;
    if manifest["benchmark"] != "qa" {
        bail!(
            "run `{}` holds rankings; only answers can be judged again{}",
            folder.name(),
            newest_with_answers(session)?
        );
    }
    if let RunState::Interrupted { not_run } = folder.state() {
        bail!(
            "run `{}` is not whole: not answered yet: {}; the command that made it goes on with it",
            folder.name(),
            quantity::of(not_run, "case")
        );
    }
    let (report, digest) = folder.read_report_with_digest()?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let source = Source {
        name: folder.name(),
        digest,
        manifest,
        report,
    };
    runtime.block_on(run::rejudge(session, arguments, &files, source))
}

/// Which run could have been meant, as the end of a message.
fn newest_with_answers(session: &Session<'_>) -> Result<String> {
    let mut folders = RunFolder::list(&session.directories.runs())?;
    folders.retain(|folder| {
        let header = folder.read_manifest::<RunHeader>();
        header.is_ok_and(|header| header.benchmark == "qa")
    });
    Ok(folders.last().map_or_else(String::new, |folder| {
        format!("; the newest run with answers is `{}`", folder.name())
    }))
}

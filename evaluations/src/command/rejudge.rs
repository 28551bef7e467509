//! `evaluations rejudge`: another judge on stored answers.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Session;
use super::run::{self, OutFile, Source};
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
            "run `{}` holds rankings; only answers can be judged again",
            folder.name()
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

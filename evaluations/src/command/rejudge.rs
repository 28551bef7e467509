//! `evaluations rejudge`: another judge on stored answers.

use anyhow::{Context as _, Result, bail};
use evals::Report;
use evals_rag::qa::Qa;
use serde_json::Value;

use super::Session;
use super::run::{self, OutFile};
use crate::cli::RejudgeArgs;
use crate::exit::Exit;
use crate::run_folder::{RunFolder, RunState};

pub(super) fn execute(session: &Session<'_>, arguments: &RejudgeArgs) -> Result<Exit> {
    let files: Vec<OutFile> = arguments
        .out
        .iter()
        .map(|path| OutFile::new(path))
        .collect::<Result<_>>()?;
    let folder = RunFolder::find(&session.directories.runs(), &arguments.run)?;
    let manifest: Value = folder.read_manifest()?;
    if manifest["benchmark"] != "qa" {
        bail!(
            "run `{}` holds rankings; only answers can be judged again",
            folder.name()
        );
    }
    if let RunState::Interrupted { not_run } = folder.state() {
        session.printer.warn(&format!(
            "run `{}` is not whole: {not_run} cases have no answer",
            folder.name()
        ));
    }
    let report: Report<Qa> = folder.read_report()?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    runtime.block_on(run::rejudge(
        session,
        arguments,
        &files,
        &folder.name(),
        manifest,
        report,
    ))
}

//! The stored runs of a variant.

use anyhow::Result;
use evals_pipeline::session::Session;
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::is_finished;

use crate::command::compare::variants::VariantRun;
use crate::redaction;

/// A stored run of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) run: VariantRun,
    profile: String,
}

/// The finished runs of this command with that name: the newest one of each benchmark and search profile, oldest first.
pub(super) fn made_by(session: &Session<'_>, title: &str) -> Result<Vec<Made>> {
    let command_line = redaction::command_line();
    let mut made: Vec<Made> = Vec::new();
    let mut folders = RunFolder::list(&session.directories.runs())?;
    folders.reverse();
    for folder in folders {
        let Ok(record) = folder.read_record() else {
            continue;
        };
        let is_known =
            |it: &Made| (it.run.benchmark, &it.profile) == (record.benchmark, &record.profile);
        if record.name != title
            || record.command_line != command_line
            || made.iter().any(is_known)
            || !is_finished(folder.state())
        {
            continue;
        }
        made.push(Made {
            run: VariantRun {
                benchmark: record.benchmark,
                folder: folder.name(),
            },
            profile: record.profile,
        });
    }
    made.reverse();
    Ok(made)
}

//! Records the replies of a target in the data folder, where a later session finds them.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::JournalError;
use evals_messages::quantity;
use evals_targets::{RecordedTarget, ReplyFile, Resumption, Target};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::clock;
use crate::run_folder::StartLock;
use crate::session::Session;

/// The run that replies belong to, and whether those of an earlier session are used.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// The identities of the run's manifests, one for each experiment that reads the replies.
    pub(crate) run: Value,
    pub(crate) resumption: Resumption,
}

impl Recording {
    fn identity(&self, target: &dyn Target) -> Value {
        json!({"target": target.identity(), "run": self.run})
    }
}

/// How many replies [`record`] would resume. Nothing is created.
pub(crate) fn recorded(
    session: &Session<'_>,
    target: &dyn Target,
    recording: &Recording,
) -> Result<usize> {
    if recording.resumption == Resumption::Fresh {
        return Ok(0);
    }
    let folder = folder(session, &recording.identity(target));
    ReplyFile::resumable(&folder).context("cannot read the target's recorded replies")
}

/// The folder of all runs with this identity.
fn folder(session: &Session<'_>, identity: &Value) -> PathBuf {
    let digest = hex::encode(&Sha256::digest(identity.to_string())[..8]);
    session.directories.target_replies().join(digest)
}

/// Puts a recording in front of `target`, and notes what it resumes.
///
/// Fails if another process is at work on the same run.
pub(crate) async fn record(
    session: &Session<'_>,
    target: Arc<dyn Target>,
    recording: &Recording,
) -> Result<RecordedTarget> {
    let identity = recording.identity(&*target);
    let folder = folder(session, &identity);
    let printer = session.printer;
    // Of two equal commands that start at the same moment, one has to find the file of the other.
    let turn = StartLock::take(&session.directories.data, printer).await?;
    let name = clock::now().format("%Y%m%dT%H%M%S%.3fZ").to_string();
    let file = match ReplyFile::open(&folder, &name, &identity, recording.resumption) {
        Err(JournalError::Locked { .. }) => bail!(
            "another process is already working on this run; wait for it to finish, or start a new run with `--fresh`"
        ),
        opened => opened.context("cannot record the target's replies")?,
    };
    drop(turn);
    if file.recorded() > 0 {
        printer.note(&format!(
            "resuming: {} recorded in {}; `--fresh` asks again",
            quantity::of(file.recorded(), "reply"),
            file.path().display()
        ));
    }
    if file.damaged_lines() > 0 {
        printer.warn(&format!(
            "skipped {} in {}; what they held is asked again",
            quantity::of(file.damaged_lines(), "damaged line"),
            file.path().display()
        ));
    }
    Ok(RecordedTarget::new(target, file))
}

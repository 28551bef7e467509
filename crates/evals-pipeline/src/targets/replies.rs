//! Records the replies of a target in the data folder, where a later session finds them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::JournalError;
use evals_messages::quantity;
use evals_runs::clock;
use evals_runs::run_folder::StartLock;
use evals_targets::{RecordedTarget, ReplyFile, Resumption, Target, TargetIdentity};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::session::Session;

/// The run that replies belong to, and whether those of an earlier session are used.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// The identities of the run's manifests, one for each experiment that reads the replies.
    pub(crate) run: Value,
    pub(crate) resumption: Resumption,
    /// Replies of another run to use, too.
    pub(crate) reused: Option<Reused>,
}

/// Where the replies of a run are, for another run of the same target.
#[derive(Debug, Clone)]
pub(crate) struct Replies {
    path: PathBuf,
    target: TargetIdentity,
}

/// Replies of another run, which count for cases with the same inputs.
#[derive(Debug, Clone)]
pub(crate) struct Reused {
    pub(crate) replies: Replies,
    /// The inputs of each case by its id.
    pub(crate) asked: BTreeMap<String, Value>,
    pub(crate) repeat: u32,
}

impl Replies {
    /// The replies that a target records.
    pub(crate) fn of(recorded: &RecordedTarget) -> Self {
        Self {
            path: recorded.path().to_owned(),
            target: recorded.identity().clone(),
        }
    }
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
    ReplyFile::resumable(&folder, recording.resumption)
        .context("cannot read the target's recorded replies")
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
    let mut file = match ReplyFile::open(&folder, &name, &identity, recording.resumption) {
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
            "skipped {} in {}; the target is asked again for these replies",
            quantity::of(file.damaged_lines(), "damaged line"),
            file.path().display()
        ));
    }
    if let Some(reused) = &recording.reused {
        reuse(session, &*target, &mut file, reused)?;
    }
    Ok(RecordedTarget::new(target, file))
}

/// Copies the replies that fit, and notes how many.
fn reuse(
    session: &Session<'_>,
    target: &dyn Target,
    file: &mut ReplyFile,
    reused: &Reused,
) -> Result<()> {
    let Reused {
        replies,
        asked,
        repeat,
    } = reused;
    let all = asked.len().saturating_mul(*repeat as usize);
    if replies.target != *target.identity() {
        let all = quantity::of(all, "request");
        let note = format!("asking every case again, because the target changed: {all}");
        session.printer.note(&note);
        return Ok(());
    }
    let fits = |id: &str, repetition: u32, inputs: &Value| {
        repetition <= *repeat && asked.get(id) == Some(inputs)
    };
    let count = file.reuse(&replies.path, fits);
    let count = count.context("cannot reuse the replies of the run before")?;
    session.printer.note(&format!(
        "reusing {count} of {} of the run before, whose cases have the same inputs; asking {}",
        quantity::of(all, "reply"),
        quantity::of(all.saturating_sub(count), "request"),
    ));
    Ok(())
}

//! Records the replies of a target in the data folder, where a later session finds them.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_messages::quantity;
use evals_targets::{RecordedTarget, ReplyFile, Resumption, Target};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::clock;
use crate::session::Session;

/// What replies depend on besides the target, and whether earlier ones are used.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// A JSON object of everything else that is part of the questions: the dataset's fingerprint, k, seed, repeat.
    pub(crate) questions: Value,
    pub(crate) resumption: Resumption,
}

impl Recording {
    fn identity(&self, target: &dyn Target) -> Value {
        json!({"target": target.identity(), "questions": self.questions})
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

/// The folder of the replies to one set of questions.
fn folder(session: &Session<'_>, identity: &Value) -> PathBuf {
    let digest = hex::encode(&Sha256::digest(identity.to_string())[..8]);
    session.directories.target_replies().join(digest)
}

/// Puts a recording in front of `target`, and notes what it resumes.
pub(crate) fn record(
    session: &Session<'_>,
    target: Arc<dyn Target>,
    recording: &Recording,
) -> Result<RecordedTarget> {
    let identity = recording.identity(&*target);
    let folder = folder(session, &identity);
    let name = clock::now().format("%Y%m%dT%H%M%S%.3fZ").to_string();
    let file = ReplyFile::open(&folder, &name, &identity, recording.resumption)
        .context("cannot record the target's replies")?;
    let printer = session.printer;
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

//! Files of recorded replies: their lines, and how they are read and extended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use evals::{JournalError, RecordFile};
use evals_models::{ModelIdentity, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Inputs, Reply, Request};

/// Whether replies of an earlier session are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// The newest file is resumed unless it is finished.
    Resume,
    /// The newest file is resumed even if it is finished: only requests without a reply are sent.
    Reopen,
    /// A new file is created.
    Fresh,
}

/// The replies of one run and what it paid, in a file of lines that check themselves.
///
/// All runs with one identity, such as those of the same command, share a folder, and each has a file of its own in it. The newest
/// file is resumed until [`RecordedTarget::finish`](crate::RecordedTarget::finish) marks it as finished; the run afterwards starts a
/// new one, because the system may have changed.
///
/// The operating system has a reply before it counts as recorded, so a killed process loses none.
#[derive(Debug)]
pub struct ReplyFile {
    file: RecordFile,
    held: Held,
    is_resumed: bool,
}

/// What a file held when it was opened.
#[derive(Debug, Default)]
struct Held {
    recorded: BTreeMap<ReplyKey, RecordedReply>,
    payments: Vec<Payment>,
    unstored: BTreeSet<String>,
    is_finished: bool,
}

impl Held {
    fn add(&mut self, line: Line) {
        match line {
            Line::Reply(line) => {
                let (key, reply) = line.into_recorded();
                self.recorded.insert(key, reply);
            }
            Line::Paid { paid, batched } => {
                self.payments.push(paid);
                self.unstored.extend(batched);
            }
            Line::Stored { stored } => {
                self.unstored.remove(&stored);
            }
            Line::Finished { finished } => self.is_finished = finished,
        }
    }
}

impl ReplyFile {
    /// Opens the file to resume in `folder`, or creates `<name>.jsonl` there.
    ///
    /// `name` sorts by time, such as `20260501T120000.000Z`; the file whose name comes last is the newest. `identity` is a JSON
    /// object of everything that makes two runs the same: the target, the questions, and what is done with the replies. All files of
    /// a folder have the same.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be read or written, another process has the file to resume open, or the file has another
    /// identity.
    pub fn open(
        folder: &Path,
        name: &str,
        identity: &Value,
        resumption: Resumption,
    ) -> Result<Self, JournalError> {
        let failed = |action| {
            move |source| JournalError::Io {
                action,
                path: folder.to_owned(),
                source,
            }
        };
        fs::create_dir_all(folder).map_err(failed("create the folder of"))?;
        if resumption != Resumption::Fresh
            && let Some(newest) = newest(folder).map_err(failed("list the folder of"))?
        {
            let file = Self::read(newest, identity)?;
            let is_finished = file.held.is_finished;
            let is_reopened = is_finished && resumption == Resumption::Reopen;
            if is_reopened {
                // If this process is killed, the same command resumes the file.
                file.file.append(&Line::Finished { finished: false })?;
            }
            if !is_finished || is_reopened {
                return Ok(Self {
                    is_resumed: true,
                    ..file
                });
            }
        }
        Self::create(folder, name, identity)
    }

    /// Creates a file. If another process takes the name at the same moment, the file gets a number.
    fn create(folder: &Path, name: &str, identity: &Value) -> Result<Self, JournalError> {
        let mut number = 1_u32;
        loop {
            let path = folder.join(match number {
                1 => format!("{name}.jsonl"),
                number => format!("{name}-{number:03}.jsonl"),
            });
            number += 1;
            if path.exists() {
                continue;
            }
            match Self::read(path, identity) {
                Err(JournalError::Locked { .. }) => {}
                opened => return opened,
            }
        }
    }

    /// How many replies [`open`](Self::open) would resume in `folder`. It creates and locks nothing.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be read.
    pub fn resumable(folder: &Path, resumption: Resumption) -> Result<usize, JournalError> {
        let newest = match newest(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            newest => newest.map_err(|source| JournalError::Io {
                action: "list the folder of",
                path: folder.to_owned(),
                source,
            })?,
        };
        let Some(newest) = newest else { return Ok(0) };
        let mut held = Held::default();
        RecordFile::read(&newest, |line| held.add(line))?;
        Ok(match resumption {
            Resumption::Reopen => held.recorded.len(),
            Resumption::Resume if !held.is_finished => held.recorded.len(),
            Resumption::Resume | Resumption::Fresh => 0,
        })
    }

    fn read(path: PathBuf, identity: &Value) -> Result<Self, JournalError> {
        let mut held = Held::default();
        Ok(Self {
            file: RecordFile::open(path, identity, |line| held.add(line))?,
            held,
            is_resumed: false,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// How many replies the file held when it was opened.
    pub fn recorded(&self) -> usize {
        self.held.recorded.len()
    }

    /// How many lines failed their check when the file was opened. What they held is asked again.
    pub fn damaged_lines(&self) -> usize {
        self.file.damaged_lines()
    }

    /// Copies the replies that fit from the file of another run, which asked the same target, and returns their number. This run paid
    /// nothing for them. `fits` gets the id, the repetition and the inputs of a case.
    ///
    /// # Errors
    ///
    /// The other file cannot be read, or this one cannot be written.
    pub fn reuse(
        &mut self,
        other: &Path,
        fits: impl Fn(&str, u32, &Value) -> bool,
    ) -> Result<usize, JournalError> {
        let mut copied = BTreeMap::new();
        RecordFile::read(other, |line| {
            if let Line::Reply(line) = line
                && fits(&line.id, line.repeat, &line.inputs)
            {
                let (key, reply) = line.into_recorded();
                copied.insert(key, reply);
            }
        })?;
        copied.retain(|key, _| !self.held.recorded.contains_key(key));
        for (key, reply) in &copied {
            self.append(key, reply)?;
        }
        let count = copied.len();
        self.held.recorded.append(&mut copied);
        Ok(count)
    }

    /// Whether an earlier session of the run wrote the file, too.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// What earlier sessions paid, in the order of the payments.
    pub fn payments(&self) -> &[Payment] {
        &self.held.payments
    }

    /// The keys of requests whose replies came in batches and were paid for, but not noted as [stored](Self::stored) before the earlier
    /// sessions ended. A session that reads such a reply again pays nothing for it.
    pub fn unstored(&self) -> &BTreeSet<String> {
        &self.held.unstored
    }

    /// Records a payment of this process, with the request's key if the reply came in a batch.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn pay(&self, payment: &Payment, batched: Option<&str>) -> Result<(), JournalError> {
        self.file.append(&Line::Paid {
            paid: payment.clone(),
            batched: batched.map(str::to_owned),
        })
    }

    /// Records that the reply to the request with this key, which came in a batch, is stored.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn stored(&self, key: &str) -> Result<(), JournalError> {
        self.file.append(&Line::Stored {
            stored: key.to_owned(),
        })
    }

    /// Takes the replies that the file held when it was opened.
    pub(super) fn take(&mut self) -> BTreeMap<ReplyKey, RecordedReply> {
        std::mem::take(&mut self.held.recorded)
    }

    /// Adds a reply.
    pub(super) fn append(
        &self,
        key: &ReplyKey,
        recorded: &RecordedReply,
    ) -> Result<(), JournalError> {
        let line = ReplyLine::of(key, recorded);
        self.file.append(&Line::Reply(Box::new(line)))
    }

    /// Marks the file as finished and syncs it to the disk.
    pub(super) fn finish(&self) -> Result<(), JournalError> {
        self.file.append(&Line::Finished { finished: true })?;
        self.file.sync()
    }
}

/// The file whose name, without its extension, comes last.
fn newest(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_ours = path.extension().is_some_and(|it| it == "jsonl");
        if let Some(name) = path.file_stem().filter(|_| is_ours) {
            newest = newest.max(Some((name.to_owned(), path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// One repetition of one case.
pub(super) type ReplyKey = (String, u32);

/// A reply and what was asked.
#[derive(Clone, Debug)]
pub(super) struct RecordedReply {
    inputs: Value,
    /// The digest of the conversation before the question; `None` if it is alone.
    history: Option<String>,
    pub(super) reply: Reply,
}

impl RecordedReply {
    pub(super) fn new(request: &Request, reply: Reply) -> Self {
        Self {
            inputs: inputs(request),
            history: history(request),
            reply,
        }
    }

    /// Whether this is the reply to the question of this request, whatever was said before it.
    pub(super) fn is_to_question(&self, request: &Request) -> bool {
        self.inputs == inputs(request)
    }

    /// Whether this is the reply to this request. Files of earlier versions do not say what was said before it.
    pub(super) fn is_to(&self, request: &Request) -> bool {
        let is_same = |_: &String| self.history == history(request);
        self.is_to_question(request) && self.history.as_ref().is_none_or(is_same)
    }
}

/// What a request asks, as the file holds it.
fn inputs(request: &Request) -> Value {
    match &request.inputs {
        Inputs::Question(question) => Value::from(question.as_str()),
        Inputs::Value(inputs) => inputs.clone(),
    }
}

/// The digest of what was said before a question, as the file holds it.
fn history(request: &Request) -> Option<String> {
    let conversation = request.conversation.as_ref()?;
    let said = json!(conversation.history).to_string();
    Some(hex::encode(&Sha256::digest(said)[..16]))
}

/// A reply as a later session reads it from its line.
#[cfg(test)]
pub(crate) fn read_back(reply: &Reply) -> Reply {
    let recorded = RecordedReply::new(&Request::question("case", "?"), reply.clone());
    let line = ReplyLine::of(&("case".to_owned(), 1), &recorded);
    let line = serde_json::to_string(&Line::Reply(Box::new(line))).unwrap();
    match serde_json::from_str(&line) {
        Ok(Line::Reply(line)) => line.into_recorded().1.reply,
        other => panic!("{other:?} of {line}"),
    }
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Reply(Box<ReplyLine>),
    /// What the run paid at one time.
    Paid {
        paid: Payment,
        /// The request's key, if the reply came in a batch: a later session may read the reply again without paying for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batched: Option<String>,
    },
    /// The reply to the request with this key is stored, so no later session reads it again from its batch.
    Stored {
        stored: String,
    },
    /// No later session needs the file.
    Finished {
        finished: bool,
    },
}

/// A recorded reply.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReplyLine {
    pub(super) id: String,
    pub(super) repeat: u32,
    pub(super) inputs: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<String>,
    reply: Reply,
    /// The reply's metrics that are not finite numbers, as text, because JSON has no such numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    not_finite: BTreeMap<String, String>,
}

impl ReplyLine {
    pub(super) fn of((id, repeat): &ReplyKey, recorded: &RecordedReply) -> Self {
        let mut reply = recorded.reply.clone();
        let mut not_finite = BTreeMap::new();
        reply.metrics.retain(|name, value| {
            if !value.is_finite() {
                not_finite.insert(name.clone(), value.to_string());
            }
            value.is_finite()
        });
        Self {
            id: id.clone(),
            repeat: *repeat,
            inputs: recorded.inputs.clone(),
            history: recorded.history.clone(),
            reply,
            not_finite,
        }
    }

    pub(super) fn into_recorded(self) -> (ReplyKey, RecordedReply) {
        let mut reply = self.reply;
        let not_finite = self.not_finite.into_iter();
        reply.metrics.extend(
            not_finite.filter_map(|(name, value)| Some((name, value.parse::<f64>().ok()?))),
        );
        let recorded = RecordedReply {
            inputs: self.inputs,
            history: self.history,
            reply,
        };
        ((self.id, self.repeat), recorded)
    }
}

/// Tokens that a run paid for: those of a call of a model, or those that a target reports.
///
/// It holds no amount, so that a session can count with prices that an earlier one did not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The model, as prices name it.
    pub model: ModelIdentity,
    /// Its tokens.
    pub usage: Usage,
}

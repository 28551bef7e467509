//! A target in front of another one that records every reply.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use evals::{FailureClass, JournalError};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use super::file::{RecordedReply, ReplyFile, ReplyKey};
use crate::{Conversation, Reply, Request, Target, TargetError, TargetIdentity};

/// Asks a target once for each repetition of a case, whoever asks and however often the process is started again.
///
/// Every reply is recorded before anybody uses it. Several experiments read the same replies, each with a
/// [`reader`](Self::reader) of its own; at any time only one of them waits for the target. The timings of a reply that was not
/// asked for just now are marked as cached.
///
/// A reply counts for a request with the same inputs and the same history. One with another history is asked again, except in a session:
/// the target remembers what it was asked there, so the request fails.
///
/// A failure is not recorded, so a later session asks again. Each reader gets it once: the target is asked again only by a
/// reader that asks a second time, as a retry does. A reader that stops waiting for the target, such as at the end of the time of
/// its case, leaves a failure for the others: they would wait as long again.
///
/// The replies of all cases are in memory. A file of replies holds them itself, so they are read from it each time, and not recorded.
#[derive(Debug)]
pub struct RecordedTarget {
    shared: Arc<TargetRecording>,
    /// The number of this reader.
    reader: usize,
}

#[derive(Debug)]
struct TargetRecording {
    target: Arc<dyn Target>,
    file: Arc<ReplyFile>,
    /// Replies that the file held when it was opened.
    resumed: usize,
    slots: Mutex<BTreeMap<ReplyKey, Arc<AsyncMutex<Slot>>>>,
    readers: AtomicUsize,
    asked: AtomicU64,
}

/// The recorded replies to one repetition of a case.
#[derive(Debug, Default)]
struct Slot {
    reply: Option<RecordedReply>,
    failure: Option<ShownFailure>,
}

/// A failure, and who has seen it.
#[derive(Debug)]
struct ShownFailure {
    error: Arc<TargetError>,
    to: BTreeSet<usize>,
}

impl RecordedTarget {
    /// Records the replies of `target` in `file`, and gives those that the file holds.
    pub fn new(target: Arc<dyn Target>, mut file: ReplyFile) -> Self {
        let recorded = file.take();
        let resumed = recorded.len();
        let slots = recorded.into_iter().map(|(key, reply)| {
            let slot = Slot {
                reply: Some(reply),
                failure: None,
            };
            (key, Arc::new(AsyncMutex::new(slot)))
        });
        let shared = TargetRecording {
            target,
            file: Arc::new(file),
            resumed,
            slots: Mutex::new(slots.collect()),
            readers: AtomicUsize::new(1),
            asked: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
            reader: 0,
        }
    }

    /// The same replies for another experiment.
    #[must_use]
    pub fn reader(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            reader: self.shared.readers.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The file of the replies, which also records what the run pays.
    pub fn file(&self) -> &Arc<ReplyFile> {
        &self.shared.file
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.shared.file.path()
    }

    /// How many replies came from earlier sessions.
    pub fn resumed(&self) -> usize {
        self.shared.resumed
    }

    /// Whether a reply to the question of this request is recorded, after whatever history. `false` while somebody waits for it.
    pub fn holds(&self, request: &Request) -> bool {
        if self.identity().is_file() {
            return true;
        }
        let slot = self.shared.slot(&(request.id.clone(), request.repeat));
        let held = slot.try_lock();
        let is_held = |reply: &RecordedReply| reply.is_to_question(request);
        held.is_ok_and(|slot| slot.reply.as_ref().is_some_and(is_held))
    }

    /// How often this process asked the target, for a reply or a failure.
    pub fn asked(&self) -> u64 {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// Marks the replies as finished: the next session starts a new file and asks again. Called when nothing is left to do with
    /// them.
    pub fn finish(&self) -> Result<(), JournalError> {
        self.shared.file.finish()
    }
}

impl TargetRecording {
    fn slot(&self, key: &ReplyKey) -> Arc<AsyncMutex<Slot>> {
        // Nothing panics while the lock is held.
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.get(key) {
            Some(slot) => Arc::clone(slot),
            None => Arc::clone(slots.entry(key.clone()).or_default()),
        }
    }

    /// Asks the target and records its reply.
    async fn ask(&self, key: &ReplyKey, request: &Request) -> Result<RecordedReply, TargetError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let mut reply = self.target.ask(request).await?;
        let mut timings = reply.timings.iter();
        let is_timed = timings.any(|timing| timing.stage == Reply::STAGE);
        if !is_timed {
            let timing = Reply::timing(Reply::STAGE, started.elapsed());
            reply.timings.insert(0, timing);
        }
        let recorded = RecordedReply::new(request, reply);
        let written = self.file.append(key, &recorded);
        written.map_err(|error| TargetError::new(FailureClass::Terminal, error))?;
        Ok(recorded)
    }
}

#[async_trait]
impl Target for RecordedTarget {
    fn identity(&self) -> &TargetIdentity {
        self.shared.target.identity()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        if self.identity().is_file() {
            self.shared.asked.fetch_add(1, Ordering::Relaxed);
            return self.shared.target.ask(request).await;
        }
        let key = (request.id.clone(), request.repeat);
        let slot = self.shared.slot(&key);
        // The others wait here while one of them asks.
        let mut slot = slot.lock().await;
        if let Some(recorded) = &slot.reply {
            if recorded.is_to(request) {
                let mut reply = recorded.reply.clone();
                for timing in &mut reply.timings {
                    timing.cached = true;
                }
                return Ok(reply);
            }
            // Another reply, to be replaced, unless the target remembers that it gave it.
            if let Some(Conversation { id, .. }) = session(request) {
                let error = OtherMessage(id.clone());
                return Err(TargetError::new(FailureClass::Content, error));
            }
        }
        if let Some(shown) = &mut slot.failure
            && shown.to.insert(self.reader)
        {
            return Err(shared(&shown.error));
        }
        let mut asking = Asking {
            slot,
            reader: self.reader,
            has_ended: false,
        };
        let asked = self.shared.ask(&key, request).await;
        asking.end(asked)
    }

    fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
        self.shared.target.warnings(cases)
    }

    async fn close(&self) {
        self.shared.target.close().await;
    }
}

/// A request in flight, and the slot that waits for its reply.
struct Asking<'s> {
    slot: MutexGuard<'s, Slot>,
    reader: usize,
    has_ended: bool,
}

impl Asking<'_> {
    fn end(&mut self, asked: Result<RecordedReply, TargetError>) -> Result<Reply, TargetError> {
        self.has_ended = true;
        match asked {
            Ok(recorded) => {
                let reply = recorded.reply.clone();
                *self.slot = Slot {
                    reply: Some(recorded),
                    failure: None,
                };
                Ok(reply)
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Leaves the failure to the other readers.
    fn fail(&mut self, error: TargetError) -> TargetError {
        let error = Arc::new(error);
        self.slot.failure = Some(ShownFailure {
            error: Arc::clone(&error),
            to: BTreeSet::from([self.reader]),
        });
        shared(&error)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            // An interrupted run drops its requests, too, but then starts no other experiment that could read the failure.
            self.fail(TargetError::new(FailureClass::Transient, Abandoned));
        }
    }
}

/// The failure for other readers of a question whose first reader stopped waiting.
#[derive(Debug, thiserror::Error)]
#[error(
    "another benchmark of this run asked the target, and stopped waiting for the reply; its report says why"
)]
struct Abandoned;

/// The failure of a turn whose place in its session is taken.
#[derive(Debug, thiserror::Error)]
#[error(
    "the session `{0}` was sent another message here before, which the target remembers; `--fresh` asks the whole conversation again"
)]
struct OtherMessage(String);

/// The conversation of a request that the target remembers.
fn session(request: &Request) -> Option<&Conversation> {
    request.conversation.as_ref().filter(|it| it.is_session)
}

/// The failure for one more reader.
fn shared(error: &Arc<TargetError>) -> TargetError {
    TargetError::new(error.class(), SharedError(Arc::clone(error)))
}

/// A failure that several readers get.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct SharedError(Arc<TargetError>);

//! How the clerk submits what it has gathered, and follows the batches under way.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use evals_models::{ChatModel as _, Failure};
use tokio::time::Instant;

use super::draft::Draft;
use super::{Clerk, Done, Source};
use crate::openai::batch::error::BatchError;
use crate::openai::batch::event::BatchEvent;
use crate::openai::batch::host::BatchSize;
use crate::openai::batch::record::Record;
use crate::openai::batch::submission::{Collected, unrecorded};
use crate::openai::batch::waiting::{Cause, Waiting};
use crate::traffic::Refused;

impl Clerk {
    /// Submits what was gathered, unless it leaves room in a batch and something is under way that may lead to more.
    pub(super) async fn consider(&mut self) {
        let own = self.desk.endpoint.calls();
        if !self.is_full() && self.desk.host.under_way() > own {
            self.arrived = Instant::now();
        } else {
            self.submit().await;
        }
    }

    /// Submits what was gathered, as far as it fits into one batch. The first request of a model is sent directly before.
    async fn submit(&mut self) {
        let abandoned = |id: &String| {
            let waiting = self.waiting.get(id);
            waiting.is_none_or(Waiting::is_abandoned)
        };
        let (gone, gathered): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut self.gathered)
            .into_iter()
            .partition(abandoned);
        self.gathered = gathered;
        for id in gone {
            self.waiting.remove(&id);
        }
        if self.gathered.is_empty() {
            return;
        }
        if self.is_tried {
            self.submit_batch().await;
            return;
        }
        if let Err(cause) = self.look_before_first().await {
            let ids = std::mem::take(&mut self.gathered);
            self.end(ids, &cause);
        }
        if let Some(id) = self.gathered.pop_first() {
            self.try_first(id);
        }
    }

    /// Removes the gathered requests that another process has put into a batch meanwhile, and those whose replies are stored by now.
    async fn look_before_first(&mut self) -> Result<(), Cause> {
        self.archive.scan().map_err(unrecorded)?;
        let ids = std::mem::take(&mut self.gathered);
        self.look_elsewhere(ids);
        let gathered = self.gathered.clone();
        let stored = self.deliver_stored(&gathered).await?;
        self.gathered.retain(|id| !stored.contains(id));
        Ok(())
    }

    /// Delivers those of these requests' replies that the program has stored since the callers asked, and returns their requests.
    ///
    /// The store of replies is asked after the records. A process deletes its record only when it needs no line of the batch any more: each
    /// reply that is worth storing is in the store then. So such a reply that another process has paid for is found in one place or the
    /// other. Empty replies and failed lines are in neither, and their requests are submitted again. To keep the records longer instead would
    /// need a time that no wait exceeds, and would not find replies to direct requests.
    async fn deliver_stored(&mut self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, Cause> {
        let asked = ids.iter().filter_map(|id| {
            let waiting = self.waiting.get(id)?;
            Some((id.clone(), Arc::clone(&waiting.request)))
        });
        let (asked, requests): (Vec<_>, Vec<_>) = asked.unzip();
        let found = self.desk.host.stored(&*self.desk.chat, &requests).await;
        let found = found.map_err(|error| {
            let unknown = BatchError::Store(Refused::new(error));
            Cause::new(Failure::Terminal, unknown)
        })?;
        let mut stored = BTreeSet::new();
        for (id, reply) in asked.into_iter().zip(found) {
            let Some(mut reply) = reply else {
                continue;
            };
            reply.served.cached = true;
            if let Some(waiting) = self.waiting.remove(&id) {
                waiting.deliver(&reply);
            }
            stored.insert(id);
        }
        Ok(stored)
    }

    fn try_first(&mut self, id: String) {
        let request = Arc::clone(&self.waiting[&id].request);
        let chat = Arc::clone(&self.desk.chat);
        let size = BatchSize::of(&chat, &request);
        if let Err(error) = self.desk.host.reserve(&size) {
            let refused = BatchError::NotSent(Refused::new(error));
            let gathered = std::mem::take(&mut self.gathered);
            let ids = std::iter::once(id).chain(gathered);
            self.end(ids, &Cause::new(Failure::Terminal, refused));
            return;
        }
        self.owe(&id, size);
        self.is_trying = true;
        self.tasks.spawn(async move {
            let answer = chat.chat(&request).await;
            Done::Tried { id, answer }
        });
    }

    async fn submit_batch(&mut self) {
        let mut draft = self.draft();
        // The gathered requests may all be too large for any batch.
        if draft.is_empty() {
            return;
        }
        match self.record_batch(&mut draft).await {
            Ok(Some(record)) => self.start(record, draft),
            Ok(None) => {}
            Err(cause) => {
                let gathered = std::mem::take(&mut self.gathered);
                self.end(draft.ids().into_iter().chain(gathered), &cause);
            }
        }
    }

    /// Records the next batch. Returns `None` if no request is left for it, or if it may not be submitted.
    ///
    /// Two processes that start together look for records and stored replies before either has any. So each looks again, and no process
    /// writes a record between this look and the new record. Everything that takes long is done before or after that.
    async fn record_batch(&mut self, draft: &mut Draft) -> Result<Option<Record>, Cause> {
        let turn = self.archive.turn().await;
        let turn = turn.map_err(|error| Cause::new(Failure::Terminal, error))?;
        self.archive.scan().map_err(unrecorded)?;
        let mut elsewhere = draft.ids();
        elsewhere.retain(|id| self.is_elsewhere(id));
        draft.remove(&elsewhere);
        let stored = self.deliver_stored(&draft.ids()).await;
        let record = stored.map(|stored| {
            draft.remove(&stored);
            self.create(draft)
        });
        drop(turn);
        self.look_elsewhere(elsewhere);
        record
    }

    /// Records the batch if the budget allows it. Otherwise its requests end.
    fn create(&mut self, draft: &Draft) -> Option<Record> {
        if draft.is_empty() {
            return None;
        }
        let (ids, size) = (draft.ids(), draft.size());
        if let Err(error) = self.desk.host.reserve(&size) {
            let refused = BatchError::NotAllowed(Refused::new(error));
            self.end(ids, &Cause::new(Failure::Terminal, refused));
            return None;
        }
        match self.archive.create(ids, size) {
            Ok(record) => Some(record),
            Err(error) => {
                self.desk.host.release(&size);
                self.end(draft.ids(), &unrecorded(error));
                None
            }
        }
    }

    /// Whether a request of a draft is in another batch by now.
    fn is_elsewhere(&self, id: &str) -> bool {
        self.archive.holds(id)
            || self.submitted.contains(id)
            || self.lost.contains_key(id)
            || self.shelf.holds(id)
    }

    /// Gathers those of these requests that are in no other batch.
    fn look_elsewhere(&mut self, ids: impl IntoIterator<Item = String>) {
        for id in ids {
            let Some(waiting) = self.waiting.get(&id) else {
                continue;
            };
            let request = Arc::clone(&waiting.request);
            match self.source(&id, &request) {
                Ok(Source::Next) => {
                    self.gathered.insert(id);
                }
                Ok(Source::Batch) => {}
                Ok(Source::Reply(reply)) => {
                    if let Some(waiting) = self.waiting.remove(&id) {
                        waiting.reply(reply);
                    }
                }
                Err(cause) => self.fail(&id, &cause),
            }
        }
    }

    /// Moves gathered requests into a batch, as far as it has room.
    fn draft(&mut self) -> Draft {
        let mut draft = Draft::new(self.desk.chat.dialect());
        let mut gathered = std::mem::take(&mut self.gathered).into_iter();
        for id in gathered.by_ref() {
            let Some(waiting) = self.waiting.get(&id) else {
                continue;
            };
            let (chat, settings) = (&self.desk.chat, &self.desk.settings);
            match draft.add(&id, &waiting.request, chat, settings) {
                Ok(true) => {}
                Ok(false) => {
                    self.gathered.insert(id);
                    break;
                }
                Err(cause) => self.fail(&id, &cause),
            }
        }
        self.gathered.extend(gathered);
        draft
    }

    /// Submits a recorded batch.
    fn start(&mut self, record: Record, draft: Draft) {
        let (ids, size) = (draft.ids(), draft.size());
        for id in &ids {
            if let Some(waiting) = self.waiting.get_mut(id) {
                waiting.sent = Some(draft.dialect);
                waiting.rounds.all += 1;
            }
        }
        self.desk.host.on_event(&BatchEvent::Submitting {
            model: self.desk.model(),
            requests: size.requests,
        });
        let (desk, content) = (self.desk.clone(), draft.into_content());
        self.follow(ids, Some(size), record.path().to_owned(), async move {
            desk.submit(record, content).await.map(Some)
        });
    }

    /// Waits for a batch of an earlier process.
    pub(super) fn resume(&mut self, record: Record) {
        let (ids, size) = (record.contents.ids.clone(), record.contents.size);
        if let Some(size) = &size {
            self.desk.host.resume(size);
        }
        let desk = self.desk.clone();
        self.follow(ids, size, record.path().to_owned(), desk.resume(record));
    }

    fn follow(
        &mut self,
        ids: BTreeSet<String>,
        size: Option<BatchSize>,
        record: PathBuf,
        end: impl Future<Output = Result<Option<Collected>, Cause>> + Send + 'static,
    ) {
        self.submitted.extend(ids.iter().cloned());
        self.tasks.spawn(async move {
            let result = end.await.map(|collected| collected.map(Box::new));
            let is_over = result.is_ok() || !record.exists();
            Done::Batch {
                ids,
                size,
                is_over,
                result,
            }
        });
    }
}

//! The batches of one command: their settings, and their connections to the rest of the run.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result};
use evals_models::ChatModel as _;
use evals_providers::{BatchSettings, BatchedChat, OpenAiChat};
use evals_rag::prices::Price;
use evals_settings::{Batch, Resolved};
use evals_stores::replies::ReplyStore;

use super::host::{BatchRun, Host};
use crate::interruption::{Interruption, OpenBatches};
use crate::session::Session;
use crate::spending::Spending;

/// The batches of one command.
#[derive(Debug)]
pub(crate) struct Batches {
    folder: PathBuf,
    settings: Batch,
    run: BatchRun,
    /// The models so far: the same model in two roles shares its batches.
    models: Vec<Arc<BatchedChat>>,
}

impl Batches {
    pub(crate) fn of(
        session: &Session<'_>,
        resolved: &Resolved,
        spending: &Arc<Spending>,
        interruption: &Interruption,
    ) -> Self {
        let open = OpenBatches::default();
        interruption.track_batches(&open);
        Self {
            folder: session.directories.batches(),
            settings: resolved.settings.batch.clone(),
            run: BatchRun {
                printer: session.printer.clone(),
                interruption: interruption.clone(),
                spending: Arc::clone(spending),
                searches: Arc::default(),
                open,
            },
            models: Vec::new(),
        }
    }

    /// The searches that wait or run; `None` unless the settings switch batches on.
    pub(crate) fn searches(&self) -> Option<Arc<AtomicUsize>> {
        self.settings
            .enabled
            .then(|| Arc::clone(&self.run.searches))
    }

    /// Whether replies of a model may come of batches. Without `--batch` they may if an earlier run left a batch of the model: the replies
    /// in it are paid for. A run without a cache of replies pays for every request.
    pub(crate) fn concern(&self, chat: &OpenAiChat, has_cache: bool) -> Result<bool> {
        if self.settings.enabled || !has_cache {
            return Ok(self.settings.enabled);
        }
        BatchedChat::has_earlier(chat, &self.folder).with_context(|| {
            format!(
                "cannot find out whether a batch of an earlier run holds replies of `{}`",
                chat.identity()
            )
        })
    }

    /// Puts batches in front of a model with this price. Replies go to `store`; `reuses` says whether those of other processes are used.
    pub(crate) fn put_before(
        &mut self,
        chat: OpenAiChat,
        price: Price,
        store: ReplyStore,
        reuses: bool,
    ) -> Arc<BatchedChat> {
        let parameters = chat.parameters();
        let known = self.models.iter();
        if let Some(known) = known.clone().find(|model| model.parameters() == parameters) {
            return Arc::clone(known);
        }
        let host = Host {
            run: self.run.clone(),
            store,
            reuses,
            model: chat.identity().to_string(),
            price,
            shown: Mutex::default(),
        };
        let model = Arc::new(BatchedChat::new(chat, self.settings(), Arc::new(host)));
        self.models.push(Arc::clone(&model));
        model
    }

    fn settings(&self) -> BatchSettings {
        BatchSettings {
            submits: self.settings.enabled,
            window: self.settings.window.clone(),
            poll_interval: Duration::from_secs_f64(self.settings.poll_interval),
            quiet: Duration::from_secs_f64(self.settings.quiet),
            max_requests: self.settings.max_requests,
            first_direct: self.settings.first_direct,
            ..BatchSettings::new(&self.folder)
        }
    }
}

//! Texts that a model writes for cases, once for all benchmarks of a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use evals::{FailureClass, TaskScope};
use evals_models::{ChatModel, ChatRequest};

use crate::PromptError;
use crate::answering::{AnswerFailure, complete};
use crate::call::{self, Call, Purpose};
use crate::exchange::Exchange;
use crate::failures::class;

/// Asks a chat model for texts, each once: the benchmarks and the search profiles of a run read the same one.
///
/// It also remembers replies without text, and does not request them again.
#[derive(Debug)]
pub(crate) struct Writer {
    model: Arc<dyn ChatModel>,
    purpose: Purpose,
    kept: Mutex<BTreeMap<TextKey, Written>>,
}

/// A case, its repetition, and the number of its messages before the text.
pub(crate) type TextKey = (String, u32, usize);

/// What the model wrote, with the calls behind it.
#[derive(Debug, Clone)]
struct Written {
    text: Result<String, Arc<AnswerFailure>>,
    calls: Vec<Call>,
}

impl Writer {
    /// Records the calls under the names of `purpose`.
    pub(crate) fn new(model: Arc<dyn ChatModel>, purpose: Purpose) -> Self {
        Self {
            model,
            purpose,
            kept: Mutex::default(),
        }
    }

    /// The text that a request asks for. Records the calls, which count as cached if an earlier benchmark or profile of this run made them.
    pub(crate) async fn write(
        &self,
        key: TextKey,
        request: Result<ChatRequest, PromptError>,
        scope: &TaskScope,
    ) -> Result<String, Arc<AnswerFailure>> {
        // Nothing panics while the lock is held.
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(&key).cloned();
        let mut written = match known {
            Some(known) => known,
            None => self.ask(request).await,
        };
        call::record(&written.calls, self.purpose, scope);
        for call in &mut written.calls {
            call.cached = true;
        }
        let text = written.text.clone();
        let failed = text.as_ref().err().map(|it| class(it.failure()));
        // A failure that may pass is tried again.
        if failed.is_none_or(|class| class == FailureClass::Content) {
            kept().insert(key, written);
        }
        text
    }

    async fn ask(&self, request: Result<ChatRequest, PromptError>) -> Written {
        let mut exchange = Exchange::new(&*self.model);
        let text = self.text(request, &mut exchange).await;
        Written {
            text: text.map_err(Arc::new),
            calls: exchange.calls,
        }
    }

    async fn text(
        &self,
        request: Result<ChatRequest, PromptError>,
        exchange: &mut Exchange<'_>,
    ) -> Result<String, AnswerFailure> {
        let reply = exchange.ask_past_reasoning(&request?).await?;
        let reply = complete(self.model.identity(), reply)?;
        Ok(reply.text.trim().to_owned())
    }
}

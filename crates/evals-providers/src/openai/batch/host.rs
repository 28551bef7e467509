//! The program around batches: it decides whether one may be submitted, and shows how far they are.

use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{ChatModel, ChatReply, ChatRequest};
use serde::{Deserialize, Serialize};

use super::event::BatchEvent;
use crate::chat::raw_reply;
use crate::openai::chat::OpenAiChat;
use crate::tokens;

/// The size of a batch before it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSize {
    /// The number of requests.
    pub requests: usize,
    /// Tokens of all requests: an upper bound, because only the server has the model's tokenizer.
    pub input_tokens: u64,
    /// The most tokens of all replies; `None` if a reply has no limit.
    pub output_tokens: Option<u64>,
}

impl BatchSize {
    pub(super) const ZERO: Self = Self {
        requests: 0,
        input_tokens: 0,
        output_tokens: Some(0),
    };

    /// The size of one request.
    pub(super) fn of(chat: &OpenAiChat, request: &ChatRequest) -> Self {
        let texts = raw_reply::texts(request);
        Self {
            requests: 1,
            input_tokens: texts.iter().map(|text| tokens::at_most(text)).sum(),
            output_tokens: chat.budget(request).map(u64::from),
        }
    }

    /// Takes the size of some of the requests out, and returns it.
    pub(super) fn take(&mut self, part: Self) -> Self {
        let written = self.output_tokens.map(|all| {
            let part = part.output_tokens.unwrap_or(all);
            part.min(all)
        });
        let taken = Self {
            requests: part.requests.min(self.requests),
            input_tokens: part.input_tokens.min(self.input_tokens),
            output_tokens: written,
        };
        self.requests -= taken.requests;
        self.input_tokens -= taken.input_tokens;
        let rest = self.output_tokens.zip(written);
        self.output_tokens = rest.map(|(all, part)| all - part);
        taken
    }

    /// Adds the size of further requests.
    pub(super) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        let written = self.output_tokens.zip(other.output_tokens);
        self.output_tokens = written.map(|(sum, more)| sum.saturating_add(more));
    }
}

/// The program around batches. Its methods must not block.
#[async_trait]
pub trait BatchHost: Debug + Send + Sync {
    /// Receives every step of every batch.
    fn on_event(&self, event: &BatchEvent);

    /// How many things are under way that may lead to further requests, such as searches and calls to other models. A batch is not submitted
    /// meanwhile.
    ///
    /// Default: none.
    fn under_way(&self) -> usize {
        0
    }

    /// Looks for replies that the program has stored since the callers asked, and returns one for each of these requests of `model`, in their
    /// order. A request may wait for hours, and another process may have stored the reply in that time.
    ///
    /// Default: none.
    ///
    /// # Errors
    ///
    /// The stored replies cannot be read. The requests then end, because they could be paid for twice.
    async fn stored(
        &self,
        _model: &dyn ChatModel,
        requests: &[Arc<ChatRequest>],
    ) -> Result<Vec<Option<ChatReply>>, Box<dyn Error + Send + Sync>> {
        Ok(vec![None; requests.len()])
    }

    /// Reserves the cost of a batch, or of the first request, which is sent directly. Or refuses it: the error says why, and ends the run.
    ///
    /// Default: allows everything.
    fn reserve(&self, _size: &BatchSize) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    /// Reserves the cost of a batch that an earlier process submitted. It is at the server already, so it is not refused.
    ///
    /// Default: does nothing.
    fn resume(&self, _size: &BatchSize) {}

    /// Gives back what was reserved: for a request whose caller has [stored](ChatModel::stored) the reply, and so has paid for it, and at the end
    /// of a batch for its other requests. If the caller has gone before its reply came, a size without requests gives back what the reply has
    /// not cost. The cost of a batch that could not be followed to its end stays reserved, and so does that of a reply that cannot be read.
    ///
    /// Default: does nothing.
    fn release(&self, _size: &BatchSize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_size_add_up_to_it() {
        let size = |requests, input_tokens, output_tokens| BatchSize {
            requests,
            input_tokens,
            output_tokens,
        };
        let mut rest = size(3, 100, Some(50));
        assert_eq!(rest.take(size(1, 30, Some(20))), size(1, 30, Some(20)));
        assert_eq!(rest, size(2, 70, Some(30)));
        // Another version of the program may have counted more tokens than the one that wrote the record.
        assert_eq!(rest.take(size(1, 90, Some(20))), size(1, 70, Some(20)));
        assert_eq!(rest, size(1, 0, Some(10)));
        let mut unlimited = size(2, 10, None);
        assert_eq!(unlimited.take(size(1, 4, None)), size(1, 4, None));
        assert_eq!(unlimited, size(1, 6, None));
    }
}

//! How many tokens a model is loaded for.
//!
//! Ollama silently cuts the beginning of a prompt that does not fit. So the prompt decides the size of the window, and a reply that
//! fills the window to its end counts as a failure. The server's count of tokens read proves less, because some versions leave out
//! the tokens that they still had in their cache.

use crate::chat::raw_reply;
use crate::server::ServerError;
use crate::tokens;
use evals_models::ChatRequest;

/// Windows are multiples of this, because Ollama loads a model again for each new size.
const STEP: u64 = 1_024;
/// Tokens for a reply without a budget.
const UNLIMITED_REPLY: u64 = 2_048;
/// Tokens that a chat template adds to each message, and to all of them together.
const AROUND_MESSAGE: u64 = 8;
const AROUND_ALL: u64 = 64;

/// The window for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The tokens of prompt and reply together.
    pub(super) size: u64,
    /// An upper bound of the prompt's tokens, or a likely number where the bound would fill the window.
    prompt: u64,
}

impl Window {
    /// Sizes the window by the prompt and the reply's `budget`, within the model's context length. A size that the user `set` stays.
    ///
    /// Fails if the prompt is not likely to fit: no reply is better than one to half a prompt.
    pub(super) fn fitting(
        request: &ChatRequest,
        budget: Option<u32>,
        set: Option<u32>,
        context_length: Option<u64>,
    ) -> Result<Self, ServerError> {
        let (mut most, mut likely) = (AROUND_ALL, AROUND_ALL);
        for text in raw_reply::texts(request) {
            most += tokens::at_most(&text) + AROUND_MESSAGE;
            likely += tokens::estimate(&text) + AROUND_MESSAGE;
        }
        let reply = budget.map_or(UNLIMITED_REPLY, u64::from);
        let needed = most + reply;
        let limit = set.map(u64::from).into_iter().chain(context_length).min();
        let size = match limit {
            // A prompt that may or may not fit is sent, and the server's count is checked afterwards.
            Some(limit) if likely >= limit => {
                let needed = likely + reply;
                return Err(ServerError::Told(format!(
                    "the prompt and its reply need about {needed} tokens, but the model reads {limit}"
                )));
            }
            Some(limit) if set.is_some() => limit,
            Some(limit) => needed.next_multiple_of(STEP).min(limit),
            None => needed.next_multiple_of(STEP),
        };
        let prompt = if most < size { most } else { likely };
        Ok(Self { size, prompt })
    }

    /// The same window, but not below the `size` for which the model is loaded: a smaller one would load it again.
    pub(super) fn at_least(self, size: u64) -> Self {
        let size = self.size.max(size);
        Self { size, ..self }
    }

    /// The most tokens of a reply that ends before the window does.
    pub(super) fn room(self) -> u64 {
        self.size.saturating_sub(self.prompt).max(1)
    }

    /// Fails if prompt and reply filled the window, so that the beginning of the prompt was lost.
    pub(super) fn check(self, read: Option<u64>, written: Option<u64>) -> Result<(), ServerError> {
        let Some(read) = read else {
            return Ok(());
        };
        let written = written.unwrap_or(0);
        if read.saturating_add(written) < self.size {
            return Ok(());
        }
        Err(ServerError::Told(format!(
            "the server cut the prompt: {read} tokens read and {written} written fill the `num_ctx` of {}",
            self.size
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evals_models::Message;

    fn fitting(
        letters: usize,
        budget: Option<u32>,
        set: Option<u32>,
        length: Option<u64>,
    ) -> Result<Window, ServerError> {
        let request = ChatRequest::new(vec![Message::user("a".repeat(letters))]);
        Window::fitting(&request, budget, set, length)
    }

    #[test]
    fn grows_with_prompt_and_budget() {
        let size = |letters, budget| fitting(letters, budget, None, None).unwrap().size;
        // 64 + 8 + 300 / 3 + 512 = 684.
        assert_eq!(size(300, Some(512)), 1_024);
        // 64 + 8 + 30000 / 3 + 512 = 10584.
        assert_eq!(size(30_000, Some(512)), 11_264);
        assert_eq!(size(300, None), 3_072);
    }

    #[test]
    fn ends_where_the_model_does() {
        assert_eq!(
            fitting(3_000, Some(7_000), None, Some(8_000)).unwrap().size,
            8_000
        );
        // At worst 10072 tokens, but likely 7572: it is tried.
        assert_eq!(
            fitting(30_000, Some(512), None, Some(8_192)).unwrap().size,
            8_192
        );
        let error = fitting(40_000, Some(512), None, Some(8_192)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the prompt and its reply need about 10584 tokens, but the model reads 8192"
        );
    }

    #[test]
    fn a_size_that_is_set_is_kept() {
        assert_eq!(
            fitting(300, Some(512), Some(16_384), None).unwrap().size,
            16_384
        );
        assert!(fitting(30_000, Some(512), Some(4_096), Some(32_768)).is_err());
    }

    #[test]
    fn a_reply_ends_before_the_window_does() {
        // 64 + 8 + 300 / 3 = 172 tokens of prompt.
        assert_eq!(
            fitting(300, Some(512), None, None).unwrap().room(),
            1_024 - 172
        );
        let window = fitting(300, Some(512), Some(16_384), None).unwrap();
        assert_eq!(window.room(), 16_384 - 172);
        // At worst the prompt alone has 10072 tokens, but likely 7572.
        let window = fitting(30_000, Some(512), None, Some(8_192)).unwrap();
        assert_eq!(window.room(), 8_192 - 7_572);
    }

    #[test]
    fn notices_a_window_that_was_filled() {
        let window = fitting(30_000, Some(512), None, None).unwrap();
        assert!(window.check(Some(7_000), Some(512)).is_ok());
        // Of a prompt that begins like the last one, versions count what is new.
        assert!(window.check(Some(25), Some(7)).is_ok());
        assert!(window.check(None, Some(512)).is_ok());
        assert!(window.check(Some(11_264), None).is_err());
        assert_eq!(
            window
                .check(Some(11_000), Some(264))
                .unwrap_err()
                .to_string(),
            "the server cut the prompt: 11000 tokens read and 264 written fill the `num_ctx` of 11264"
        );
    }
}

//! A batch before it is submitted.

use std::collections::BTreeSet;

use evals_models::{ChatRequest, Failure};

use crate::openai::batch::error::BatchError;
use crate::openai::batch::host::BatchSize;
use crate::openai::batch::input;
use crate::openai::batch::settings::BatchSettings;
use crate::openai::batch::waiting::Cause;
use crate::openai::chat::OpenAiChat;
use crate::openai::dialect::Dialect;

/// A batch before it is submitted.
pub(super) struct Draft {
    pub(super) ids: BTreeSet<String>,
    /// The input file.
    pub(super) content: Vec<u8>,
    pub(super) size: BatchSize,
}

impl Draft {
    pub(super) fn new() -> Self {
        Self {
            ids: BTreeSet::new(),
            content: Vec::new(),
            size: BatchSize {
                requests: 0,
                input_tokens: 0,
                output_tokens: Some(0),
            },
        }
    }

    /// Adds a request. `false` if the batch has no room for it.
    ///
    /// # Errors
    ///
    /// The request fits into no batch, or has no body.
    pub(super) fn add(
        &mut self,
        id: &str,
        request: &ChatRequest,
        (chat, dialect): (&OpenAiChat, Dialect),
        settings: &BatchSettings,
    ) -> Result<bool, Cause> {
        if self.ids.len() == settings.max_requests.get() {
            return Ok(false);
        }
        let body = chat.body(request, dialect);
        let body = body.map_err(|error| Cause::new(Failure::Content, error))?;
        let line = input::line(id, &body);
        let (bytes, most) = (line.len(), settings.max_bytes);
        if bytes > most {
            let error = BatchError::TooLarge { bytes, most };
            return Err(Cause::new(Failure::Content, error));
        }
        if self.content.len() + bytes > most {
            return Ok(false);
        }
        self.content.extend_from_slice(&line);
        self.ids.insert(id.to_owned());
        self.size.add(BatchSize::of(chat, request));
        Ok(true)
    }
}

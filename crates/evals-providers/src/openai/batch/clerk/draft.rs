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
    /// The dialect of its requests.
    pub(super) dialect: Dialect,
    /// The input file.
    content: Vec<u8>,
    /// The lines of the input file, in their order.
    lines: Vec<Line>,
}

/// The place of a request.
struct Line {
    id: String,
    bytes: usize,
    size: BatchSize,
}

impl Draft {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            content: Vec::new(),
            lines: Vec::new(),
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
        chat: &OpenAiChat,
        settings: &BatchSettings,
    ) -> Result<bool, Cause> {
        if self.lines.len() == settings.max_requests.get() {
            return Ok(false);
        }
        let body = chat.body(request, self.dialect);
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
        self.lines.push(Line {
            id: id.to_owned(),
            bytes,
            size: BatchSize::of(chat, request),
        });
        Ok(true)
    }

    /// Removes requests.
    pub(super) fn remove(&mut self, ids: &BTreeSet<String>) {
        if ids.is_empty() {
            return;
        }
        let content = std::mem::take(&mut self.content);
        let mut rest = content.as_slice();
        let kept = &mut self.content;
        self.lines.retain(|line| {
            let (text, later) = rest.split_at(line.bytes);
            rest = later;
            let is_kept = !ids.contains(&line.id);
            if is_kept {
                kept.extend_from_slice(text);
            }
            is_kept
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.lines.iter().map(|line| line.id.clone()).collect()
    }

    pub(super) fn size(&self) -> BatchSize {
        let mut size = BatchSize::ZERO;
        for line in &self.lines {
            size.add(line.size);
        }
        size
    }

    /// The input file.
    pub(super) fn into_content(self) -> Vec<u8> {
        self.content
    }
}

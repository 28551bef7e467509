//! A model's reply, whichever protocol brought it.

use crate::tokens;
use crate::traffic::{AttemptError, Delivered};
use evals_models::{ChatError, ChatReply, ChatRequest, Finish, ModelIdentity, Served, Usage};

/// A reply as its server sent it, before the traffic adds how long it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawReply {
    pub(crate) text: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
}

impl RawReply {
    /// An empty reply, whose budget ran out before its first word.
    pub(crate) fn out_of_budget(budget: Option<u32>, request: &ChatRequest) -> Self {
        let counted = (None, budget.map(u64::from));
        Self {
            text: String::new(),
            reasoning: None,
            finish: Finish::Length,
            usage: usage(counted, request, "", None),
        }
    }

    /// Whether the model replied at all. When it did not, servers send an empty reply without a reason, or with one such as
    /// `abort` or `load`.
    pub(crate) fn is_reply(&self) -> bool {
        let empty = self.text.is_empty() && self.reasoning.is_none();
        match &self.finish {
            Finish::Other(reason) if ["abort", "load", "unload"].contains(&reason.as_str()) => {
                false
            }
            Finish::Length | Finish::ContentFilter => true,
            Finish::Stop => !(empty && self.usage.output_tokens == 0),
            Finish::Unknown | Finish::Other(_) => !empty,
        }
    }

    /// The same reply with its texts passed through `redact`. Nothing of a reply is used before that.
    pub(crate) fn redacted(self, redact: impl Fn(&str) -> String) -> Self {
        Self {
            text: redact(&self.text),
            reasoning: self.reasoning.as_deref().map(&redact),
            finish: match self.finish {
                Finish::Other(reason) => Finish::Other(redact(&reason)),
                known => known,
            },
            usage: self.usage,
        }
    }

    /// The finished reply, with the time and the attempts that it took.
    pub(crate) fn into_reply(delivered: Delivered<Self>) -> ChatReply {
        ChatReply {
            text: delivered.value.text,
            reasoning: delivered.value.reasoning,
            finish: delivered.value.finish,
            usage: delivered.value.usage,
            served: Served {
                service_time: delivered.service_time,
                attempts: delivered.attempts,
                cached: false,
            },
        }
    }
}

/// The failure of a call, after all its attempts.
pub(crate) fn chat_error(model: &ModelIdentity, error: AttemptError) -> ChatError {
    ChatError {
        model: model.clone(),
        failure: error.failure,
        source: error.source,
    }
}

/// Tokens read and written: the server's counts, or estimates from the texts where it sends none.
pub(crate) fn usage(
    counted: (Option<u64>, Option<u64>),
    request: &ChatRequest,
    text: &str,
    reasoning: Option<&str>,
) -> Usage {
    let written = || tokens::estimate(text) + reasoning.map_or(0, tokens::estimate);
    Usage {
        input_tokens: counted.0.unwrap_or_else(|| estimated_input(request)),
        output_tokens: counted.1.unwrap_or_else(written),
        estimated: counted.0.is_none() || counted.1.is_none(),
    }
}

/// Estimated tokens of a request's messages.
pub(crate) fn estimated_input(request: &ChatRequest) -> u64 {
    let messages = request.messages.iter();
    messages
        .map(|message| tokens::estimate(&message.content))
        .sum()
}

/// Estimated tokens that a call may use: those of its messages and its budget.
pub(crate) fn estimated_tokens(request: &ChatRequest, budget: Option<u32>) -> u64 {
    estimated_input(request) + u64::from(budget.unwrap_or_default())
}

/// Reads the reason for which a reply ended, in the words of `OpenAI`, Ollama, TGI, Mistral and Anthropic.
pub(crate) fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("") => Finish::Unknown,
        Some("stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn") => Finish::Stop,
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

use super::{AttemptError, Delivered, tokens};
use evals_models::{ChatError, ChatReply, ChatRequest, Finish, ModelIdentity, Served, Usage};

/// What a model said, however its server wrapped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) reasoning: Option<String>,
    pub(super) finish: Finish,
    pub(super) usage: Usage,
}

impl Said {
    /// A reply whose budget was used up before it had a word.
    pub(super) fn nothing_within(budget: Option<u32>, request: &ChatRequest) -> Self {
        let told = (None, budget.map(u64::from));
        Self {
            text: String::new(),
            reasoning: None,
            finish: Finish::Length,
            usage: usage(told, request, "", None),
        }
    }

    /// Whether this is something that the model said, and not what servers send where it never came to speak: nothing at all
    /// without a reason, or a reason such as `abort` and `load`.
    pub(super) fn is_reply(&self) -> bool {
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

    /// The same without what `redact` takes out of texts. Nothing of a reply is used before.
    pub(super) fn redacted(self, redact: impl Fn(&str) -> String) -> Self {
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

    /// The reply that was delivered.
    pub(super) fn reply(delivered: Delivered<Self>) -> ChatReply {
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
pub(super) fn chat_error(model: &ModelIdentity, error: AttemptError) -> ChatError {
    ChatError {
        model: model.clone(),
        failure: error.failure,
        source: error.source,
    }
}

/// Tokens as the server counted them, or as they are estimated from the texts.
pub(super) fn usage(
    told: (Option<u64>, Option<u64>),
    request: &ChatRequest,
    text: &str,
    reasoning: Option<&str>,
) -> Usage {
    let written = || tokens::estimate(text) + reasoning.map_or(0, tokens::estimate);
    Usage {
        input_tokens: told.0.unwrap_or_else(|| estimated_input(request)),
        output_tokens: told.1.unwrap_or_else(written),
        estimated: told.0.is_none() || told.1.is_none(),
    }
}

/// Tokens of a request's messages, as estimated.
pub(super) fn estimated_input(request: &ChatRequest) -> u64 {
    let messages = request.messages.iter();
    messages
        .map(|message| tokens::estimate(&message.content))
        .sum()
}

/// Tokens that a call may take in all, as estimated: those of its messages and its budget.
pub(super) fn estimated_tokens(request: &ChatRequest, budget: Option<u32>) -> u64 {
    estimated_input(request) + u64::from(budget.unwrap_or_default())
}

/// Why a reply ends, in the words of `OpenAI`, Ollama, TGI, Mistral and Anthropic.
pub(super) fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("") => Finish::Unknown,
        Some("stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn") => Finish::Stop,
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

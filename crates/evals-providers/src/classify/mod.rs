//! The meaning of a server's refusal for the caller.

mod error_body;
#[cfg(test)]
mod fuzz;
mod retry_after;
#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

pub(crate) use error_body::{ErrorBody, looks_like_html, one_line};

use evals_models::Failure;

/// A server's refusal and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status. For an error inside a successful answer, the status that corresponds to the error.
    pub(crate) status: u16,
    /// The status that the server should have sent, where its message shows that it sent another one.
    pub(crate) stands_for: u16,
    /// Its class: whether another attempt may help.
    pub(crate) failure: Failure,
    /// The change that the user has to make, if any.
    pub(crate) remedy: Option<Remedy>,
    /// The pause that the server asks for.
    pub(crate) retry_after: Option<Duration>,
    /// Whether fewer calls at once would help.
    pub(crate) overloaded: bool,
    /// Whether the server is loading its model and will be back.
    pub(crate) loading: bool,
    /// More about a refusal of the content.
    pub(crate) complaint: Option<Complaint>,
    /// The body of the refusal.
    pub(crate) body: ErrorBody,
}

/// Details of a refusal of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// A text is longer than the model reads.
    TooLong,
    /// The meaning is unknown, so that the refusal may concern every request.
    Unknown,
}

/// The change that the user has to make so that the failure does not repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The key: another one, or one at all.
    Key,
    /// The account's credit.
    Quota,
    /// A model that the server has.
    Model,
    /// Another address.
    Address,
    /// Another value of the setting that the server names.
    Setting,
    /// A model that fits into the machine.
    Memory,
    /// A model that embeds, on a server started for embeddings.
    Embeddings,
    /// A model that reranks, on a server started for reranking.
    Reranking,
    /// A model that takes conversations.
    Conversations,
    /// A model whose chat template has the role `system`.
    SystemRole,
    /// A firewall's rule.
    Firewall,
}

impl Remedy {
    /// Whether it concerns the account, whichever model is asked.
    pub(crate) fn is_for_account(self) -> bool {
        matches!(self, Self::Key | Self::Quota)
    }
}

const QUOTA: [&str; 7] = [
    "insufficient_quota",
    "quota_exceeded",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_credits",
    "insufficient_balance",
    "exceeded_current_quota_error",
];
const KEY: [&str; 3] = [
    "invalid_api_key",
    "authentication_error",
    "invalid_authentication",
];
const MODEL: [&str; 3] = ["model_not_found", "model_not_available", "invalid_model"];
const SETTING: [&str; 5] = [
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "invalid_type",
    "extra_forbidden",
];
const SETTING_PHRASES: [&str; 4] = [
    "does not support",
    "is not supported",
    "not permitted",
    "unrecognized request argument",
];
/// Refusals of a setting's value, in the codes and words of `OpenAI` and of `pydantic`.
const VALUE: [&str; 5] = [
    "invalid_value",
    "integer_above_max_value",
    "integer_below_min_value",
    "decimal_above_max_value",
    "decimal_below_min_value",
];
const VALUE_PHRASES: [&str; 6] = [
    "is too large",
    "must be less than",
    "must be greater than",
    "should be less than",
    "should be greater than",
    "supports at most",
];
/// Fields of requests that come from settings.
const SET_FIELDS: [&str; 7] = [
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "dimensions",
];
const TOO_LONG: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

const NO_MODEL_PHRASES: [&str; 4] = [
    "is not a valid model",
    "model not found",
    "try pulling it",
    "no model named",
];
const TOO_LONG_PHRASES: [&str; 10] = [
    "context length",
    "context size",
    "context window",
    "maximum context",
    "input length exceeds",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "tokens) is too large to process",
    // `pydantic` about one text. About too many texts it says `list`.
    "string should have at most",
];

const NO_EMBEDDINGS_PHRASES: [&str; 4] = [
    "created with embedding=true",
    "does not support `embed`",
    "support embeddings",
    "pooling type 'none'",
];

const KEY_PHRASES: [&str; 2] = ["api key not valid", "api key expired"];

/// Errors that chat templates raise.
const NO_SYSTEM_PHRASES: [&str; 2] = ["system role not supported", "system role is not supported"];

/// `OpenAI` about models that have other endpoints.
const NO_CHAT_PHRASES: [&str; 2] = ["only supported in v1/", "not a chat model"];

const LOADING_PHRASES: [&str; 3] = ["loading model", "model is loading", "currently loading"];

/// Errors of llama.cpp, infinity and text-embeddings-inference.
const NO_RERANKING_PHRASES: [&str; 3] = [
    "does not support reranking",
    "does not support `rerank`",
    "not a re-ranker",
];

/// Classifies an answer with the status of an error. A date in its headers is a pause from `now` on.
pub(crate) fn classify(status: u16, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Refusal {
    let pause = retry_after::pause(headers, now);
    refusal(status, ErrorBody::parse(body), pause)
}

/// Classifies an answer of a system under test by its status alone, because its words may be about anything.
pub(crate) fn classify_status(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: SystemTime,
) -> Refusal {
    use Failure::{Content, Terminal, Transient};

    let body = ErrorBody::parse(body);
    let (failure, remedy) = match status {
        402 => (Terminal, Some(Remedy::Quota)),
        403 if body.is_page => (Content, Some(Remedy::Firewall)),
        401 | 403 => (Terminal, Some(Remedy::Key)),
        404 | 405 | 410 | 501 | 505 | 300..=399 => (Terminal, Some(Remedy::Address)),
        408 | 409 | 424 | 425 | 429 | 498 | 499 | 500..=599 => (Transient, None),
        _ => (Content, None),
    };
    let transient = failure == Transient;
    Refusal {
        status,
        stands_for: status,
        failure,
        remedy,
        retry_after: retry_after::pause(headers, now).filter(|_| transient),
        overloaded: transient && is_overload(status),
        loading: false,
        complaint: (failure == Content).then_some(Complaint::Unknown),
        body,
    }
}

/// Whether a status asks for fewer calls at once.
fn is_overload(status: u16) -> bool {
    matches!(status, 408 | 429 | 503 | 504 | 524 | 529)
}

/// Classifies an error in the body of a successful answer, as `OpenRouter` sends it.
pub(crate) fn classify_embedded(body: ErrorBody) -> Refusal {
    refusal(embedded_status(&body), body, None)
}

fn refusal(status: u16, body: ErrorBody, retry_after: Option<Duration>) -> Refusal {
    let stands_for = stands_for(status, &body);
    let (failure, remedy) = meaning(stands_for, &body);
    let transient = failure == Failure::Transient;
    let known = matches!(stands_for, 400 | 403 | 413 | 422 | 429 | 500..=599);
    Refusal {
        status,
        stands_for,
        failure,
        remedy,
        retry_after: retry_after.filter(|_| transient),
        overloaded: transient && is_overload(status),
        loading: transient && status == 503 && body.says_any(&LOADING_PHRASES),
        complaint: match failure {
            Failure::Content if is_too_long(&body) => Some(Complaint::TooLong),
            Failure::Content if !known || remedy == Some(Remedy::Firewall) => {
                Some(Complaint::Unknown)
            }
            _ => None,
        },
        body,
    }
}

/// The status that fits the message. `llama-cpp-python` sends 500 for invalid requests, with `FastAPI`'s problems as Python prints
/// them.
fn stands_for(status: u16, body: &ErrorBody) -> u16 {
    match status {
        500 if body.says_any(&["'loc': ('body'"]) => 422,
        _ => status,
    }
}

fn meaning(status: u16, body: &ErrorBody) -> (Failure, Option<Remedy>) {
    use Failure::{Content, Terminal, Transient};

    if status == 402 || body.is_any(&QUOTA) || body.says_any(&["credit balance is too low"]) {
        return (Terminal, Some(Remedy::Quota));
    }
    if status == 401 || body.is_any(&KEY) || body.says_any(&KEY_PHRASES) {
        return (Terminal, Some(Remedy::Key));
    }
    if status == 429 && body.says_any(&["request too large"]) {
        return (Content, None);
    }
    if status != 429 && is_too_long(body) {
        return (Content, None);
    }
    if body.says_any(&NO_SYSTEM_PHRASES) {
        return (Terminal, Some(Remedy::SystemRole));
    }
    if body.says_any(&NO_EMBEDDINGS_PHRASES) {
        return (Terminal, Some(Remedy::Embeddings));
    }
    if body.says_any(&NO_RERANKING_PHRASES) {
        return (Terminal, Some(Remedy::Reranking));
    }
    match status {
        403 if body.says_any(&["moderation", "flagged"]) => (Content, None),
        403 if body.is_page => (Content, Some(Remedy::Firewall)),
        403 => (Terminal, Some(Remedy::Key)),
        400 | 404 if body.says_any(&NO_CHAT_PHRASES) => (Terminal, Some(Remedy::Conversations)),
        400..=422 if names_no_model(body) => (Terminal, Some(Remedy::Model)),
        404 | 405 | 410 | 501 | 505 | 300..=399 => (Terminal, Some(Remedy::Address)),
        400 | 422 if body.is_any(&SETTING) || body.says_any(&SETTING_PHRASES) => {
            (Terminal, Some(Remedy::Setting))
        }
        400 | 422 if refuses_value(body) => (Terminal, Some(Remedy::Setting)),
        500 if body.says_any(&["more system memory", "out of memory"]) => {
            (Terminal, Some(Remedy::Memory))
        }
        // 424: a dependency failed. 498: the queue is full. 499: the server thinks that the caller is gone.
        408 | 409 | 424 | 425 | 429 | 498 | 499 | 500..=599 => (Transient, None),
        _ => (Content, None),
    }
}

fn is_too_long(body: &ErrorBody) -> bool {
    body.is_any(&TOO_LONG) || body.says_any(&TOO_LONG_PHRASES)
}

/// Whether the server refuses a value that comes from the settings, and not this one request.
fn refuses_value(body: &ErrorBody) -> bool {
    let set = SET_FIELDS.iter().any(|field| body.is_about(field));
    set && (body.is_any(&VALUE) || body.says_any(&VALUE_PHRASES))
}

fn names_no_model(body: &ErrorBody) -> bool {
    let message = body.message.to_lowercase();
    let missing = message.contains("not found") || message.contains("does not exist");
    body.is_any(&MODEL)
        || body.says_any(&NO_MODEL_PHRASES)
        || (message.contains("model") && missing)
}

/// The status that corresponds to an error inside a successful answer: its code if that is a status, else one for its kind.
fn embedded_status(body: &ErrorBody) -> u16 {
    let numbers = [&body.code, &body.kind].into_iter().flatten();
    let status = numbers.filter_map(|code| code.parse().ok());
    if let Some(status) = status
        .into_iter()
        .find(|status| (400..600).contains(status))
    {
        return status;
    }
    let kind = body.kind.as_deref().unwrap_or_default().to_lowercase();
    let known = [
        ("rate_limit", 429),
        ("overloaded", 503),
        ("invalid_request", 400),
        ("not_found", 404),
        ("permission", 403),
    ];
    known
        .iter()
        .find(|(word, _)| kind.contains(word))
        .map_or(500, |(_, status)| *status)
}

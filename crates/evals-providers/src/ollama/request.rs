//! The body of a request for a reply.

use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::parameters::ThinkType;
use ollama_rs::generation::tools::ToolCallFunction;
use ollama_rs::models::ModelOptions;
use serde::Serialize;
use serde_json::{Value, json};

use super::window::Window;
use crate::settings::extra_body::Extended;
use crate::settings::{ChatSettings, Think};
use evals_models::{ChatRequest, Message, Role, Tool, ToolCall};

/// Fields that `extra_body` may not set, because the program fills them and could not read the replies to other values.
pub(super) const RESERVED: [&str; 5] = ["messages", "model", "stream", "truncate", "shift"];

/// The `options` that have settings of their own, because the size of the window depends on them.
pub(super) const RESERVED_OPTIONS: [&str; 2] = ["options.num_ctx", "options.num_predict"];

/// The request of `ollama-rs`, beside the fields that its type cannot hold.
#[derive(Debug, Serialize)]
pub(super) struct OllamaRequest<'a> {
    #[serde(flatten)]
    typed: ChatMessageRequest,
    /// Newer servers then refuse a prompt that is too long, instead of cutting it. Older ones ignore this field and the next.
    truncate: bool,
    /// Newer servers then end a reply where the window ends, instead of dropping the beginning of the prompt.
    shift: bool,
    /// Theirs is a type of `schemars`. This is a schema as it was given, with its properties in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    /// Theirs have a type of `schemars`, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<KeepAlive<'a>>,
}

/// How long a model stays loaded. Theirs knows neither a number of seconds nor a duration such as `1h30m`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum KeepAlive<'a> {
    Seconds(i64),
    Duration(&'a str),
}

/// The body of a request, for a model that is loaded with a window of that size.
pub(super) fn body<'a>(
    settings: &'a ChatSettings,
    request: &'a ChatRequest,
    window: Window,
) -> Extended<'a, OllamaRequest<'a>> {
    let messages = request.messages.iter().map(message).collect();
    let mut typed = ChatMessageRequest::new(settings.model.clone(), messages)
        .options(options(settings, request, window));
    typed.think = settings.think.map(think);
    Extended {
        request: OllamaRequest {
            typed,
            truncate: false,
            shift: false,
            format: request.schema.as_ref().map(|schema| &schema.schema),
            tools: request.tools.iter().map(tool).collect(),
            keep_alive: settings.keep_alive.as_deref().map(KeepAlive::parse),
        },
        extra_body: &settings.extra_body,
    }
}

fn options(settings: &ChatSettings, request: &ChatRequest, window: Window) -> ModelOptions {
    // Always sent, because without it a server writes on past the end of the window.
    let budget = request.max_tokens.or(settings.max_tokens);
    let budget = budget.map_or(u64::MAX, |budget| u64::from(budget.get()));
    let budget = i32::try_from(budget.min(window.room())).unwrap_or(i32::MAX);
    let mut options = ModelOptions::default()
        .num_ctx(window.size)
        .num_predict(budget);
    if let Some(seed) = settings.seed {
        options = options.seed(seed);
    }
    if let Some(temperature) = settings.temperature {
        // Not their `f32`, which would send 0.3 as 0.30000001192092896.
        options = options.extra("temperature", temperature);
    }
    options
}

impl<'a> KeepAlive<'a> {
    pub(super) fn parse(duration: &'a str) -> Self {
        duration
            .parse()
            .map_or(Self::Duration(duration), Self::Seconds)
    }
}

fn think(think: Think) -> ThinkType {
    match think {
        Think::Off => ThinkType::False,
        Think::On => ThinkType::True,
        Think::Low => ThinkType::Low,
        Think::Medium => ThinkType::Medium,
        Think::High => ThinkType::High,
    }
}

fn message(message: &Message) -> ChatMessage {
    let content = message.content.clone();
    match message.role {
        Role::System => ChatMessage::system(content),
        Role::User => ChatMessage::user(content),
        Role::Assistant => {
            let mut message_with_calls = ChatMessage::assistant(content);
            message_with_calls.tool_calls = message.tool_calls.iter().map(call).collect();
            message_with_calls
        }
        // The server tells results apart by their order.
        Role::Tool => ChatMessage::tool(content),
    }
}

/// A call that the model made earlier. Ollama takes arguments as an object alone.
fn call(call: &ToolCall) -> ollama_rs::generation::tools::ToolCall {
    let arguments = serde_json::from_str(&call.arguments)
        .ok()
        .filter(Value::is_object);
    ollama_rs::generation::tools::ToolCall {
        function: ToolCallFunction {
            name: call.name.clone(),
            arguments: arguments.unwrap_or_else(|| json!({"malformed": call.arguments})),
        },
    }
}

fn tool(tool: &Tool) -> Value {
    let Tool {
        name,
        description,
        parameters,
    } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

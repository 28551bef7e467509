//! The body of a request for a reply.

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequest, FunctionCall, FunctionObject, ResponseFormat,
    ResponseFormatJsonSchema,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::dialect::{Concession, Dialect, SchemaFormat};
use crate::settings::ChatSettings;
use crate::settings::extra_body::Extended;
use evals_models::{ChatRequest, Message, ReplySchema, Role, Tool, ToolCall};

/// Fields that `extra_body` may not set, because the program fills them and could not read the replies to other values.
pub(super) const RESERVED: [&str; 5] = ["messages", "model", "stream", "stream_options", "n"];

/// The request of `async-openai`, beside the fields that its type cannot hold.
#[derive(Debug, Serialize)]
pub(super) struct OpenAiRequest<'a> {
    #[serde(flatten)]
    typed: CreateChatCompletionRequest,
    /// Not their `f32`, which would send 0.3 as 0.30000001192092896.
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// Not their list of levels, because servers have others.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

/// The body of a request in the server's dialect.
///
/// It always switches streaming off, because some servers stream by default.
pub(super) fn body<'a>(
    settings: &'a ChatSettings,
    request: &'a ChatRequest,
    dialect: &Dialect,
) -> Extended<'a, OpenAiRequest<'a>> {
    let budget = request.max_tokens.or(settings.max_tokens);
    let budget = |field| {
        let budget = budget.filter(|_| dialect.budget_field() == field);
        budget.map(std::num::NonZero::get)
    };
    #[expect(
        deprecated,
        reason = "`max_tokens` and `seed` are what servers other than OpenAI know"
    )]
    let typed = CreateChatCompletionRequest {
        model: settings.model.clone(),
        messages: request.messages.iter().map(message).collect(),
        tools: tools(&request.tools),
        stream: Some(false),
        seed: settings
            .seed
            .filter(|_| dialect.takes(Concession::Seed))
            .map(i64::from),
        max_tokens: budget("max_tokens"),
        max_completion_tokens: budget("max_completion_tokens"),
        ..CreateChatCompletionRequest::default()
    };
    let effort = settings.reasoning_effort.as_deref();
    let schema = request.schema.as_ref();
    Extended {
        request: OpenAiRequest {
            typed,
            temperature: settings
                .temperature
                .filter(|_| dialect.takes(Concession::Temperature)),
            reasoning_effort: effort.filter(|_| dialect.takes(Concession::ReasoningEffort)),
            response_format: schema.and_then(|schema| reply_format(schema, dialect.format())),
        },
        extra_body: &settings.extra_body,
    }
}

fn message(message: &Message) -> ChatCompletionRequestMessage {
    let content = message.content.as_str();
    match message.role {
        Role::System => ChatCompletionRequestSystemMessage::from(content).into(),
        Role::User => ChatCompletionRequestUserMessage::from(content).into(),
        Role::Assistant if message.tool_calls.is_empty() => {
            ChatCompletionRequestAssistantMessage::from(content).into()
        }
        Role::Assistant => ChatCompletionRequestAssistantMessage {
            content: (!content.is_empty()).then(|| content.into()),
            tool_calls: Some(message.tool_calls.iter().map(call).collect()),
            ..ChatCompletionRequestAssistantMessage::default()
        }
        .into(),
        Role::Tool => ChatCompletionRequestToolMessage {
            content: content.into(),
            tool_call_id: message
                .result_of
                .as_ref()
                .map(|call| call.id.clone())
                .unwrap_or_default(),
        }
        .into(),
    }
}

fn call(call: &ToolCall) -> ChatCompletionMessageToolCalls {
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
        id: call.id.clone(),
        function: FunctionCall {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
    })
}

fn tools(tools: &[Tool]) -> Option<Vec<ChatCompletionTools>> {
    let tools = tools.iter().map(|tool| {
        ChatCompletionTools::Function(ChatCompletionTool {
            function: FunctionObject {
                name: tool.name.clone(),
                description: Some(tool.description.clone()),
                parameters: Some(tool.parameters.clone()),
                strict: None,
            },
        })
    });
    let tools: Vec<_> = tools.collect();
    (!tools.is_empty()).then_some(tools)
}

/// How a reply is held to a schema.
fn reply_format(schema: &ReplySchema, format: SchemaFormat) -> Option<Value> {
    let format = match format {
        SchemaFormat::Schema => ResponseFormat::JsonSchema {
            json_schema: ResponseFormatJsonSchema {
                description: None,
                name: schema.name.clone(),
                schema: schema.schema.clone(),
                strict: Some(true),
            },
        },
        SchemaFormat::SchemaInObject => {
            return Some(json!({"type": "json_object", "schema": schema.schema}));
        }
        SchemaFormat::JsonObject => ResponseFormat::JsonObject,
        SchemaFormat::Free => return None,
    };
    Some(json!(format))
}

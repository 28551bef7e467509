//! The request to a chat model.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A conversation to reply to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation so far, oldest message first.
    pub messages: Vec<Message>,
    /// The tools that the model may call instead of replying. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The JSON Schema of the reply. Servers that support it enforce it; the caller checks the reply in any case.
    pub schema: Option<ReplySchema>,
    /// Limit on the tokens of the reply, reasoning included. `None` leaves the limit of the model.
    pub max_tokens: Option<NonZeroU32>,
    /// The repetition of the same conversation, from 1, so that a repetition is not served from the cache.
    pub repeat: u32,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its text.
    pub content: String,
    /// The tools that the model called in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call whose result it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_of: Option<ToolCallReference>,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The author of the instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

/// A JSON Schema for a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A name of letters, digits, `_` and `-`. OpenAI's protocol requires one.
    pub name: String,
    /// The schema. Strict servers require an object without `$ref`, with every property required and no others allowed.
    pub schema: Value,
}

impl ReplySchema {
    /// The schema of an object with exactly these members, in their order.
    pub fn of_object(name: &str, members: Value) -> Self {
        Self {
            name: name.to_owned(),
            schema: object_schema(members),
        }
    }
}

/// The JSON Schema of an object with exactly these members: a model writes them in this order.
pub fn object_schema(members: Value) -> Value {
    let names: Vec<&String> = members
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .collect();
    let required = json!(names);
    json!({"type": "object", "properties": members, "required": required, "additionalProperties": false})
}

impl ChatRequest {
    /// A conversation without a schema, with the model's own token limit, as the first repetition.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            schema: None,
            max_tokens: None,
            repeat: 1,
        }
    }

    /// A conversation of one message, which asks for an object.
    pub fn asking(prompt: impl Into<String>, schema: ReplySchema) -> Self {
        Self {
            schema: Some(schema),
            ..Self::new(vec![Message::user(prompt)])
        }
    }
}

impl Message {
    /// A message with instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self::of(Role::System, content)
    }

    /// A message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(Role::User, content)
    }

    /// An earlier reply of the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(Role::Assistant, content)
    }

    /// An earlier reply of the model, in which it called tools.
    pub fn calling(content: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self {
            tool_calls,
            ..Self::of(Role::Assistant, content)
        }
    }

    /// The result of a call.
    pub fn tool_result(call: &ToolCall, content: impl Into<String>) -> Self {
        Self {
            result_of: Some(ToolCallReference {
                id: call.id.clone(),
                name: call.name.clone(),
            }),
            ..Self::of(Role::Tool, content)
        }
    }

    fn of(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            result_of: None,
        }
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// A name of letters, digits, `_` and `-`.
    pub name: String,
    /// The tool's purpose, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// The call of a tool, as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tells calls of one conversation apart. Servers that give none get `call_1`, `call_2`, ….
    pub id: String,
    /// The tool's name, which may be that of no tool.
    pub name: String,
    /// The arguments as JSON text, which may be malformed.
    pub arguments: String,
}

/// The call that a message with a tool's result replies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallReference {
    /// [`ToolCall::id`].
    pub id: String,
    /// [`ToolCall::name`].
    pub name: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_without_tools_is_written_as_before_there_were_any() {
        let request = ChatRequest::new(vec![Message::user("why?"), Message::assistant("so")]);
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({
                "messages": [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so"}],
                "schema": null, "max_tokens": null, "repeat": 1,
            })
        );
    }
}

//! A model's reply, whichever protocol brought it.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::tokens;
use crate::traffic::{AttemptError, Delivered};
use evals_models::{
    ChatError, ChatReply, ChatRequest, Finish, ModelIdentity, Served, ToolCall, Usage,
};

/// How a reply was obtained, before the traffic adds how long it took.
pub(crate) const DIRECT: Served = Served {
    service_time: Duration::ZERO,
    attempts: 1,
    cached: false,
    batched: false,
};

/// An empty reply, whose budget ran out before its first word.
pub(crate) fn out_of_budget(budget: Option<u32>, request: &ChatRequest) -> ChatReply {
    let counted = (None, budget.map(u64::from));
    ChatReply {
        text: String::new(),
        tool_calls: Vec::new(),
        reasoning: None,
        finish: Finish::Length,
        usage: usage(counted, request, "", None),
        served: DIRECT,
    }
}

/// Whether the model replied at all. When it did not, servers send an empty reply without a reason, or with one such as `abort` or
/// `load`.
pub(crate) fn is_reply(reply: &ChatReply) -> bool {
    if !reply.tool_calls.is_empty() {
        return true;
    }
    let empty = reply.text.is_empty() && reply.reasoning.is_none();
    match &reply.finish {
        Finish::Other(reason) if ["abort", "load", "unload"].contains(&reason.as_str()) => false,
        Finish::Length | Finish::ContentFilter => true,
        Finish::Stop => !(empty && reply.usage.output_tokens == 0),
        Finish::Unknown | Finish::Other(_) => !empty,
    }
}

/// The same reply with its texts passed through `redact`. Nothing of a reply is used before that.
pub(crate) fn redacted(mut reply: ChatReply, redact: impl Fn(&str) -> String) -> ChatReply {
    for call in &mut reply.tool_calls {
        for text in [&mut call.id, &mut call.name, &mut call.arguments] {
            *text = redact(text);
        }
    }
    if let Finish::Other(reason) = &mut reply.finish {
        *reason = redact(reason);
    }
    ChatReply {
        text: redact(&reply.text),
        reasoning: reply.reasoning.as_deref().map(redact),
        ..reply
    }
}

/// The result of a call, with the time and the attempts that it took.
pub(crate) fn finished(
    model: &ModelIdentity,
    delivered: Result<Delivered<ChatReply>, AttemptError>,
) -> Result<ChatReply, ChatError> {
    let delivered = delivered.map_err(|error| chat_error(model, error))?;
    let served = Served {
        service_time: delivered.service_time,
        attempts: delivered.attempts,
        ..DIRECT
    };
    Ok(ChatReply {
        served,
        ..delivered.value
    })
}

/// The failure of a call, after all its attempts.
pub(crate) fn chat_error(model: &ModelIdentity, error: AttemptError) -> ChatError {
    ChatError {
        model: model.clone(),
        failure: error.failure,
        source: Box::new(error.source),
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
    texts(request)
        .iter()
        .map(|text| tokens::estimate(text))
        .sum()
}

/// The texts of a request that the model reads: messages, calls of tools, and the tools themselves.
pub(crate) fn texts(request: &ChatRequest) -> Vec<Cow<'_, str>> {
    let mut texts = Vec::new();
    for message in &request.messages {
        texts.push(Cow::Borrowed(message.content.as_str()));
        for call in &message.tool_calls {
            texts.push(Cow::Owned(format!("{} {}", call.name, call.arguments)));
        }
    }
    for tool in &request.tools {
        let text = format!("{} {} {}", tool.name, tool.description, tool.parameters);
        texts.push(Cow::Owned(text));
    }
    texts
}

/// The calls in a reply, as OpenAI's protocol and Ollama's write them. Servers that give no ids get `call_1`, `call_2`, ….
///
/// `before` calls were made earlier in the conversation. A call without a name is left out.
pub(crate) fn tool_calls(written: &Value, before: usize) -> Vec<ToolCall> {
    let written = written.as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = written.iter().filter_map(|call| {
        let function = call.get("function")?;
        let arguments = function
            .get("arguments")
            .or_else(|| function.get("parameters"));
        Some((
            call.get("id").and_then(Value::as_str).unwrap_or_default(),
            function.get("name")?.as_str()?,
            match arguments {
                None | Some(Value::Null) => "{}".to_owned(),
                Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
        ))
    });
    let numbered = calls.zip(before + 1..);
    numbered
        .map(|((id, name, arguments), number)| ToolCall {
            id: if id.is_empty() {
                format!("call_{number}")
            } else {
                id.to_owned()
            },
            name: name.to_owned(),
            arguments,
        })
        .collect()
}

/// The number of calls in a conversation so far.
pub(crate) fn calls_so_far(request: &ChatRequest) -> usize {
    request
        .messages
        .iter()
        .map(|message| message.tool_calls.len())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_in_every_shape() {
        let written = json!([
            {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"x\"}"}},
            {"function": {"name": "search", "arguments": {"q": "y"}}},
            {"id": "", "function": {"name": "search", "arguments": "{broken"}},
            {"id": "d", "function": {"name": "now", "arguments": ""}},
            {"id": "e", "function": {"arguments": "{}"}},
            "nonsense",
        ]);
        let calls = tool_calls(&written, 4);
        let shown: Vec<String> = calls
            .iter()
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect();
        assert_eq!(
            shown,
            [
                "a search {\"q\": \"x\"}",
                "call_6 search {\"q\":\"y\"}",
                "call_7 search {broken",
                "d now {}"
            ]
        );
        assert_eq!(tool_calls(&Value::Null, 0), []);
    }
}

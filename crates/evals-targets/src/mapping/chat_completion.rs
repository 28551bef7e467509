//! Chat completions of OpenAI's protocol.

use serde_json::Value;

use super::{MappingError, fields, kind};
use crate::Reply;

/// What a model wrote, whole or joined from the pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct WrittenCompletion {
    /// The text; `None` if there was no field for it.
    pub(super) text: Option<String>,
    /// Why the model declined, in its words.
    pub(super) refusal: Option<String>,
    /// Why it stopped, such as `stop` or `length`.
    pub(super) finish_reason: Option<String>,
}

/// Reads a chat completion. `None` where the reply is none.
pub(super) fn read(reply: &Value) -> Option<Result<Reply, MappingError>> {
    let choice = reply.get("choices")?.get(0)?;
    let message = choice.get("message")?;
    message.is_object().then(|| {
        let read = completion(reply, choice, message);
        read.map_err(|problem| MappingError::new(problem, reply))
    })
}

fn completion(whole: &Value, choice: &Value, message: &Value) -> Result<Reply, String> {
    let tool_calls = match message.get("tool_calls") {
        None | Some(Value::Null) => None,
        Some(Value::Array(calls)) => Some(fields::tool_calls(
            "`choices[0].message.tool_calls`",
            &calls.iter().collect::<Vec<_>>(),
        )?),
        Some(_) => return Err("`choices[0].message.tool_calls` is not a list".to_owned()),
    };
    let usage = whole.get("usage").filter(|usage| !usage.is_null());
    let usage = usage
        .map(|usage| fields::usage("`usage`", usage))
        .transpose();
    let reply = Reply {
        usage: usage?.flatten(),
        model: whole
            .get("model")
            .and_then(Value::as_str)
            .map(str::to_owned),
        tool_calls,
        ..Reply::default()
    };
    WrittenCompletion::of(choice, message)?.into_reply(reply)
}

impl WrittenCompletion {
    fn of(choice: &Value, message: &Value) -> Result<Self, String> {
        let content = message.get("content").unwrap_or(&Value::Null);
        let text = match content {
            Value::Null => None,
            Value::String(_) | Value::Array(_) => Some(joined(content, "text")),
            other => {
                let kind = kind(other);
                return Err(format!(
                    "`choices[0].message.content` is {kind}, not a text"
                ));
            }
        };
        // Newer servers send it as a part of the content.
        let refusal = match message.get("refusal") {
            Some(Value::String(refusal)) => refusal.clone(),
            _ => joined(content, "refusal"),
        };
        let finish_reason = choice.get("finish_reason").and_then(Value::as_str);
        Ok(Self {
            text,
            refusal: Some(refusal).filter(|refusal| !refusal.is_empty()),
            finish_reason: finish_reason.map(str::to_owned),
        })
    }

    /// Whether nothing is known of it, so that the reply has another form.
    pub(super) fn is_nothing(&self) -> bool {
        let is_cut = self.finish_reason.as_deref().is_some_and(is_cut);
        self.text.is_none() && self.refusal.is_none() && !is_cut
    }

    /// Adds answer and refusal to what else is known of a reply.
    ///
    /// # Errors
    ///
    /// Nothing was written because the model had no tokens left, or because its provider withheld the text.
    pub(super) fn into_reply(self, mut reply: Reply) -> Result<Reply, String> {
        let text = self.text.filter(|text| {
            // A model that declines leaves the text out, or empty.
            !text.is_empty() || self.refusal.is_none()
        });
        let is_refused = self.refusal.is_some();
        let answer = text.or(self.refusal);
        if let Some(reason) = self.finish_reason.filter(|reason| is_cut(reason)) {
            let has_more = reply.documents.is_some() || reply.tool_calls.is_some();
            if answer.as_ref().is_none_or(String::is_empty) && !has_more {
                let why = match reason.as_str() {
                    "length" => "the model had no tokens left",
                    _ => "its provider withheld the text",
                };
                return Err(format!(
                    "the completion has no text: {why} (`finish_reason` is `{reason}`)"
                ));
            }
            let key = "finish_reason".to_owned();
            reply.attributes.insert(key, reason.into());
        }
        if is_refused {
            reply.refused = Some(true);
        }
        reply.answer = answer.map(Value::String);
        Ok(reply)
    }
}

/// Whether a model that stopped for this reason wrote less than it would have.
fn is_cut(finish_reason: &str) -> bool {
    matches!(finish_reason, "length" | "content_filter")
}

/// A text, or the texts of a list of parts, joined. The text of a part is its field `name`; a part may be a text itself.
fn joined(content: &Value, name: &str) -> String {
    match content {
        Value::String(text) if name == "text" => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) if name == "text" => Some(text.as_str()),
                part => part.get(name)?.as_str(),
            });
            texts.collect()
        }
        _ => String::new(),
    }
}

//! Chat completions of OpenAI's protocol.

use serde_json::Value;

use super::error::MappingError;
use super::fields;
use crate::Reply;

/// Reads a chat completion. `None` where the reply is none.
pub(super) fn read(reply: &Value) -> Option<Result<Reply, MappingError>> {
    let message = reply.get("choices")?.get(0)?.get("message")?;
    message.is_object().then(|| completion(reply, message))
}

fn completion(whole: &Value, message: &Value) -> Result<Reply, MappingError> {
    let problem = |problem: String| MappingError::new(problem, whole);
    let content = text(message.get("content"));
    let refusal = text(message.get("refusal"));
    let tool_calls = match message.get("tool_calls") {
        None | Some(Value::Null) => None,
        Some(Value::Array(calls)) => Some(
            fields::tool_calls(
                "`choices[0].message.tool_calls`",
                &calls.iter().collect::<Vec<_>>(),
            )
            .map_err(problem)?,
        ),
        Some(_) => {
            return Err(problem(
                "`choices[0].message.tool_calls` is not a list".to_owned(),
            ));
        }
    };
    let usage = whole.get("usage").filter(|usage| !usage.is_null());
    let usage = usage
        .map(|usage| fields::usage("`usage`", usage))
        .transpose();
    Ok(Reply {
        refused: refusal.is_some().then_some(true),
        answer: content.or(refusal).map(Value::String),
        usage: usage.map_err(problem)?.flatten(),
        model: whole
            .get("model")
            .and_then(Value::as_str)
            .map(str::to_owned),
        tool_calls,
        ..Reply::default()
    })
}

/// A text, or the texts of a list of parts joined.
fn text(content: Option<&Value>) -> Option<String> {
    match content? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}

//! Replies of `/api/chat`, whole or streamed.

use serde::Deserialize;
use serde_json::Value;

use crate::chat::{raw_reply, reasoning};
use evals_models::{ChatReply, ChatRequest};

/// One object of an answer. A streamed answer has many.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    message: PartMessage,
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

/// The message of one object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Vec<Value>,
}

/// A complete reply.
#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) raw: ChatReply,
    /// How many tokens of the prompt the server read, where it says so.
    pub(super) read: Option<u64>,
    /// How many tokens it wrote, where it says so.
    pub(super) written: Option<u64>,
}

/// Why a body is not a reply.
#[derive(Debug)]
pub(super) enum Unread {
    /// It holds an error: the object around it.
    Refused(Value),
    /// It is not what Ollama sends, or ends too early.
    Malformed(Option<serde_json::Error>),
}

/// Reads a body: one object, or one for each piece where the server streams despite `stream: false`.
pub(super) fn parse(body: &[u8], request: &ChatRequest) -> Result<Reply, Unread> {
    let mut whole = Part::default();
    for part in serde_json::Deserializer::from_slice(body).into_iter::<Value>() {
        let part = part.map_err(|error| Unread::Malformed(Some(error)))?;
        if part.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Unread::Refused(part));
        }
        let part: Part =
            serde_json::from_value(part).map_err(|error| Unread::Malformed(Some(error)))?;
        whole.append(part);
    }
    if !whole.done {
        return Err(Unread::Malformed(None));
    }
    Ok(whole.reply(request))
}

impl Part {
    fn append(&mut self, next: Self) {
        append(&mut self.message.content, next.message.content);
        append(&mut self.message.thinking, next.message.thinking);
        self.message.tool_calls.extend(next.message.tool_calls);
        self.done |= next.done;
        self.done_reason = next.done_reason.or(self.done_reason.take());
        self.prompt_eval_count = next.prompt_eval_count.or(self.prompt_eval_count);
        self.eval_count = next.eval_count.or(self.eval_count);
    }

    fn reply(self, request: &ChatRequest) -> Reply {
        let content = self.message.content.unwrap_or_default();
        let (text, inline) = reasoning::split(&content);
        let reasoning = reasoning::join(self.message.thinking, inline);
        let counted = (self.prompt_eval_count, self.eval_count);
        Reply {
            read: self.prompt_eval_count,
            written: self.eval_count,
            raw: ChatReply {
                usage: raw_reply::usage(counted, request, &text, reasoning.as_deref()),
                finish: raw_reply::finish(self.done_reason.as_deref()),
                tool_calls: raw_reply::tool_calls(
                    &Value::Array(self.message.tool_calls),
                    raw_reply::calls_so_far(request),
                ),
                text,
                reasoning,
                served: raw_reply::DIRECT,
            },
        }
    }
}

fn append(text: &mut Option<String>, next: Option<String>) {
    if let Some(next) = next {
        text.get_or_insert_default().push_str(&next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evals_models::{Finish, Message};

    fn read(body: &str) -> Result<Reply, Unread> {
        parse(
            body.as_bytes(),
            &ChatRequest::new(vec![Message::user("12345678")]),
        )
    }

    #[test]
    fn reads_a_whole_reply() {
        let reply = read(
            r#"{"model":"qwen3","message":{"role":"assistant","content":"Paris","thinking":"France?"},
                "done":true,"done_reason":"length","prompt_eval_count":11,"eval_count":4}"#,
        );
        let reply = reply.unwrap();
        assert_eq!(reply.raw.text, "Paris");
        assert_eq!(reply.raw.reasoning.as_deref(), Some("France?"));
        assert_eq!(reply.raw.finish, Finish::Length);
        assert_eq!(reply.read, Some(11));
        assert!(!reply.raw.usage.estimated);
    }

    #[test]
    fn pieces_become_a_reply() {
        let reply = read(
            "{\"message\":{\"content\":\"Pa\"},\"done\":false}\n{\"message\":{\"content\":\"ris\"},\"done\":false}\n\
             {\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":2}\n",
        );
        let reply = reply.unwrap();
        assert_eq!(reply.raw.text, "Paris");
        assert_eq!(reply.raw.finish, Finish::Stop);
        assert_eq!(reply.read, None);
        assert_eq!(
            (reply.raw.usage.input_tokens, reply.raw.usage.output_tokens),
            (2, 2)
        );
        assert!(reply.raw.usage.estimated);
    }

    #[test]
    fn calls_come_without_text_and_without_ids() {
        let reply = read(
            "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"search\",\"arguments\":{\"query\":\"x\"}}}]},\"done\":false}\n\
             {\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"search\",\"arguments\":{\"query\":\"y\"}}}]},\"done\":true,\"done_reason\":\"stop\"}",
        );
        let calls = reply.unwrap().raw.tool_calls;
        let shown: Vec<_> = calls
            .iter()
            .map(|call| (call.id.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("call_1", "{\"query\":\"x\"}"),
                ("call_2", "{\"query\":\"y\"}")
            ]
        );
    }

    #[test]
    fn what_is_not_done_is_no_reply() {
        for body in [
            "",
            "{}",
            r#"{"message":{"content":"Pa"},"done":false}"#,
            r#"{"message":{"content":"Pa"#,
        ] {
            assert!(matches!(read(body), Err(Unread::Malformed(_))), "{body}");
        }
    }

    #[test]
    fn an_error_in_the_middle_is_no_reply() {
        let body = "{\"message\":{\"content\":\"Pa\"},\"done\":false}\n{\"error\":\"llama runner terminated\"}";
        assert!(matches!(read(body), Err(Unread::Refused(_))));
    }
}

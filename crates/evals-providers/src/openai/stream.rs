//! Replies that a server streams despite `stream: false`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::reply::{self, Choice, Completion};

/// The result of a streamed body.
#[derive(Debug)]
pub(super) enum Streamed {
    /// A whole reply.
    Reply(Completion),
    /// An error, in place of the reply or after a part of it: the event that holds it.
    Refused(Value),
    /// A reply whose end did not arrive.
    Cut,
}

/// Puts the events of a stream together. `None` where the body is not a stream.
pub(super) fn assemble(body: &str) -> Option<Streamed> {
    let mut events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut events = events.by_ref().map(str::trim).peekable();
    events.peek()?;
    let mut pieces = Pieces::default();
    for event in events {
        if event == "[DONE]" {
            pieces.ended = true;
            continue;
        }
        let Ok(event) = serde_json::from_str::<Value>(event) else {
            return Some(Streamed::Cut);
        };
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Some(Streamed::Refused(event));
        }
        pieces.add(&event);
    }
    Some(pieces.whole())
}

/// The parts that arrived so far.
#[derive(Default)]
struct Pieces {
    content: String,
    reasoning: String,
    refusal: String,
    /// By their index in the reply.
    tool_calls: BTreeMap<u64, ToolCallPieces>,
    finish_reason: Value,
    usage: Value,
    ended: bool,
}

impl Pieces {
    fn add(&mut self, event: &Value) {
        let delta = |field: &str| event.pointer(&format!("/choices/0/delta/{field}"));
        let piece = |field: &str| delta(field).map(reply::text).unwrap_or_default();
        self.content += &piece("content");
        self.refusal += &piece("refusal");
        let reasoning = piece("reasoning_content");
        self.reasoning += &if reasoning.is_empty() {
            piece("reasoning")
        } else {
            reasoning
        };
        let calls = delta("tool_calls").and_then(Value::as_array);
        for (position, call) in (0..).zip(calls.into_iter().flatten()) {
            let index = call
                .get("index")
                .and_then(Value::as_u64)
                .unwrap_or(position);
            self.tool_calls.entry(index).or_default().add(call);
        }
        if let Some(reason) = event.pointer("/choices/0/finish_reason")
            && !reason.is_null()
        {
            self.finish_reason = reason.clone();
            self.ended = true;
        }
        if let Some(usage) = event.get("usage")
            && usage.is_object()
        {
            self.usage = usage.clone();
        }
    }

    fn whole(self) -> Streamed {
        if !self.ended {
            return Streamed::Cut;
        }
        let mut choice = Choice {
            finish_reason: self.finish_reason,
            ..Choice::default()
        };
        choice.message.content = self.content.into();
        choice.message.refusal = self.refusal.into();
        choice.message.reasoning = self.reasoning.into();
        choice.message.tool_calls = self
            .tool_calls
            .into_values()
            .map(ToolCallPieces::whole)
            .collect();
        Streamed::Reply(Completion {
            choices: vec![choice],
            usage: self.usage,
        })
    }
}

/// The parts of one call of a tool.
#[derive(Default)]
struct ToolCallPieces {
    id: String,
    name: String,
    arguments: String,
}

impl ToolCallPieces {
    fn add(&mut self, call: &Value) {
        let piece = |pointer: &str| {
            call.pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        self.id += piece("/id");
        self.name += piece("/function/name");
        self.arguments += piece("/function/arguments");
    }

    fn whole(self) -> Value {
        json!({"id": self.id, "function": {"name": self.name, "arguments": self.arguments}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evals_models::{ChatRequest, Finish};

    #[test]
    fn pieces_become_a_reply() {
        let body = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning\":\"Fra\"}}]}\n\n\
                    : keep-alive\n\n\
                    data: {\"choices\":[{\"delta\":{\"reasoning\":\"nce?\",\"content\":\"Pa\"}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"ris\"},\"finish_reason\":\"length\"}]}\n\n\
                    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n\
                    data: [DONE]\n\n";
        let Some(Streamed::Reply(completion)) = assemble(body) else {
            panic!("not a reply")
        };
        let reply = completion.reply(&ChatRequest::new(Vec::new())).unwrap();
        assert_eq!(reply.text, "Paris");
        assert_eq!(reply.reasoning.as_deref(), Some("France?"));
        assert_eq!(reply.finish, Finish::Length);
        assert_eq!(
            (reply.usage.input_tokens, reply.usage.output_tokens),
            (3, 2)
        );
        assert!(!reply.usage.estimated);
    }

    #[test]
    fn pieces_of_calls_become_calls() {
        let body = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"search\",\"arguments\":\"\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"q\\\":\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"search\",\"arguments\":\"{}\"}},{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
        let Some(Streamed::Reply(completion)) = assemble(body) else {
            panic!("not a reply")
        };
        let reply = completion.reply(&ChatRequest::new(Vec::new())).unwrap();
        let calls: Vec<_> = reply
            .tool_calls
            .iter()
            .map(|call| (call.id.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(calls, [("a", "{\"q\":1}"), ("b", "{}")]);
    }

    #[test]
    fn a_stream_without_its_end_is_cut() {
        for body in [
            "data: {\"choices\":[{\"delta\":{\"content\":\"Pa\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"con",
        ] {
            assert!(matches!(assemble(body), Some(Streamed::Cut)), "{body}");
        }
    }

    #[test]
    fn an_error_in_the_middle_is_no_reply() {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Pa\"}}]}\n\ndata: {\"error\":{\"code\":502}}\n\n";
        assert!(matches!(assemble(body), Some(Streamed::Refused(_))));
    }

    #[test]
    fn other_bodies_are_no_streams() {
        assert!(assemble("<html>data: {}</html>").is_none());
        assert!(assemble("").is_none());
    }
}

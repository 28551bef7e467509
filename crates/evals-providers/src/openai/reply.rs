//! Replies of servers that each read `OpenAI`'s protocol in their own way.

use serde::Deserialize;
use serde_json::Value;

use crate::chat::{raw_reply, reasoning};
use evals_models::{ChatReply, ChatRequest};

/// The server's answer. Any field may be missing, because servers differ in what they send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Completion {
    pub(super) choices: Vec<Choice>,
    pub(super) usage: Value,
}

/// One of the replies. Requests ask for one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) message: ChoiceMessage,
    pub(super) finish_reason: Value,
}

/// The fields that servers put a reply into.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChoiceMessage {
    pub(super) content: Value,
    pub(super) refusal: Value,
    /// `DeepSeek`, vLLM, llama.cpp.
    pub(super) reasoning_content: Value,
    /// `OpenRouter`, Groq, newer vLLM.
    pub(super) reasoning: Value,
    pub(super) tool_calls: Value,
}

impl Completion {
    /// The reply, with its reasoning apart and its tokens counted. `None` where there is no text, not even an empty one.
    pub(super) fn reply(&self, request: &ChatRequest) -> Option<ChatReply> {
        let choice = self.choices.first()?;
        let message = &choice.message;
        let written = Some(text(&message.content)).filter(|text| !text.is_empty());
        let written = written.unwrap_or_else(|| text(&message.refusal));
        let apart = [
            text(&message.reasoning_content),
            text(&message.reasoning),
            thinking(&message.content),
        ];
        let apart = apart.into_iter().find(|thought| !thought.is_empty());
        let (text, inline) = reasoning::split(&written);
        let reasoning = reasoning::join(apart, inline);
        let count = |names: [&str; 2]| names.iter().find_map(|name| self.usage.get(name)?.as_u64());
        let read = count(["prompt_tokens", "input_tokens"]);
        let written = count(["completion_tokens", "output_tokens"]);
        // Gemini counts reasoning in the total alone.
        let total = count(["total_tokens", "total_tokens"]);
        let rest = read
            .zip(total)
            .map(|(read, total)| total.saturating_sub(read));
        let counted = (read, written.map(|written| written.max(rest.unwrap_or(0))));
        Some(ChatReply {
            usage: raw_reply::usage(counted, request, &text, reasoning.as_deref()),
            finish: raw_reply::finish(choice.finish_reason.as_str()),
            tool_calls: raw_reply::tool_calls(
                &message.tool_calls,
                raw_reply::calls_so_far(request),
            ),
            text,
            reasoning,
            served: raw_reply::DIRECT,
        })
    }
}

/// The text of a field: a string, nothing, or a list of parts of which some are text.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(part) => part.get("text").map(text).unwrap_or_default(),
        _ => String::new(),
    }
}

/// The parts of a list that are marked as thinking, as Mistral sends them.
fn thinking(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    parts
        .filter_map(|part| part.get("thinking"))
        .map(text)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use evals_models::{Finish, Message, Usage};

    fn read(reply: Value) -> ChatReply {
        let request = ChatRequest::new(vec![Message::user("12345678")]);
        let completion: Completion = serde_json::from_value(reply).unwrap();
        completion.reply(&request).unwrap()
    }

    #[test]
    fn reads_content_in_every_shape() {
        let cases = [
            (json!("Paris"), "Paris"),
            (json!(null), ""),
            (json!([{"type": "text", "text": "Pa"}, "ris"]), "Paris"),
            (json!([{"type": "image_url", "image_url": {}}]), ""),
            (json!({"text": "Paris"}), "Paris"),
        ];
        for (content, expected) in cases {
            let reply = json!({"choices": [{"message": {"content": content}}]});
            assert_eq!(read(reply).text, expected);
        }
    }

    #[test]
    fn reasoning_is_found_wherever_it_is() {
        let messages = [
            json!({"content": "Paris", "reasoning_content": "France?"}),
            json!({"content": "Paris", "reasoning": "France?", "reasoning_content": null}),
            json!({"content": "<think>France?</think>Paris"}),
            json!({"content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "France?"}]},
                {"type": "text", "text": "Paris"},
            ]}),
        ];
        for message in messages {
            let reply = read(json!({"choices": [{"message": message}]}));
            assert_eq!(reply.text, "Paris");
            assert_eq!(reply.reasoning.as_deref(), Some("France?"));
        }
    }

    #[test]
    fn a_refusal_is_the_reply() {
        let message = json!({"content": null, "refusal": "I cannot help with that."});
        let reply = read(json!({"choices": [{"message": message, "finish_reason": "stop"}]}));
        assert_eq!(reply.text, "I cannot help with that.");
    }

    #[test]
    fn finish_reasons_may_be_anything() {
        let cases = [
            (json!("stop"), Finish::Stop),
            (json!("eos_token"), Finish::Stop),
            (json!("length"), Finish::Length),
            (json!("content_filter"), Finish::ContentFilter),
            (json!(null), Finish::Unknown),
            (json!(7), Finish::Unknown),
            (json!("abort"), Finish::Other("abort".to_owned())),
        ];
        for (reason, expected) in cases {
            let reply = json!({"choices": [{"message": {}, "finish_reason": reason}]});
            assert_eq!(read(reply).finish, expected);
        }
    }

    #[test]
    fn missing_counts_are_estimated_and_marked() {
        let choices = json!([{"message": {"content": "<think>abcd</think>efghi"}}]);
        let usage = |usage| read(json!({"choices": choices, "usage": usage})).usage;
        let counted = |input_tokens, output_tokens, estimated| Usage {
            input_tokens,
            output_tokens,
            estimated,
        };
        assert_eq!(usage(json!(null)), counted(2, 3, true));
        assert_eq!(
            usage(json!({"prompt_tokens": null, "completion_tokens": 9})),
            counted(2, 9, true)
        );
        assert_eq!(
            usage(json!({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 44})),
            counted(5, 39, false),
            "reasoning that only the sum has is paid for too"
        );
        assert_eq!(
            usage(json!({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 9})),
            counted(5, 9, false)
        );
        assert_eq!(
            usage(json!({"prompt_tokens": 5, "completion_tokens": 9})),
            counted(5, 9, false)
        );
    }

    #[test]
    fn no_choice_is_no_reply() {
        let request = ChatRequest::new(Vec::new());
        for reply in [json!({}), json!({"choices": []})] {
            let completion: Completion = serde_json::from_value(reply).unwrap();
            assert_eq!(completion.reply(&request), None);
        }
    }
}

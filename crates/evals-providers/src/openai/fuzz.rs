//! Fuzzes the reader of streams: a reply has the content of its events, or there is no reply.

use evals_fuzz::Target;
use serde_json::Value;

use super::stream::{Streamed, assemble};
use evals_models::ChatRequest;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// The texts of the events, as far as they are plain ones.
fn contents(body: &str) -> Option<String> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = data.map(str::trim).filter(|event| *event != "[DONE]");
    let pieces = events.map(|event| {
        let event: Value = serde_json::from_str(event).ok()?;
        match event.pointer("/choices/0/delta/content") {
            None | Some(Value::Null) => Some(String::new()),
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => None,
        }
    });
    pieces.collect()
}

#[test]
fn a_stream_that_is_whole_says_what_its_events_say() {
    Target::new("stream", CORPUS)
        .seed(
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning\":\"Fra\"}}]}\n\n: keep-alive\n\n\
             data: {\"choices\":[{\"delta\":{\"reasoning\":\"nce?\",\"content\":\"Pa\"}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"content\":\"ris\"},\"finish_reason\":\"length\"}]}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: [DONE]\n\n",
        )
        .seed("data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":\"a\"},\"b\"]}}]}\r\n\r\ndata: {\"error\":{\"code\":502}}\r\n")
        .dictionary([
            "data:", "data: [DONE]\n", "\n\n", "\r\n", "\r", "null", "[", "{\"a\":", "1e999", "-1", "18446744073709551615",
            "\"finish_reason\":\"stop\"", "\\ud83d", "<think>", "</think>", "\"error\":{}", "\"content\":",
        ])
        .run(|input| {
            let body = String::from_utf8_lossy(input);
            let streamed = assemble(&body);
            let has_events = body.lines().any(|line| line.starts_with("data:"));
            assert_eq!(streamed.is_some(), has_events);
            let Some(Streamed::Reply(completion)) = streamed else {
                return;
            };
            assert!(body.contains("[DONE]") || body.contains("finish_reason"), "it has an end");
            let reply = completion.reply(&ChatRequest::new(Vec::new())).unwrap();
            if let Some(contents) = contents(&body).filter(|text| !text.is_empty()) {
                assert!(contents.ends_with(&reply.text), "{reply:?}");
                assert!(reply.reasoning.is_some() || contents == reply.text, "{reply:?}");
            }
        });
}

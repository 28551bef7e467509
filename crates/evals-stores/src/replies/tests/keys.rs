//! The key of a reply.

use std::num::NonZeroU32;

use super::Scripted;
use crate::replies::*;
use evals_models::{Message, ReplySchema, Tool, ToolCall};

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("Größe?")],
        tools: Vec::new(),
        schema: Some(ReplySchema {
            name: "verdict".to_owned(),
            schema: json!({"type": "object", "required": ["pass"]}),
        }),
        max_tokens: NonZeroU32::new(256),
        repeat: 1,
    }
}

fn search() -> Tool {
    Tool {
        name: "search".to_owned(),
        description: "Searches.".to_owned(),
        parameters: json!({"type": "object"}),
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: "call_1".to_owned(),
        name: "search".to_owned(),
        arguments: "{}".to_owned(),
    }
}

#[test]
fn equals_the_digest_computed_in_python() {
    // Python 3: hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).
    let model = Scripted::answering("x");
    assert_eq!(
        reply_key(&model, &request()).to_string(),
        "88e13f479b086aadf01b88d7b8b7fd80a7f7d99e6da39c79a440e43d412b038c"
    );
}

#[test]
fn the_order_of_names_does_not_matter_but_the_order_of_lists_does() {
    let key = |text| canonical(&serde_json::from_str(text).unwrap());
    assert_eq!(
        key(r#"{"b": [{"y": 1, "x": 2}], "a": null}"#),
        key(r#"{"a": null, "b": [{"x": 2, "y": 1}]}"#)
    );
    assert_ne!(key("[1, 2]"), key("[2, 1]"));
}

#[test]
fn a_key_depends_on_everything_that_a_reply_depends_on() {
    let model = Scripted::answering("x");
    let other_model = Scripted::answering("x").with_parameter("temperature", json!(0.5));
    let mut keys = vec![
        reply_key(&model, &request()),
        reply_key(&other_model, &request()),
    ];
    let changes: [fn(&mut ChatRequest); 8] = [
        |request| request.repeat = 2,
        |request| request.max_tokens = NonZeroU32::new(512),
        |request| request.max_tokens = None,
        |request| request.schema = None,
        |request| request.messages.truncate(1),
        |request| request.messages[0].content.push(' '),
        |request| request.tools.push(search()),
        |request| request.messages[1].tool_calls.push(call()),
    ];
    for change in changes {
        let mut request = request();
        change(&mut request);
        keys.push(reply_key(&model, &request));
    }
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

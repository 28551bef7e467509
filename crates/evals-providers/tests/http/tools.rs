//! Models that call tools, over both protocols.

use evals_models::{ChatModel, ChatRequest, Message, Tool, ToolCall};
use serde_json::{Value, json};

use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{ollama, openai};

fn search() -> Tool {
    Tool {
        name: "search".to_owned(),
        description: "Searches.".to_owned(),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
    }
}

/// A conversation in which the model called a tool twice at once, once with malformed arguments.
fn conversation() -> ChatRequest {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "search".to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = vec![call("a", "{\"query\": \"x\"}"), call("b", "{broken")];
    let results = [
        Message::tool_result(&calls[0], "found"),
        Message::tool_result(&calls[1], "not JSON"),
    ];
    let mut messages = vec![Message::user("why?"), Message::calling("", calls)];
    messages.extend(results);
    ChatRequest {
        tools: vec![search()],
        ..ChatRequest::new(messages)
    }
}

fn wanted() -> Value {
    json!([{"type": "function", "function": {
        "name": "search", "description": "Searches.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    }}])
}

#[tokio::test]
async fn openais_protocol_carries_tools_calls_and_results() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"y\"}"}},
        {"id": "d", "type": "function", "function": {"name": "other", "arguments": "{"}},
    ]});
    let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let scripted = ScriptedServer::start(move |_, _| Reaction::json(200, &body));
    let reply = openai(&scripted, 1).chat(&conversation()).await.unwrap();
    assert_eq!(reply.text, "");
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.name.as_str(),
                call.arguments.as_str(),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [("c", "search", "{\"query\": \"y\"}"), ("d", "other", "{")]
    );
    let sent = &scripted.received()[0].body;
    assert_eq!(sent["tools"], wanted());
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "why?"},
            {"role": "assistant", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"x\"}"}},
                {"id": "b", "type": "function", "function": {"name": "search", "arguments": "{broken"}},
            ]},
            {"role": "tool", "content": "found", "tool_call_id": "a"},
            {"role": "tool", "content": "not JSON", "tool_call_id": "b"},
        ])
    );
}

#[tokio::test]
async fn ollama_carries_tools_calls_and_results() {
    let scripted = ScriptedServer::start(|request, _| {
        if !request.path.ends_with("/api/chat") {
            return Reaction::Sound;
        }
        let message = json!({"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "search", "arguments": {"query": "y"}}},
        ]});
        Reaction::json(
            200,
            &json!({"message": message, "done": true, "done_reason": "stop"}),
        )
    });
    let reply = ollama(&scripted, 1)
        .await
        .chat(&conversation())
        .await
        .unwrap();
    assert_eq!(
        reply.tool_calls[0].id, "call_3",
        "the conversation has two calls already"
    );
    assert_eq!(reply.tool_calls[0].arguments, "{\"query\":\"y\"}");
    let sent = &scripted.received_at("/api/chat")[0].body;
    assert_eq!(sent["tools"], wanted());
    let calls = &sent["messages"][1]["tool_calls"];
    assert_eq!(
        calls[0]["function"],
        json!({"name": "search", "arguments": {"query": "x"}})
    );
    assert_eq!(
        calls[1]["function"]["arguments"],
        json!({"malformed": "{broken"})
    );
    assert_eq!(sent["messages"][2]["role"], "tool");
    assert_eq!(sent["messages"][3]["content"], "not JSON");
}

#[tokio::test]
async fn a_request_without_tools_does_not_mention_them() {
    let scripted = ScriptedServer::saying("Paris");
    let request = ChatRequest::new(vec![Message::user("why?")]);
    openai(&scripted, 1).chat(&request).await.unwrap();
    ollama(&scripted, 1).await.chat(&request).await.unwrap();
    for received in scripted.received_at("chat") {
        assert_eq!(received.body.get("tools"), None);
    }
    let sent = &scripted.received_at("/chat/completions")[0].body;
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": "why?"}])
    );
}

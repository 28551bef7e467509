//! Many calls to a server that fails in every way at once.

use std::sync::Arc;
use std::time::Duration;

use evals_models::{ChatModel, ChatRequest, Message};
use evals_providers::OpenAiChat;

use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};
use crate::{chain, chat_settings, traffic};

const CALLS: usize = 300;

/// A fault for three of ten requests, spread by the request's hash; the same request fails at most five times in a row.
fn fault(request: &Received, before: usize) -> Option<Reaction> {
    let draw = request
        .hash()
        .rotate_left(u32::try_from(before).unwrap_or_default() * 11)
        % 100;
    let fault = match draw {
        _ if before >= 5 => return None,
        0..5 => Reaction::busy(Some("0")),
        5..10 => Reaction::body(500, "oops"),
        10..15 => Reaction::Reset,
        15..20 => Reaction::Close,
        20..25 => Reaction::body(200, "{\"choices\": [{\"mess"),
        25..30 => Reaction::body(502, "<html><title>Bad Gateway</title></html>"),
        _ => return None,
    };
    Some(fault)
}

#[tokio::test]
async fn every_call_succeeds_and_none_twice() {
    let scripted = ScriptedServer::start(|request, before| {
        fault(request, before).unwrap_or_else(|| {
            let question = request.body["messages"][0]["content"]
                .as_str()
                .unwrap_or_default();
            Reaction::Say(Saying {
                after: Duration::from_millis(1),
                ..Saying::of(question)
            })
        })
    });
    let settings = chat_settings(&scripted.openai_url());
    let model = Arc::new(OpenAiChat::new(settings, traffic(6)).unwrap());
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..CALLS {
        let model = model.clone();
        calls.spawn(async move {
            let question = format!("question {number}");
            let request = ChatRequest::new(vec![Message::user(&question)]);
            let reply = model.chat(&request).await;
            let reply = reply.unwrap_or_else(|error| panic!("{}", chain(&error)));
            assert_eq!(reply.text, question);
            reply.served.attempts
        });
    }
    let attempts: Vec<u32> = calls.join_all().await;
    let successes = scripted.successes();
    assert_eq!(successes.len(), CALLS);
    assert!(successes.values().all(|count| *count == 1));
    // Three of ten fail: the attempts are all there, and more than the calls.
    let attempts: usize = attempts
        .into_iter()
        .map(|it| usize::try_from(it).unwrap_or(0))
        .sum();
    assert_eq!(attempts, scripted.received().len());
    assert!(attempts > CALLS * 12 / 10, "{attempts}");
}

//! Every fault of the scripted server, and the error that it leads to.

use std::time::Duration;

use evals_models::{ChatError, ChatModel, ChatReply, Failure, Finish};
use evals_providers::OpenAiChat;
use serde_json::json;

use crate::scripted_server::{Reaction, Saying, ScriptedServer};
use crate::{chain, chat_settings, ollama, openai, question, server_with_key, traffic};

/// Answers the first request for a reply like this, and all others with `Paris`.
fn first(reaction: Reaction) -> ScriptedServer {
    ScriptedServer::start(move |request, before| {
        if request.path.contains("chat") && before == 0 {
            reaction.clone()
        } else {
            Reaction::say("Paris")
        }
    })
}

/// The result of a fault with both protocols, if it happens once and two attempts are allowed.
async fn once(reaction: Reaction) -> [Result<ChatReply, ChatError>; 2] {
    let scripted = [first(reaction.clone()), first(reaction)];
    [
        openai(&scripted[0], 2).chat(&question()).await,
        ollama(&scripted[1], 2).await.chat(&question()).await,
    ]
}

#[tokio::test]
async fn what_goes_away_is_tried_again() {
    let faults = [
        Reaction::busy(None),
        Reaction::busy(Some("0")),
        Reaction::busy(Some("-3")),
        Reaction::busy(Some("soon")),
        Reaction::busy(Some("Sun, 06 Nov 1994 08:49:37 GMT")),
        Reaction::json(500, &json!({"error": "internal"})),
        Reaction::body(502, "<html><head><title>Bad Gateway</title></head></html>"),
        Reaction::body(200, "<!DOCTYPE html><title>Sign in</title>"),
        Reaction::body(200, "{\"choices\": [{\"message\": {\"content\": \"Pa"),
        Reaction::body(200, ""),
        Reaction::json(200, &json!({"unexpected": true})),
        Reaction::json(200, &json!({"choices": [], "done": false})),
        // Servers send these when the model did not write anything.
        Reaction::json(200, &json!({"choices": [{}], "done": true, "message": {}})),
        Reaction::json(
            200,
            &json!({
                "choices": [{"message": {"content": null}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 0},
                "message": {"content": ""}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 9, "eval_count": 0,
            }),
        ),
        Reaction::Say(Saying {
            finish: Some("abort"),
            ..Saying::of("Par")
        }),
        Reaction::Say(Saying {
            finish: Some("load"),
            ..Saying::of("")
        }),
        Reaction::json(200, &json!({"error": {"code": 502, "message": "upstream"}})),
        Reaction::Reset,
        Reaction::Close,
    ];
    for fault in faults {
        let shown = format!("{fault:?}");
        for reply in once(fault).await {
            let reply = reply.unwrap_or_else(|error| panic!("{shown}: {}", chain(&error)));
            assert_eq!(
                (reply.text.as_str(), reply.served.attempts),
                ("Paris", 2),
                "{shown}"
            );
        }
    }
}

#[tokio::test]
async fn what_does_not_go_away_is_not_tried_again() {
    let quota = json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let too_long = json!({"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}});
    let faults = [
        (
            Reaction::json(429, &quota),
            Failure::Terminal,
            "; the account has no credit left: top it up, or set a different model",
        ),
        (
            Reaction::json(401, &json!({"error": {"message": "bad key"}})),
            Failure::Terminal,
            "answered 401: bad key; name the environment variable that holds a key in `api_key_env`",
        ),
        (
            Reaction::json(400, &too_long),
            Failure::Content,
            "answered 400: maximum context length is 10 tokens",
        ),
        (
            Reaction::json(
                200,
                &json!({"error": {"code": 402, "message": "no credits"}}),
            ),
            Failure::Terminal,
            "answered 402: no credits; the account has no credit left: top it up, or set a different model",
        ),
    ];
    for (fault, failure, message) in faults {
        for reply in once(fault).await {
            let error = reply.unwrap_err();
            assert_eq!(error.failure, failure);
            assert!(chain(&error).ends_with(message), "{}", chain(&error));
        }
    }
}

#[tokio::test]
async fn a_wrong_key_says_where_it_came_from() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(401, "no"));
    let mut settings = chat_settings(&scripted.openai_url());
    settings.server = server_with_key(&scripted.openai_url());
    let model = OpenAiChat::new(settings, traffic(2)).unwrap();
    let error = model.chat(&question()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        format!(
            "`openai:scripted` gave no answer: `{}` answered 401: no; check the key in `SCRIPTED_KEY`, which `api_key_env` names",
            scripted.openai_url()
        )
    );
    assert_eq!(scripted.received().len(), 1);
}

#[tokio::test]
async fn silence_and_dripping_end_with_the_timeout() {
    let drip = (0..100).map(|_| " ".to_owned()).collect();
    for fault in [
        Reaction::Hang,
        Reaction::Drip(drip, Duration::from_millis(50)),
    ] {
        let scripted = ScriptedServer::start(move |_, _| fault.clone());
        let mut settings = chat_settings(&scripted.openai_url());
        settings.server.timeout = Duration::from_millis(200);
        let model = OpenAiChat::new(settings, traffic(1)).unwrap();
        let error = model.chat(&question()).await.unwrap_err();
        assert_eq!(error.failure, Failure::Transient);
        let expected = format!(
            "`{}` did not answer within 0.2s (`timeout`)",
            scripted.openai_url()
        );
        assert!(chain(&error).ends_with(&expected), "{}", chain(&error));
    }
}

#[tokio::test]
async fn a_drip_that_arrives_in_time_is_a_reply() {
    let pieces = [
        "{\"choices\": [{\"message\":",
        " {\"content\": \"Pa",
        "ris\"}}]}",
    ];
    let pieces = pieces.map(str::to_owned).to_vec();
    let scripted =
        ScriptedServer::start(move |_, _| Reaction::Drip(pieces.clone(), Duration::from_millis(5)));
    let reply = openai(&scripted, 1).chat(&question()).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Paris", Finish::Unknown)
    );
}

#[tokio::test]
async fn nobody_listening_says_what_to_start() {
    let url = ScriptedServer::saying("gone").ollama_url();
    let model = OpenAiChat::new(chat_settings(&format!("{url}/v1")), traffic(2)).unwrap();
    let error = model.chat(&question()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    let message = chain(&error);
    let expected = format!("`{url}/v1` cannot be reached; start the server, or check `base_url`");
    assert!(message.contains(&expected), "{message}");
}

#[tokio::test]
async fn a_page_instead_of_a_reply_is_named() {
    let scripted =
        ScriptedServer::start(|_, _| Reaction::body(200, "<html><title>Sign in</title></html>"));
    let error = openai(&scripted, 1).chat(&question()).await.unwrap_err();
    let message = chain(&error);
    let expected =
        "answered with a web page titled `Sign in` (check `base_url`) instead of a chat completion";
    assert!(message.contains(expected), "{message}");
}

/// Replies that are no faults of the server: what is in them is for the caller to judge.
#[tokio::test]
async fn whatever_the_model_says_comes_back() {
    let replies = [
        (
            Saying::of("```json\n{\"pass\": true}\n```"),
            "```json\n{\"pass\": true}\n```",
            Finish::Stop,
        ),
        (
            Saying::of("{\"verdict\": \"yes\"}"),
            "{\"verdict\": \"yes\"}",
            Finish::Stop,
        ),
        (Saying::of(""), "", Finish::Stop),
        (
            Saying::of("<think>France?</think>\n\nParis"),
            "Paris",
            Finish::Stop,
        ),
        (
            Saying {
                finish: Some("length"),
                ..Saying::of("<think>France, I")
            },
            "",
            Finish::Length,
        ),
        (
            Saying {
                finish: None,
                ..Saying::of("Paris")
            },
            "Paris",
            Finish::Unknown,
        ),
        (
            Saying {
                reasoning: Some("France?".to_owned()),
                ..Saying::of("Paris")
            },
            "Paris",
            Finish::Stop,
        ),
    ];
    for (saying, text, finish) in replies {
        for reply in once(Reaction::Say(saying)).await {
            let reply = reply.unwrap();
            assert_eq!((reply.text.as_str(), &reply.finish), (text, &finish));
            assert_eq!(reply.served.attempts, 1);
        }
    }
}

#[tokio::test]
async fn missing_counts_are_estimated() {
    let saying = Saying {
        usage: None,
        ..Saying::of("Paris")
    };
    for reply in once(Reaction::Say(saying)).await {
        let usage = reply.unwrap().usage;
        // 19 and 30 characters are 5 and 8 tokens; `Paris` is 2.
        assert_eq!((usage.input_tokens, usage.output_tokens), (13, 2));
        assert!(usage.estimated);
    }
}

#[tokio::test]
async fn successful_calls_are_counted_once() {
    let scripted = first(Reaction::busy(Some("0")));
    openai(&scripted, 2).chat(&question()).await.unwrap();
    assert_eq!(scripted.received().len(), 2);
    assert_eq!(scripted.successes().into_values().collect::<Vec<_>>(), [1]);
}

//! Chat models in Ollama: the requests that they send, and how they read replies.

use std::num::NonZeroU32;

use evals_models::{ChatModel, ChatRequest, Failure, Finish, Message};
use evals_providers::{BaseUrl, ConnectError, OllamaChat, Think};
use serde_json::json;

use crate::scripted_server::{Reaction, Saying, ScriptedServer};
use crate::{KEY, chain, chat_settings, ollama, question, server_with_key, traffic, verdict};

#[tokio::test]
async fn asks_as_it_is_set() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&scripted.ollama_url());
    settings.temperature = Some(0.3);
    settings.seed = Some(7);
    settings.max_tokens = NonZeroU32::new(512);
    settings.keep_alive = Some("10m".to_owned());
    settings.think = Some(Think::Low);
    settings
        .extra_body
        .insert("options".to_owned(), json!({"top_k": 1}));
    let model = OllamaChat::connect(settings, traffic(1)).await.unwrap();
    let request = ChatRequest {
        schema: Some(verdict()),
        ..question()
    };

    let reply = model.chat(&request).await.unwrap();

    assert_eq!((reply.text.as_str(), reply.finish), ("Paris", Finish::Stop));
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (25, 7)
    );
    assert_eq!(
        model.identity().digest.as_deref(),
        Some("digest-of-scripted:latest")
    );
    assert_eq!(model.context_length(), Some(8_192));
    assert_eq!(model.parameters()["digest"], "digest-of-scripted:latest");
    // 64 around all, 8 around each message, a token for every 3 bytes, and the budget: 609, in steps of 1024.
    let expected = json!({
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Answer in one word.", "tool_calls": [], "thinking": null},
            {"role": "user", "content": "What is the capital of France?", "tool_calls": [], "thinking": null},
        ],
        "options": {"num_ctx": 1024, "temperature": 0.3, "seed": 7, "num_predict": 512, "top_k": 1},
        "format": verdict().schema,
        "keep_alive": "10m",
        "stream": false,
        "think": "low",
        "truncate": false,
        "shift": false,
    });
    assert_eq!(scripted.received_at("/api/chat")[0].body, expected);
}

#[tokio::test]
async fn the_window_grows_and_never_shrinks() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::Say(Saying {
            usage: None,
            ..Saying::of("Paris")
        })
    });
    let model = ollama(&scripted, 1).await;
    for words in [10, 2_000, 10] {
        let request = ChatRequest::new(vec![Message::user("word ".repeat(words))]);
        model.chat(&request).await.unwrap();
    }
    let sent = scripted.received_at("/api/chat");
    let windows: Vec<_> = sent
        .iter()
        .map(|it| it.body["options"]["num_ctx"].clone())
        .collect();
    assert_eq!(windows, [3_072, 6_144, 6_144]);
}

#[tokio::test]
async fn a_reply_in_pieces_is_put_together() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::Say(Saying {
            streamed: true,
            finish: Some("length"),
            ..Saying::of("Paris é")
        })
    });
    let reply = ollama(&scripted, 1).await.chat(&question()).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Paris é", Finish::Length)
    );
    assert_eq!(reply.usage.input_tokens, 25);
}

#[tokio::test]
async fn a_prompt_that_cannot_fit_is_never_sent() {
    let scripted = ScriptedServer::saying("Paris");
    let model = ollama(&scripted, 3).await;
    let request = ChatRequest::new(vec![Message::user("word ".repeat(8_000))]);
    let error = model.chat(&request).await.unwrap_err();
    assert_eq!(error.failure, Failure::Content);
    assert!(
        chain(&error).ends_with(
            "the prompt and its reply need about 12120 tokens, but the model reads 8192"
        )
    );
    assert!(scripted.received_at("/api/chat").is_empty());
}

#[tokio::test]
async fn a_prompt_that_was_cut_is_a_failure() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::Say(Saying {
            usage: Some((6_137, 7)),
            ..Saying::of("Paris")
        })
    });
    let model = ollama(&scripted, 3).await;
    let request = ChatRequest::new(vec![Message::user("word ".repeat(2_000))]);
    let error = model.chat(&request).await.unwrap_err();
    assert_eq!(error.failure, Failure::Content);
    assert!(
        chain(&error).ends_with(
            "the server cut the prompt: 6137 tokens read and 7 written fill the `num_ctx` of 6144"
        ),
        "{}",
        chain(&error)
    );
    assert_eq!(scripted.received_at("/api/chat").len(), 1);
}

#[tokio::test]
async fn a_prompt_of_which_much_was_read_before_is_not_thought_cut() {
    // The server counts 25 tokens of a prompt of at least 1000.
    let scripted = ScriptedServer::saying("Paris");
    let model = ollama(&scripted, 3).await;
    let request = ChatRequest::new(vec![Message::user("word ".repeat(2_000))]);
    assert_eq!(model.chat(&request).await.unwrap().text, "Paris");
    // 64 + 8 + 10000 / 3 = 3406 tokens of prompt, at most, in a window of 6144.
    let options = &scripted.received_at("/api/chat")[0].body["options"];
    assert_eq!(*options, json!({"num_ctx": 6_144, "num_predict": 2_738}));
}

#[tokio::test]
async fn the_window_is_set_in_one_place() {
    for option in ["num_ctx", "num_predict"] {
        let mut settings = chat_settings("http://localhost:1");
        let options = json!({option: 9});
        settings.extra_body.insert("options".to_owned(), options);
        let error = OllamaChat::connect(settings, traffic(1)).await.unwrap_err();
        let expected = format!("`extra_body` may not set `options.{option}`");
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_missing_model_is_pulled() {
    let scripted = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/api/show" => Reaction::json(404, &json!({"error": "model 'qwen3' not found"})),
        _ => Reaction::Sound,
    });
    let mut settings = chat_settings(&scripted.ollama_url());
    settings.model = "qwen3".to_owned();
    let error = OllamaChat::connect(settings, traffic(2)).await.unwrap_err();
    let expected = format!(
        "`ollama:qwen3` cannot be used: `{}` has no model `qwen3`; run `ollama pull qwen3`, or add `--pull` to `evaluations run` or `doctor`",
        scripted.ollama_url()
    );
    assert_eq!(chain(&error), expected);
    assert!(matches!(
        error,
        ConnectError::Server {
            failure: Failure::Terminal,
            ..
        }
    ));
}

#[tokio::test]
async fn a_missing_server_is_started() {
    let url = ScriptedServer::saying("gone").ollama_url();
    let connected = OllamaChat::connect(chat_settings(&url), traffic(2)).await;
    let error = connected.unwrap_err();
    let expected =
        format!("`{url}` cannot be reached; start it with `ollama serve`, or check `base_url`");
    assert!(chain(&error).contains(&expected), "{}", chain(&error));
    assert!(matches!(
        error,
        ConnectError::Server {
            failure: Failure::Terminal,
            ..
        }
    ));
}

#[tokio::test]
async fn other_tags_are_other_models() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&scripted.ollama_url());
    settings.model = "scripted:8b".to_owned();
    let model = OllamaChat::connect(settings, traffic(1)).await.unwrap();
    assert_eq!(
        model.identity().digest.as_deref(),
        Some("digest-of-scripted:8b")
    );
}

#[tokio::test]
async fn a_name_is_for_the_server_to_know() {
    let scripted = ScriptedServer::saying("Paris");
    for (name, digest) in [
        ("library/Scripted:8B", Some("digest-of-scripted:8b")),
        ("hf.co/owner/scripted-gguf", None),
    ] {
        let mut settings = chat_settings(&scripted.ollama_url());
        settings.model = name.to_owned();
        let model = OllamaChat::connect(settings, traffic(1)).await.unwrap();
        assert_eq!(model.identity().digest.as_deref(), digest, "{name}");
    }
}

#[tokio::test]
async fn credentials_come_from_the_key_or_the_address() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&scripted.ollama_url());
    settings.server = server_with_key(&scripted.ollama_url());
    OllamaChat::connect(settings.clone(), traffic(1))
        .await
        .unwrap();
    assert_eq!(
        scripted.received()[0].headers["authorization"],
        format!("Bearer {KEY}")
    );

    let address = scripted.ollama_url().replace("http://", "http://me:pw@");
    settings.server.base_url = BaseUrl::parse(&address).unwrap();
    let both = OllamaChat::connect(settings.clone(), traffic(1)).await;
    assert!(matches!(both, Err(ConnectError::Settings(_))));
    settings.server.api_key = None;
    OllamaChat::connect(settings, traffic(1)).await.unwrap();
    let sent = scripted.received();
    assert_eq!(
        sent.last().unwrap().headers["authorization"],
        "Basic bWU6cHc="
    );
}

#[tokio::test]
async fn settings_that_mean_nothing_here_are_refused() {
    let mut settings = chat_settings("http://localhost:1");
    settings.reasoning_effort = Some("low".to_owned());
    let error = OllamaChat::connect(settings, traffic(1)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`reasoning_effort` has no meaning for provider `ollama`"
    );
}

//! A key is sent, and nothing else is ever done with it.

use evals_models::http::{ApiKey, OllamaChat, OpenAiChat, OpenAiEmbedder};
use evals_models::{ChatModel, Failure};
use serde_json::json;

use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{KEY, chain, chat_settings, embed_settings, question, server_with_key, traffic};

/// Repeats the key wherever a server could.
fn parrot() -> ScriptedServer {
    ScriptedServer::start(|request, before| {
        let key = request
            .headers
            .get("authorization")
            .cloned()
            .unwrap_or_default();
        match before {
            0 => Reaction::json(
                500,
                &json!({"error": {"message": format!("wrong key: {key}")}}),
            ),
            1 => Reaction::body(200, format!("no JSON for {key}")),
            2 => Reaction::json(200, &json!({"choices": format!("none for {key}")})),
            3 => Reaction::json(200, &json!({"error": format!("none for {key}")})),
            4 => Reaction::body(400, format!("{}{key}", "x".repeat(380))),
            _ => Reaction::body(401, format!("<html><title>{key}</title></html>")),
        }
    })
}

fn hides(shown: &str) {
    assert!(!shown.contains(KEY), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn errors_do_not_repeat_a_key_that_the_server_repeats() {
    let scripted = parrot();
    for attempt in 0..6 {
        let mut settings = chat_settings(&scripted.openai_url());
        settings.server = server_with_key(&scripted.openai_url());
        let model = OpenAiChat::new(settings, traffic(1)).unwrap();
        let error = model.chat(&question()).await.unwrap_err();
        assert!(chain(&error).contains("[redacted"), "{}", chain(&error));
        assert!(
            !chain(&error).contains("sk-"),
            "{attempt}: {}",
            chain(&error)
        );
        hides(&format!("{} {error:?} {error:#?}", chain(&error)));
    }
    assert!(scripted.received()[0].headers["authorization"].ends_with(KEY));
}

#[tokio::test]
async fn nothing_shows_a_key() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&scripted.openai_url());
    settings.server = server_with_key(&scripted.openai_url());
    hides(&format!("{settings:?}"));
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    hides(&format!(
        "{model:#?} {:?} {:?}",
        model.parameters(),
        model.identity()
    ));

    let mut settings = embed_settings(&scripted.openai_url());
    settings.server = server_with_key(&scripted.openai_url());
    let embedder = OpenAiEmbedder::connect(settings, traffic(1)).await.unwrap();
    hides(&format!("{embedder:#?}"));

    let mut settings = chat_settings(&scripted.ollama_url());
    settings.server = server_with_key(&scripted.ollama_url());
    let model = OllamaChat::connect(settings, traffic(1)).await.unwrap();
    hides(&format!("{model:#?} {:?}", model.parameters()));
}

#[tokio::test]
async fn nothing_shows_a_password() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(500, "me:hunter2-and-more"));
    let url = scripted
        .ollama_url()
        .replace("http://", "http://me:hunter2-and-more@");
    let error = OllamaChat::connect(chat_settings(&url), traffic(1))
        .await
        .unwrap_err();
    assert!(
        chain(&error).contains("answered 500: me:[redacted]"),
        "{}",
        chain(&error)
    );
    hides(&format!("{} {error:#?}", chain(&error)));
    drop(scripted);
    let error = OllamaChat::connect(chat_settings(&url), traffic(1))
        .await
        .unwrap_err();
    hides(&format!("{} {error:#?}", chain(&error)));
}

#[tokio::test]
async fn a_placeholder_for_a_key_does_not_garble_what_a_server_says() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::json(
            429,
            &json!({"error": {"message": "no quota", "code": "insufficient_quota"}}),
        )
    });
    let mut settings = chat_settings(&scripted.openai_url());
    settings.server.api_key = Some(ApiKey::new("a", "DUMMY").unwrap());
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    let error = model.chat(&question()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert!(
        chain(&error).contains("answered 429: no quota; the account has no credit left"),
        "{}",
        chain(&error)
    );
}

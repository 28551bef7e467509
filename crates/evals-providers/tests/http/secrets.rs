//! A key is sent, and nothing else is ever done with it.

use evals_models::{ChatModel, Failure, Finish};
use evals_providers::{ApiKey, HttpEmbedder, OllamaChat, OpenAiChat, list_openai_models};
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
    let embedder = HttpEmbedder::openai(settings, traffic(1)).await.unwrap();
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

/// A completion that repeats the request's credentials wherever a reply has a text.
fn echo(credential: &str) -> Reaction {
    Reaction::json(
        200,
        &json!({"choices": [{
            "message": {"content": format!("Paris {credential}"), "reasoning": format!("France? {credential}")},
            "finish_reason": format!("ended_{credential}"),
        }]}),
    )
}

#[tokio::test]
async fn a_reply_comes_in_without_the_key_that_it_repeats() {
    let scripted = ScriptedServer::start(|request, _| echo(&request.headers["authorization"]));
    let mut settings = chat_settings(&scripted.openai_url());
    settings.server = server_with_key(&scripted.openai_url());
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    let reply = model.chat(&question()).await.unwrap();
    assert_eq!(reply.text, "Paris Bearer [redacted]");
    assert_eq!(
        reply.reasoning.as_deref(),
        Some("France? Bearer [redacted]")
    );
    assert_eq!(
        reply.finish,
        Finish::Other("ended_Bearer [redacted]".to_owned())
    );
}

#[tokio::test]
async fn a_streamed_reply_does_too_where_the_key_is_cut_into_pieces() {
    let (start, end) = KEY.split_at(5);
    let body = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"Paris {start}\"}}}}]}}\n\n\
         data: {{\"choices\":[{{\"delta\":{{\"content\":\"{end}!\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let scripted = ScriptedServer::start(move |_, _| Reaction::body(200, body.clone()));
    let mut settings = chat_settings(&scripted.openai_url());
    settings.server = server_with_key(&scripted.openai_url());
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    assert_eq!(
        model.chat(&question()).await.unwrap().text,
        "Paris [redacted]!"
    );
}

#[tokio::test]
async fn a_reply_of_ollama_comes_in_without_what_its_address_holds() {
    for (userinfo, secrets) in [
        ("me:p%40ss-word-1", ["p@ss-word-1", "bWU6cEBzcy13b3JkLTE="]),
        ("token-4711-x", ["token-4711-x", "dG9rZW4tNDcxMS14Og=="]),
    ] {
        let scripted = ScriptedServer::start(|request, _| match request.path.as_str() {
            "/api/chat" => {
                let basic = &request.headers["authorization"];
                let plain = if basic.ends_with("LTE=") {
                    "p@ss-word-1"
                } else {
                    "token-4711-x"
                };
                let text = format!("{basic} {plain}");
                Reaction::json(
                    200,
                    &json!({
                        "message": {"content": text, "thinking": text}, "done": true, "done_reason": text,
                    }),
                )
            }
            _ => Reaction::Sound,
        });
        let url = scripted
            .ollama_url()
            .replace("http://", &format!("http://{userinfo}@"));
        let model = OllamaChat::connect(chat_settings(&url), traffic(1))
            .await
            .unwrap();
        let reply = model.chat(&question()).await.unwrap();
        assert_eq!(reply.text, "Basic [redacted] [redacted]");
        let whole = format!("{reply:?} {model:?}");
        for secret in secrets {
            assert!(!whole.contains(secret), "{whole}");
        }
    }
}

#[tokio::test]
async fn credentials_among_further_fields_are_sent_and_never_shown() {
    let scripted = ScriptedServer::start(|request, _| {
        echo(
            request.body["auth"]["api_key"]
                .as_str()
                .unwrap_or("nothing sent"),
        )
    });
    let mut settings = chat_settings(&scripted.openai_url());
    let fields = json!({"auth": {"api_key": "hunter2-and-more"}, "top_k": 5});
    settings.extra_body = fields.as_object().unwrap().clone();
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    assert_eq!(
        model.chat(&question()).await.unwrap().text,
        "Paris [redacted]"
    );
    let stored = serde_json::Value::from(model.parameters());
    assert_eq!(
        stored["extra_body"],
        json!({"auth": {"api_key": "[redacted]"}, "top_k": 5})
    );
}

#[tokio::test]
async fn what_a_server_says_of_its_models_comes_in_without_the_key() {
    let scripted = ScriptedServer::start(|request, _| {
        let key = &request.headers["authorization"];
        Reaction::json(
            200,
            &json!({"data": [{"id": format!("m {key}"), "root": key}]}),
        )
    });
    let models = list_openai_models(server_with_key(&scripted.openai_url()))
        .await
        .unwrap();
    assert_eq!(models[0].name, "m Bearer [redacted]");
    assert_eq!(models[0].digest.as_deref(), Some("root=Bearer [redacted]"));
}

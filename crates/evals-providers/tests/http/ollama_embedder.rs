//! Embedding models in Ollama.

use std::num::NonZeroUsize;

use evals_models::{EmbedError, Embedder, Failure, TextKind};
use evals_providers::HttpEmbedder;
use serde_json::json;

use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{chain, embed_settings, traffic};

#[tokio::test]
async fn embeds_without_cutting() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.ollama_url());
    settings.document_prefix = "passage: ".to_owned();
    settings.keep_alive = Some("-1".to_owned());
    let embedder = HttpEmbedder::ollama(settings, traffic(1)).await.unwrap();

    assert_eq!(
        (embedder.dimension(), embedder.max_tokens()),
        (4, Some(8_192))
    );
    assert_eq!(
        embedder.identity().digest.as_deref(),
        Some("digest-of-scripted:latest document=\"passage: \"")
    );
    let embeddings = embedder
        .embed(&["a", "b"], TextKind::Document)
        .await
        .unwrap();
    assert_eq!(embeddings.len(), 2);
    let expected = json!({
        "model": "scripted",
        "input": ["passage: a", "passage: b"],
        "truncate": false,
        "options": {"num_ctx": 8192},
        "keep_alive": -1,
    });
    assert_eq!(scripted.received().last().unwrap().body, expected);
}

#[tokio::test]
async fn a_length_that_is_set_is_what_the_model_is_loaded_for() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.ollama_url());
    settings.max_tokens = NonZeroUsize::new(512);
    let embedder = HttpEmbedder::ollama(settings, traffic(1)).await.unwrap();
    assert_eq!(embedder.max_tokens(), Some(512));
    let probe = &scripted.received_at("/api/embed")[0];
    assert_eq!(probe.body["options"], json!({"num_ctx": 512}));
}

#[tokio::test]
async fn a_text_that_cannot_be_cut_any_more_is_a_failure_of_that_text() {
    let scripted = ScriptedServer::start(|request, _| {
        let long = request.body["input"]
            .as_array()
            .is_some_and(|texts| texts.iter().any(|text| *text != "probe" && *text != "a"));
        if long {
            return Reaction::json(
                400,
                &json!({"error": "the input length exceeds the context length"}),
            );
        }
        Reaction::Sound
    });
    let settings = embed_settings(&scripted.ollama_url());
    let embedder = HttpEmbedder::ollama(settings, traffic(2)).await.unwrap();
    let error = embedder
        .embed(&["a", "long"], TextKind::Document)
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        EmbedError::Model {
            failure: Failure::Content,
            ..
        }
    ));
    assert!(
        chain(&error).contains("text 1 cannot be embedded"),
        "{}",
        chain(&error)
    );
}

#[tokio::test]
async fn a_failure_that_passes_is_tried_again() {
    let scripted = ScriptedServer::start(|request, before| {
        if request.path == "/api/embed" && before == 0 {
            return Reaction::busy(None);
        }
        Reaction::Sound
    });
    let settings = embed_settings(&scripted.ollama_url());
    let embedder = HttpEmbedder::ollama(settings, traffic(2)).await.unwrap();
    assert_eq!(
        embedder.embed(&["a"], TextKind::Query).await.unwrap().len(),
        1
    );
}

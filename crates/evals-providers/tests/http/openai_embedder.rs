//! Embedding models behind `OpenAI`'s protocol.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use evals_models::{Embedder, Failure, TextKind};
use evals_providers::{ConnectError, Dimension, EmbedSettings, HttpEmbedder};
use serde_json::{Value, json};

use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::{chain, embed_settings, traffic};

async fn connect(settings: EmbedSettings) -> Result<HttpEmbedder, ConnectError> {
    HttpEmbedder::openai(settings, traffic(2)).await
}

/// A server that answers batches like this, and probes as it should.
fn answering(rows: impl Fn(&[Value]) -> Value + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| {
        let texts = request.body["input"].as_array().expect("texts");
        if texts[0] == "probe" {
            return Reaction::Sound;
        }
        Reaction::json(200, &json!({"data": rows(texts)}))
    })
}

#[tokio::test]
async fn embeds_in_batches_and_in_order() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.openai_url());
    settings.query_prefix = "query: ".to_owned();
    settings.max_batch = NonZeroUsize::new(2).unwrap();
    let embedder = connect(settings).await.unwrap();
    assert_eq!(embedder.dimension(), 4);
    let digest = format!("at={} query=\"query: \"", scripted.openai_url());
    assert_eq!(embedder.identity().digest, Some(digest));

    let embeddings = embedder
        .embed(&["a", "b", "c", "d", "e"], TextKind::Document)
        .await
        .unwrap();
    // `a` is byte 97, which is 1 modulo 4.
    let rows: Vec<&[f32]> = embeddings.rows().collect();
    assert_eq!(rows[0], [1.0, 2.0, 1.0, 1.0]);
    assert_eq!(rows[1], [1.0, 1.0, 2.0, 1.0]);
    assert_eq!(rows[4], [1.0, 2.0, 1.0, 1.0]);
    let sent = scripted.received_at("/embeddings");
    let mut sizes: Vec<usize> = sent
        .iter()
        .map(|it| it.body["input"].as_array().unwrap().len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 2, 2]);
    assert_eq!(
        sent[0].body,
        json!({"model": "scripted", "input": ["probe"], "encoding_format": "float"})
    );

    embedder.embed(&["a"], TextKind::Query).await.unwrap();
    let sent = scripted.received();
    assert_eq!(sent.last().unwrap().body["input"], json!(["query: a"]));
}

#[tokio::test]
async fn no_texts_are_no_request() {
    let scripted = ScriptedServer::saying("");
    let embedder = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let none = embedder.embed(&[], TextKind::Query).await.unwrap();
    assert_eq!((none.len(), none.dimension()), (0, 4));
    assert_eq!(scripted.received().len(), 1);
}

#[tokio::test]
async fn rows_are_sorted_by_their_index() {
    let scripted = answering(|_| {
        json!([
            {"index": 1, "embedding": [0, 0, 0, 1]},
            {"index": 0, "embedding": [1, 0, 0, 0]},
        ])
    });
    let embedder = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let embeddings = embedder
        .embed(&["x", "y"], TextKind::Document)
        .await
        .unwrap();
    assert_eq!(embeddings.row(0), Some([1.0, 0.0, 0.0, 0.0].as_slice()));
}

#[tokio::test]
async fn unsound_vectors_are_refused() {
    let row = |values: Value| json!({"embedding": values});
    let cases = [
        (
            json!([row(json!([1, 0, 0, 0]))]),
            Failure::Terminal,
            "the server returned 1 vector for 2 texts",
        ),
        (
            json!([row(json!([1, 0, 0, 0])), row(json!([1, 0]))]),
            Failure::Terminal,
            "text 1 has a vector of 2 dimensions instead of 4",
        ),
        (
            json!([row(json!([1, 0, 0, 0])), row(json!([0, 0, 0, 0]))]),
            Failure::Content,
            "text 1 cannot be compared: `y`: all 4 components of its vector are zero",
        ),
        (
            json!([row(json!([1, 0, 0, 0])), row(json!([3e20, 4e20, 0, 0]))]),
            Failure::Terminal,
            "whose square is beyond 32-bit numbers",
        ),
        (
            json!([row(json!([1e-25, 0, 0, 0])), row(json!([1, 0, 0, 0]))]),
            Failure::Terminal,
            "text 0 cannot be compared: `x`: its vector has the length 1.0e-25, \
             whose square is beyond 32-bit numbers",
        ),
        (
            json!([{"index": 0, "embedding": [1, 0, 0, 0]}, {"index": 0, "embedding": [1, 0, 0, 0]}]),
            Failure::Transient,
            "answered with vectors whose `index` has gaps or repeats instead of embeddings",
        ),
        // A text of two tokens, then one of one.
        (
            json!([
                row(json!([[1, 0, 0, 0], [0, 1, 0, 0]])),
                row(json!([[1, 0, 0, 0]]))
            ]),
            Failure::Terminal,
            "answered with a vector for each token instead of one for each text; \
             set a model that embeds, or start the server with embeddings enabled",
        ),
    ];
    for (rows, expected, message) in cases {
        let scripted = answering(move |_| rows.clone());
        let embedder = connect(embed_settings(&scripted.openai_url()))
            .await
            .unwrap();
        let error = embedder
            .embed(&["x", "y"], TextKind::Document)
            .await
            .unwrap_err();
        let evals_models::EmbedError::Model { failure, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(*failure, expected);
        assert!(chain(&error).ends_with(message), "{}", chain(&error));
    }
}

#[tokio::test]
async fn another_dimension_than_expected_is_refused_at_once() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.openai_url());
    settings.dimension = Dimension::Expect(NonZeroUsize::new(1_024).unwrap());
    let error = connect(settings).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "`openai:scripted` cannot be used: text 0 has a vector of 4 dimensions instead of 1024"
    );
    assert_eq!(error.other_dimension(), Some(4));
}

#[tokio::test]
async fn shorter_vectors_are_asked_for() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.openai_url());
    settings.dimension = Dimension::Request(NonZeroU32::new(4).unwrap());
    let embedder = connect(settings).await.unwrap();
    assert_eq!(scripted.received()[0].body["dimensions"], 4);
    let digest = format!("at={} dimension=4", scripted.openai_url());
    assert_eq!(embedder.identity().digest, Some(digest));
}

#[tokio::test]
async fn an_identity_holds_what_vectors_depend_on() {
    let scripted = ScriptedServer::saying("");
    let mut settings = embed_settings(&scripted.openai_url());
    settings.server.digest = Some("root=/models/a".to_owned());
    settings.server.provider = Some("groq".to_owned());
    settings
        .extra_body
        .insert("task".to_owned(), json!("query"));
    let embedder = connect(settings).await.unwrap();
    assert_eq!(embedder.identity().to_string(), "groq:scripted");
    assert_eq!(
        embedder.identity().digest.as_deref(),
        Some("root=/models/a extra_body={\"task\":\"query\"}")
    );
}

#[tokio::test]
async fn vectors_come_with_the_time_of_the_call_that_succeeded() {
    let refused = Arc::new(OnceLock::new());
    let first = Arc::clone(&refused);
    let scripted = ScriptedServer::start(move |request, _| {
        if request.body["input"][0] == "late" && first.set(Instant::now()).is_ok() {
            return Reaction::busy(None);
        }
        Reaction::Sound
    });
    let embedder = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let embeddings = embedder.embed(&["late"], TextKind::Query).await.unwrap();
    let took = embeddings.took().unwrap();
    assert!(took > Duration::ZERO && took < refused.get().unwrap().elapsed());
    assert!(!embeddings.is_cached());
}

/// Refuses batches with this message where this finds fault with their texts.
fn refusing(
    message: &'static str,
    faulty: impl Fn(&[&str]) -> bool + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        let texts = request.body["input"].as_array().expect("texts");
        let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
        if faulty(&texts) {
            return Reaction::json(400, &json!({"error": {"message": message}}));
        }
        Reaction::Sound
    })
}

#[tokio::test]
async fn the_beginning_of_a_text_that_is_too_long_is_embedded_and_counted() {
    let scripted = refusing("maximum context length is 30 tokens", |texts| {
        texts.iter().any(|text| text.len() > 100)
    });
    let settings = embed_settings(&scripted.openai_url());
    let embedder = connect(settings).await.unwrap();
    let long = "word ".repeat(40);
    let texts = ["a", "b", "c", long.as_str(), "d"];
    let embeddings = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!(
        embedder.notes(),
        ["1 text is longer than the model reads and was truncated"]
    );
    // 200 bytes become 160, 128, 100.
    let cut = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let alone = cut
        .embed(&[&long[..100]], TextKind::Document)
        .await
        .unwrap();
    assert_eq!(embeddings.row(3), alone.row(0));
    assert!(cut.notes().is_empty());
    assert_eq!(embeddings.row(4), Some([2.0, 1.0, 1.0, 1.0].as_slice()));
}

#[tokio::test]
async fn a_text_that_is_refused_for_another_reason_is_named() {
    let scripted = refusing("no thanks", |texts| texts.contains(&"d"));
    let embedder = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let texts = ["a", "b", "c", "d", "e"];
    let error = embedder
        .embed(&texts, TextKind::Document)
        .await
        .unwrap_err();
    let message = chain(&error);
    assert!(
        message
            .starts_with("`openai:scripted` could not embed 5 texts: text 3 cannot be embedded: "),
        "{message}"
    );
    assert!(message.ends_with("answered 400: no thanks"), "{message}");
}

#[tokio::test]
async fn a_batch_that_is_too_large_comes_through_in_parts_and_is_not_made_again() {
    let scripted = refusing("at most 2 inputs", |texts| texts.len() > 2);
    let embedder = connect(embed_settings(&scripted.openai_url()))
        .await
        .unwrap();
    let texts = ["a", "b", "c", "d", "e"];
    let first = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!(first.row(1), Some([1.0, 1.0, 2.0, 1.0].as_slice()));
    assert_eq!(first.row(4), Some([1.0, 2.0, 1.0, 1.0].as_slice()));
    // The probe, 5 texts, 2, 3, 1 and 2.
    assert_eq!(scripted.received().len(), 6);
    let second = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!(second.values(), first.values());
    assert_eq!(scripted.received().len(), 9);
}

#[tokio::test]
async fn tokens_are_added_up_where_every_answer_tells_them() {
    for (usage, expected) in [
        (json!({"prompt_tokens": 5, "total_tokens": 6}), Some(15)),
        (json!({"total_tokens": 6}), Some(18)),
        (json!(null), None),
    ] {
        let scripted = ScriptedServer::start(move |request: &Received, _| {
            let texts = request.body["input"].as_array().expect("texts").len();
            let rows: Vec<Value> = (0..texts)
                .map(|index| json!({"index": index, "embedding": [1.0, 2.0]}))
                .collect();
            Reaction::json(200, &json!({"data": rows, "usage": usage}))
        });
        let mut settings = embed_settings(&scripted.openai_url());
        settings.max_batch = NonZeroUsize::new(2).unwrap();
        let embedder = connect(settings).await.unwrap();
        // A probe and two batches.
        let texts = ["a", "b", "c"];
        assert_eq!(embedder.batches(&texts), [0..2, 2..3]);
        embedder.embed(&texts, TextKind::Document).await.unwrap();
        assert_eq!(embedder.input_tokens(), expected);
    }
}

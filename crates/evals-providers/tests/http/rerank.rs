//! Rerankers behind `/rerank`, in both dialects.

use std::num::NonZeroUsize;
use std::time::Duration;

use evals_models::{Failure, RerankError, Reranked, Reranker, Usage};
use evals_providers::{ConnectError, HttpReranker, RerankSettings};
use serde_json::{Value, json};

use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::{KEY, chain, server, server_with_key, traffic};

const QUERY: &str = "ferry harbour";
const TEXTS: [&str; 3] = ["a ferry", "a ferry in the harbour", "snow"];

async fn connect(scripted: &ScriptedServer) -> Result<HttpReranker, ConnectError> {
    let settings = RerankSettings::new(server(&scripted.openai_url()), "scripted");
    HttpReranker::connect(settings, traffic(2)).await
}

/// A server that answers like this, and probes as it should.
fn answering(answer: impl Fn() -> Value + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| match &request.body["query"] {
        Value::String(query) if query == "probe" => Reaction::Sound,
        _ => Reaction::json(200, &answer()),
    })
}

async fn ranked(scripted: &ScriptedServer) -> Result<Reranked, RerankError> {
    let reranker = connect(scripted).await.expect("a server that is well");
    reranker.rerank(QUERY, &TEXTS, 1).await
}

/// Text-embeddings-inference refuses a request without `texts` with 422.
fn inference_server() -> ScriptedServer {
    ScriptedServer::start(|request, _| {
        if request.body["texts"].is_array() {
            return Reaction::Sound;
        }
        let complaint = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 58";
        Reaction::body(422, complaint)
    })
}

#[tokio::test]
async fn scores_come_in_the_order_of_the_texts() {
    let scripted = ScriptedServer::saying("");
    let reranked = ranked(&scripted).await.unwrap();
    // One of two words, both, none; and a millionth for each byte.
    assert_eq!(reranked.scores, [0.500_007, 1.000_022, 0.000_004]);
    assert!(!reranked.cached);
    let usage = Usage {
        input_tokens: 12,
        ..Usage::default()
    };
    assert_eq!(reranked.usage, Some(usage));
    let sent = scripted.received_at("/v1/rerank");
    assert_eq!(
        sent[1].body,
        json!({"model": "scripted", "query": QUERY, "documents": TEXTS})
    );
}

#[tokio::test]
async fn many_texts_go_in_batches_and_their_tokens_add_up() {
    let scripted = ScriptedServer::saying("");
    let mut settings = RerankSettings::new(server(&scripted.ollama_url()), "scripted");
    settings.max_batch = NonZeroUsize::new(2).unwrap();
    let reranker = HttpReranker::connect(settings, traffic(2)).await.unwrap();
    assert_eq!(reranker.identity().to_string(), "http:scripted");
    let texts = ["snow", "ferry", "snow", "a ferry", "ice"];
    let reranked = reranker.rerank("ferry", &texts, 1).await.unwrap();
    assert_eq!(
        reranked.scores,
        [0.000_004, 1.000_005, 0.000_004, 1.000_007, 0.000_003]
    );
    assert_eq!(reranked.usage.map(|usage| usage.input_tokens), Some(36));
    let mut sizes: Vec<usize> = scripted.received_at("/rerank")[1..]
        .iter()
        .map(|request| request.body["documents"].as_array().unwrap().len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 2, 2]);
}

#[tokio::test]
async fn no_texts_are_no_request() {
    let scripted = ScriptedServer::saying("");
    let reranker = connect(&scripted).await.unwrap();
    let reranked = reranker.rerank(QUERY, &[], 1).await.unwrap();
    let nothing = Reranked {
        scores: Vec::new(),
        usage: None,
        service_time: Duration::ZERO,
        cached: false,
    };
    assert_eq!(reranked, nothing);
    assert_eq!(scripted.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_wants_texts_is_given_texts() {
    let scripted = inference_server();
    let reranked = ranked(&scripted).await.unwrap();
    assert_eq!(reranked.scores, [0.500_007, 1.000_022, 0.000_004]);
    assert_eq!(reranked.usage, None);
    let sent = scripted.received_at("/rerank");
    assert_eq!(
        sent.last().unwrap().body,
        json!({"query": QUERY, "texts": TEXTS, "truncate": true})
    );
}

#[tokio::test]
async fn rows_of_other_servers_are_understood() {
    let answers = [
        // Cohere.
        json!({"id": "1", "results": [
            {"index": 2, "relevance_score": 0.25}, {"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 1.0},
        ], "meta": {"billed_units": {"search_units": 1}, "tokens": {"input_tokens": 12}}}),
        // Jina, with the texts; vLLM the same.
        json!({"model": "m", "usage": {"total_tokens": 12}, "results": [
            {"index": 1, "relevance_score": 1.0, "document": {"text": "b"}},
            {"index": 0, "relevance_score": 0.5, "document": {"text": "a"}},
            {"index": 2, "relevance_score": 0.25, "document": {"text": "c"}},
        ]}),
        // llama.cpp and infinity.
        json!({"model": "m", "object": "list", "usage": {"prompt_tokens": 12, "total_tokens": 12}, "results": [
            {"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 1.0}, {"index": 2, "relevance_score": 0.25},
        ]}),
        // A gateway in front of several of these servers writes the fields that it does not know as `null`.
        json!({"id": "1", "meta": null, "usage": {"total_tokens": 12}, "results": [
            {"index": 0, "relevance_score": 0.5, "document": null}, {"index": 1, "relevance_score": 1.0},
            {"index": 2, "relevance_score": 0.25},
        ]}),
        // Voyage.
        json!({"object": "list", "usage": {"total_tokens": 12}, "data": [
            {"index": 1, "relevance_score": 1.0}, {"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.25},
        ]}),
    ];
    for answer in answers {
        let scripted = answering(move || answer.clone());
        let reranked = ranked(&scripted).await.unwrap();
        assert_eq!(reranked.scores, [0.5, 1.0, 0.25]);
        assert_eq!(reranked.usage.map(|usage| usage.input_tokens), Some(12));
    }
}

#[tokio::test]
async fn unsound_scores_are_refused() {
    let row = |index: usize| json!({"index": index, "score": 0.5});
    let cases = [
        (
            json!([row(1)]),
            Failure::Content,
            "gave no score for 2 of 3 texts",
        ),
        (
            json!([row(0), row(1), {"index": 2, "score": null}]),
            Failure::Content,
            "gave no score for 1 of 3 texts",
        ),
        (
            json!([row(0), row(1), row(1)]),
            Failure::Transient,
            "answered with two scores of text 1 instead of scores",
        ),
        (
            json!([row(0), row(1), row(3)]),
            Failure::Transient,
            "answered with a score of text 3 of 3 instead of scores",
        ),
        (
            json!([row(0), row(1), {"index": 2, "score": 1e60}]),
            Failure::Transient,
            "answered with a score of text 2 beyond all bounds instead of scores",
        ),
        (
            json!({"error": {"code": 402, "message": "no credits"}}),
            Failure::Terminal,
            "answered 402: no credits; the account has no credit left: top it up, or set a different model",
        ),
    ];
    for (answer, failure, message) in cases {
        let scripted = answering(move || answer.clone());
        let error = ranked(&scripted).await.unwrap_err();
        let text = chain(&error);
        assert_eq!(error.failure, failure, "{text}");
        assert!(
            text.starts_with("`http:scripted` could not rank 3 texts: "),
            "{text}"
        );
        assert!(text.ends_with(message), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_shown() {
    let scripted = answering(|| json!({"results": [{"position": 0}]}));
    let error = ranked(&scripted).await.unwrap_err();
    assert_eq!(
        error.failure,
        Failure::Content,
        "it was made, and is not asked for again"
    );
    let text = chain(&error);
    assert!(
        text.contains(r#"answered with `{"results":[{"position":0}]}` instead of scores"#),
        "{text}"
    );
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let scripted = ScriptedServer::start(|_, before| {
        if before == 0 {
            Reaction::busy(None)
        } else {
            Reaction::Sound
        }
    });
    assert_eq!(ranked(&scripted).await.unwrap().scores.len(), 3);
    assert_eq!(scripted.received().len(), 4);
}

#[tokio::test]
async fn a_model_that_cannot_rank_is_refused_at_once_with_a_remedy() {
    let scripted = ScriptedServer::start(|_, _| {
        let message = "This server does not support reranking. Start it with `--reranking`";
        Reaction::json(501, &json!({"error": {"code": 501, "message": message}}))
    });
    let error = connect(&scripted).await.unwrap_err();
    let text = chain(&error);
    assert!(
        text.starts_with("`http:scripted` cannot be used: "),
        "{text}"
    );
    assert!(
        text.ends_with("; set a model that reranks, or start the server with reranking enabled"),
        "{text}"
    );
    assert_eq!(scripted.received().len(), 1);
}

#[tokio::test]
async fn both_dialects_refused_is_the_first_complaint() {
    let scripted =
        ScriptedServer::start(|_, _| Reaction::json(422, &json!({"detail": "no such thing"})));
    let text = chain(&connect(&scripted).await.unwrap_err());
    assert!(text.ends_with("answered 422: no such thing"), "{text}");
    assert_eq!(scripted.received().len(), 2);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let gone = ScriptedServer::saying("").openai_url();
    let settings = RerankSettings::new(server(&gone), "scripted");
    let error = HttpReranker::connect(settings, traffic(1))
        .await
        .unwrap_err();
    let text = chain(&error);
    assert!(
        text.contains(&format!(
            "`{gone}` cannot be reached; start the server, or check `base_url`"
        )),
        "{text}"
    );
}

#[tokio::test]
async fn the_key_is_sent_and_never_shown() {
    let scripted = ScriptedServer::start(|request, before| {
        let query = request.body["query"].as_str();
        if query == Some("probe") || before > 1 {
            return Reaction::Sound;
        }
        let message = format!("no such key: {KEY}");
        Reaction::json(401, &json!({"error": {"message": message}}))
    });
    let settings = RerankSettings::new(server_with_key(&scripted.openai_url()), "scripted");
    let reranker = HttpReranker::connect(settings, traffic(2)).await.unwrap();
    let error = reranker.rerank(QUERY, &TEXTS, 1).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    let shown = format!("{} {error:?} {reranker:?}", chain(&error));
    assert!(!shown.contains(KEY), "{shown}");
    assert!(shown.contains("no such key: [redacted]"), "{shown}");
    let sent = &scripted.received()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
}

#[tokio::test]
async fn extra_fields_are_sent_and_cannot_replace_the_texts() {
    let scripted = ScriptedServer::saying("");
    let mut settings = RerankSettings::new(server(&scripted.openai_url()), "scripted");
    settings
        .extra_body
        .insert("return_documents".to_owned(), json!(false));
    HttpReranker::connect(settings.clone(), traffic(1))
        .await
        .unwrap();
    assert_eq!(scripted.received()[0].body["return_documents"], false);
    settings.extra_body.insert("texts".to_owned(), json!([]));
    let error = HttpReranker::connect(settings, traffic(1))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "`extra_body` may not set `texts`");
}

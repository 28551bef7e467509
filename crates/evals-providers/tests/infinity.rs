//! Models behind infinity, which `scripts/test-servers` starts with all-MiniLM-L6-v2 and a cross-encoder of random weights, and
//! which takes eight texts a request.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use evals_models::{Embedder, Failure, Reranker, TextKind};
use evals_providers::{
    ApiKey, BaseUrl, ConnectError, EmbedSettings, HttpEmbedder, HttpReranker, RerankSettings,
    ServerSettings, Traffic, TrafficSettings, list_openai_models,
};
use serde::Deserialize;
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// The names under which the server has its models.
const EMBEDDER: &str = "minilm";
const RERANKER: &str = "reranker";

/// Vectors of sentence-transformers 6.2.0, each text embedded alone.
#[derive(Deserialize)]
struct GoldenVectors {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

/// Logits of transformers 5.23.
#[derive(Deserialize)]
struct GoldenScores {
    query: String,
    texts: Vec<String>,
    scores: Vec<f32>,
}

impl GoldenVectors {
    fn read() -> Self {
        let text = include_str!("../../evals-local/tests/local/golden/all-minilm-l6-v2.json");
        serde_json::from_str(text).unwrap()
    }

    fn of(&self, text: &str) -> &[f32] {
        let place = self.texts.iter().position(|known| known == text).unwrap();
        &self.vectors[place]
    }
}

impl GoldenScores {
    fn read() -> Self {
        let text =
            include_str!("../../evals-local/tests/local/checkpoints/bert-reranker/golden.json");
        serde_json::from_str(text).unwrap()
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is set by scripts/test-servers"))
}

fn server_at(url: &str, key: &str) -> ServerSettings {
    ServerSettings {
        api_key: Some(ApiKey::new(key, "INFINITY_API_KEY").expect("a key")),
        ..ServerSettings::new(BaseUrl::parse(url).expect("an address"))
    }
}

fn server() -> ServerSettings {
    server_at(&variable("INFINITY_URL"), &variable("INFINITY_API_KEY"))
}

fn traffic() -> Arc<Traffic> {
    let settings = TrafficSettings {
        max_attempts: NonZeroU32::new(2).expect("2 is not zero"),
        base_delay: Duration::from_millis(1),
        // A server that is away is waited for.
        call_deadline: Duration::from_secs(20),
        ..TrafficSettings::default()
    };
    Arc::new(Traffic::new("infinity", settings))
}

async fn embedder(settings: EmbedSettings) -> HttpEmbedder {
    let connected = HttpEmbedder::openai(settings, traffic()).await;
    connected.expect("a model that embeds")
}

async fn reranker(settings: RerankSettings) -> HttpReranker {
    let connected = HttpReranker::connect(settings, traffic()).await;
    connected.expect("a model that reranks")
}

/// Why a model cannot be used; it is nothing that another try would mend.
fn refusal(error: &ConnectError) -> String {
    let terminal = matches!(
        error,
        ConnectError::Server {
            failure: Failure::Terminal,
            ..
        }
    );
    assert!(terminal, "{error:?}");
    chain(error)
}

async fn no_embedder(server: ServerSettings, model: &str) -> String {
    let connected = HttpEmbedder::openai(EmbedSettings::new(server, model), traffic()).await;
    refusal(&connected.unwrap_err())
}

async fn no_reranker(server: ServerSettings, model: &str) -> String {
    let connected = HttpReranker::connect(RerankSettings::new(server, model), traffic()).await;
    refusal(&connected.unwrap_err())
}

fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let products = one.iter().zip(other).map(|(a, b)| a * b);
    products.sum()
}

fn texts(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn vectors_are_the_model_s_in_the_order_of_the_texts() {
    let golden = GoldenVectors::read();
    // Batches of 64 are refused here, and halved until they are taken.
    let embedder = embedder(EmbedSettings::new(server(), EMBEDDER)).await;
    let texts = texts(&golden.texts);
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!((found.len(), found.dimension()), (golden.texts.len(), 384));
    assert!(found.len() > 8, "more than one request");
    for (text, (found, expected)) in golden.texts.iter().zip(found.rows().zip(&golden.vectors)) {
        let cosine = cosine(found, expected);
        assert!(cosine > 0.9999, "{cosine}: {text:?}");
    }
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn questions_and_documents_have_prefixes_of_their_own() {
    let golden = GoldenVectors::read();
    let embedder = embedder(EmbedSettings {
        query_prefix: "What is the ".to_owned(),
        document_prefix: "The capital of ".to_owned(),
        ..EmbedSettings::new(server(), EMBEDDER)
    })
    .await;
    let cases = [
        (
            TextKind::Query,
            "capital of France?",
            "What is the capital of France?",
        ),
        (
            TextKind::Document,
            "France is Paris.",
            "The capital of France is Paris.",
        ),
    ];
    for (kind, text, whole) in cases {
        let found = embedder.embed(&[text], kind).await.unwrap();
        let cosine = cosine(found.values(), golden.of(whole));
        assert!(cosine > 0.9999, "{cosine}: {whole}");
    }
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn of_a_text_that_is_too_long_the_beginning_is_embedded() {
    let embedder = embedder(EmbedSettings::new(server(), EMBEDDER)).await;
    // The server takes 122,880 characters, and the model reads 256 tokens of them.
    let [taken, refused] = [20_000, 30_000].map(|times| "word ".repeat(times));
    let texts = ["Paris", &refused, &taken];
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    let rows: Vec<&[f32]> = found.rows().collect();
    assert!(cosine(rows[1], rows[2]) > 0.9999);
    assert!(cosine(rows[0], rows[1]) < 0.9);
    let cut = "1 text is longer than the model reads and was truncated";
    assert_eq!(embedder.notes(), [cut]);
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn scores_are_the_model_s_in_the_order_of_the_texts() {
    let golden = GoldenScores::read();
    let mut settings = RerankSettings::new(server(), RERANKER);
    settings.max_batch = NonZeroUsize::new(4).unwrap();
    let through_sigmoid = reranker(settings.clone()).await;
    settings
        .extra_body
        .insert("raw_scores".to_owned(), json!(true));
    let raw = reranker(settings).await;

    let texts = texts(&golden.texts);
    let reranked = raw.rerank(&golden.query, &texts, 1).await.unwrap();
    assert_close(&reranked.scores, &golden.scores);
    let logistic = |logit: &f32| 1.0 / (1.0 + (-logit).exp());
    let expected: Vec<f32> = golden.scores.iter().map(logistic).collect();
    let reranked = through_sigmoid
        .rerank(&golden.query, &texts, 1)
        .await
        .unwrap();
    assert_close(&reranked.scores, &expected);
    assert!(reranked.usage.unwrap().input_tokens > 0);
    assert!(!reranked.cached && reranked.service_time > Duration::ZERO);
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn more_texts_to_rank_than_the_server_takes_are_an_error() {
    let reranker = reranker(RerankSettings::new(server(), RERANKER)).await;
    let error = reranker.rerank("word", &["word"; 9], 1).await.unwrap_err();
    assert_eq!(error.failure, Failure::Content);
    let expected =
        "answered 422: body.documents: List should have at most 8 items after validation, not 9";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
    assert!(reranker.rerank("word", &["word"; 8], 1).await.is_ok());
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn an_unknown_model_is_named_with_those_there_are() {
    let listed = list_openai_models(server()).await.unwrap();
    let names: Vec<String> = listed.into_iter().map(|model| model.name).collect();
    assert_eq!(names, [EMBEDDER, RERANKER]);

    let expected = "answered 400: Invalid model: Engine for model name `nowhere` not found. Available model names are ['minilm', \
                    'reranker']; set the model's `name` to one that the server has, not `nowhere`";
    for message in [
        no_embedder(server(), "nowhere").await,
        no_reranker(server(), "nowhere").await,
    ] {
        assert!(message.ends_with(expected), "{message}");
    }
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn a_model_of_the_other_kind_is_told_from_an_unknown_one() {
    let message = no_embedder(server(), RERANKER).await;
    let advice = "; set a model that embeds, or start the server with embeddings enabled";
    assert!(message.ends_with(advice), "{message}");
    let message = no_reranker(server(), EMBEDDER).await;
    let advice = "; set a model that reranks, or start the server with reranking enabled";
    assert!(message.ends_with(advice), "{message}");
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn a_wrong_key_and_a_wrong_address_are_named() {
    let wrong = || server_at(&variable("INFINITY_URL"), "sk-infinity-wrong");
    let expected = "answered 401: Unauthorized; check the key in `INFINITY_API_KEY`, which `api_key_env` names";
    for message in [
        no_embedder(wrong(), EMBEDDER).await,
        no_reranker(wrong(), RERANKER).await,
    ] {
        assert!(message.ends_with(expected), "{message}");
        assert!(!message.contains("sk-infinity-wrong"), "{message}");
    }
    let elsewhere = format!("{}/v1", variable("INFINITY_URL"));
    let elsewhere = || server_at(&elsewhere, &variable("INFINITY_API_KEY"));
    let message = no_embedder(elsewhere(), EMBEDDER).await;
    let expected =
        "answered 404: Not Found; check `base_url`: some servers have no `/v1` in theirs";
    assert!(message.ends_with(expected), "{message}");
    let message = no_reranker(elsewhere(), RERANKER).await;
    let expected = "answered 404: Not Found; check `base_url`: `/rerank` is appended to it";
    assert!(message.ends_with(expected), "{message}");
}

#[tokio::test]
#[ignore = "needs infinity: make test-servers"]
async fn a_server_that_goes_away_is_missed() {
    let (url, gate) = gate().await;
    let server = server_at(&url, &variable("INFINITY_API_KEY"));
    let embedder = embedder(EmbedSettings::new(server.clone(), EMBEDDER)).await;
    let reranker = reranker(RerankSettings::new(server, RERANKER)).await;
    gate.abort();
    assert!(gate.await.unwrap_err().is_cancelled());

    let error = embedder.embed(&["word"], TextKind::Query).await;
    let error = error.unwrap_err();
    assert!(chain(&error).contains(&url), "{}", chain(&error));
    assert!(error.is_transient());
    let error = reranker.rerank("word", &["word"], 1).await.unwrap_err();
    assert!(chain(&error).contains(&url), "{}", chain(&error));
    assert_eq!(error.failure, Failure::Transient);
}

/// An address that leads to the server until the task ends, and with it every connection.
async fn gate() -> (String, JoinHandle<()>) {
    let server = variable("INFINITY_URL").replace("http://", "");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let gate = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(&server).await.unwrap();
            connections
                .spawn(async move { copy_bidirectional(&mut client, &mut server).await.is_ok() });
        }
    });
    (url, gate)
}

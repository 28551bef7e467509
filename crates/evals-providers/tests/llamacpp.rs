//! Models behind llama.cpp's server, which `scripts/test-llamacpp` starts with random weights: what they say is noise, and how
//! they say it is not.

use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use evals_models::{
    ChatModel, ChatRequest, Embedder, Failure, Finish, Message, ReplySchema, TextKind,
};
use evals_providers::{
    ApiKey, BaseUrl, ChatSettings, Concession, ConnectError, EmbedSettings, HttpEmbedder,
    OpenAiChat, ServerSettings, Traffic, TrafficSettings, list_openai_models,
};
use serde_json::{Value, json};

/// The names under which the server has its one model.
const CHAT: &str = "tiny-chat";
const EMBEDDING: &str = "tiny-embedding";
const UNPOOLED: &str = "tiny-unpooled";

/// The token that ends a text, to whose chance the server adds what `logit_bias` says.
const END: &str = "2";

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is set by scripts/test-llamacpp"))
}

fn server() -> ServerSettings {
    let url = BaseUrl::parse(&variable("LLAMACPP_URL")).expect("an address");
    let key = ApiKey::new(variable("LLAMACPP_API_KEY"), "LLAMACPP_API_KEY").expect("a key");
    ServerSettings {
        api_key: Some(key),
        ..ServerSettings::new(url)
    }
}

fn traffic() -> Arc<Traffic> {
    let settings = TrafficSettings {
        max_attempts: NonZeroU32::new(2).expect("2 is not zero"),
        base_delay: Duration::from_millis(1),
        ..TrafficSettings::default()
    };
    Arc::new(Traffic::new("llamacpp", settings))
}

fn settings(model: &str) -> ChatSettings {
    ChatSettings {
        seed: Some(7),
        max_tokens: NonZeroU32::new(2_000),
        ..ChatSettings::new(server(), model)
    }
}

fn chat(settings: ChatSettings) -> OpenAiChat {
    OpenAiChat::new(settings, traffic()).expect("sound settings")
}

async fn embedder(settings: EmbedSettings) -> HttpEmbedder {
    let connected = HttpEmbedder::openai(settings, traffic()).await;
    connected.expect("a model that embeds")
}

fn question() -> ChatRequest {
    ChatRequest::new(vec![
        Message::system("Answer in one word."),
        Message::user("What is the capital of France?"),
    ])
}

/// The request of a judge.
fn examination() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "pass": {"type": "boolean"}},
        "required": ["reason", "pass"],
        "additionalProperties": false,
    });
    ChatRequest {
        schema: Some(ReplySchema {
            name: "verdict".to_owned(),
            schema,
        }),
        ..question()
    }
}

fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_reply_comes_with_its_end_and_its_tokens() {
    let mut settings = settings(CHAT);
    // Noise may end before it begins.
    let least = json!(3);
    settings.extra_body.insert("min_tokens".to_owned(), least);
    let reply = chat(settings).chat(&question()).await.unwrap();
    assert_eq!(reply.finish, Finish::Stop);
    assert!(reply.text.len() >= 3, "{}", reply.text);
    assert!(!reply.usage.estimated);
    // A token is a byte, and one starts the text.
    let prompt = "system: Answer in one word.\nuser: What is the capital of France?\nassistant: ";
    assert_eq!(reply.usage.input_tokens, 1 + prompt.len() as u64);
    assert_eq!(reply.usage.output_tokens, reply.text.len() as u64);
    assert_eq!(reply.served.attempts, 1);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn seed_and_temperature_decide_what_is_said() {
    let reply = async |seed, temperature| {
        let mut settings = settings(CHAT);
        (settings.seed, settings.temperature) = (seed, temperature);
        settings.max_tokens = NonZeroU32::new(64);
        settings.extra_body = endless();
        let model = chat(settings);
        let reply = model.chat(&question()).await.unwrap();
        assert_eq!(model.concessions(), []);
        reply.text
    };
    let first = reply(Some(7), Some(1.0)).await;
    assert_eq!(reply(Some(7), Some(1.0)).await, first);
    assert_ne!(reply(Some(8), Some(1.0)).await, first);
    let greedy = reply(Some(7), Some(0.0)).await;
    assert_eq!(reply(Some(8), Some(0.0)).await, greedy);
    assert_ne!(greedy, first);
}

fn endless() -> serde_json::Map<String, Value> {
    let mut fields = serde_json::Map::new();
    fields.insert("logit_bias".to_owned(), json!({END: -100.0}));
    fields
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_budget_that_is_used_up_says_so() {
    let mut settings = settings(CHAT);
    settings.extra_body = endless();
    let request = ChatRequest {
        max_tokens: NonZeroU32::new(5),
        ..question()
    };
    let reply = chat(settings).chat(&request).await.unwrap();
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(reply.usage.output_tokens, 5);
    assert_eq!(reply.text.len(), 5);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_verdict_is_held_to_its_schema() {
    let model = chat(settings(CHAT));
    let free = model.chat(&question()).await.unwrap().text;
    let free: Value = serde_json::from_str(&free).unwrap_or_default();
    assert!(!free.is_object(), "{free}");

    let reply = model.chat(&examination()).await.unwrap();
    assert_eq!(reply.finish, Finish::Stop);
    let verdict: Value = serde_json::from_str(&reply.text).unwrap();
    let fields: Vec<&String> = verdict.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["reason", "pass"]);
    assert!(verdict["reason"].is_string() && verdict["pass"].is_boolean());
    // It takes a schema, though not where OpenAI has it, and its refusal of that is not tried again as if it were a fault.
    assert_eq!(model.concessions(), [Concession::SchemaInObject]);
    assert_eq!(reply.served.attempts, 1);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_prompt_that_does_not_fit_fails_alone() {
    let request = ChatRequest::new(vec![Message::user("x".repeat(20_000))]);
    let model = chat(settings(CHAT));
    let error = model.chat(&request).await.unwrap_err();
    assert_eq!(error.failure, Failure::Content);
    let expected = "answered 400: This model's maximum context length is 16384 tokens. However, you requested 22019 tokens \
                    (20019 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
    assert!(model.chat(&question()).await.is_ok());
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn an_unknown_model_is_only_missed_in_the_list() {
    // It answers with the first model it has, under the name that was asked for.
    assert!(
        chat(settings("no-such-model"))
            .chat(&question())
            .await
            .is_ok()
    );
    let listed = list_openai_models(server()).await.unwrap();
    let names: Vec<String> = listed.into_iter().map(|model| model.name).collect();
    assert_eq!(names, [CHAT, EMBEDDING, UNPOOLED]);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_wrong_key_and_a_wrong_address_are_named() {
    let failed = async |server: ServerSettings| {
        let settings = ChatSettings::new(server, CHAT);
        let error = chat(settings).chat(&question()).await.unwrap_err();
        assert_eq!(error.failure, Failure::Terminal);
        chain(&error)
    };
    let wrong = "sk-llamacpp-wrong";
    let message = failed(ServerSettings {
        api_key: Some(ApiKey::new(wrong, "LLAMACPP_API_KEY").unwrap()),
        ..server()
    })
    .await;
    let expected = "answered 401: Invalid API key; check the key in `LLAMACPP_API_KEY`, which `api_key_env` names";
    assert!(message.ends_with(expected), "{message}");
    assert!(!message.contains(wrong), "{message}");

    let root = variable("LLAMACPP_URL").replace("/v1", "");
    let message = failed(ServerSettings {
        base_url: BaseUrl::parse(&root).unwrap(),
        ..server()
    })
    .await;
    let expected = "answered 404: Not Found; check `base_url`: it usually ends in `/v1`";
    assert!(message.ends_with(expected), "{message}");
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn vectors_come_in_the_order_of_their_texts() {
    let mut settings = EmbedSettings::new(server(), EMBEDDING);
    settings.max_batch = NonZeroUsize::new(2).unwrap();
    let embedder = embedder(settings).await;
    assert_eq!(embedder.dimension(), 64);

    let texts = [
        "Paris",
        "Rome",
        "a longer text about Athens",
        "Oslo",
        "Bern",
        "Madrid",
        "Łódź",
    ];
    let together = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!((together.len(), together.dimension()), (7, 64));
    assert!(together.values().iter().all(|value| value.is_finite()));
    for (place, text) in texts.iter().enumerate() {
        let alone = embedder.embed(&[text], TextKind::Document).await.unwrap();
        let alone = alone.rows().next().unwrap();
        let distances = together.rows().map(|row| distance(row, alone));
        let distances: Vec<f32> = distances.collect();
        let nearest = (0..texts.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        assert_eq!(nearest, Some(place), "{text}: {distances:?}");
        assert!(distances[place] < 1e-3, "{text}: {distances:?}");
    }
}

fn distance(one: &[f32], other: &[f32]) -> f32 {
    let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f32>().sqrt()
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: make test-llamacpp"]
async fn a_model_that_cannot_embed_says_so_at_once() {
    let failed = async |model| {
        let settings = EmbedSettings::new(server(), model);
        let error = HttpEmbedder::openai(settings, traffic()).await;
        let error = error.unwrap_err();
        let terminal = matches!(
            error,
            ConnectError::Server {
                failure: Failure::Terminal,
                ..
            }
        );
        assert!(terminal, "{error:?}");
        chain(&error)
    };
    let advice = "; set a model that embeds, or start the server with embeddings enabled";
    let unable = format!(
        "answered 500: Llama model must be created with embedding=True to call this method{advice}"
    );
    let message = failed(CHAT).await;
    assert!(message.ends_with(&unable), "{message}");
    let unpooled =
        format!("answered with a vector for each token instead of one for each text{advice}");
    let message = failed(UNPOOLED).await;
    assert!(message.ends_with(&unpooled), "{message}");
}

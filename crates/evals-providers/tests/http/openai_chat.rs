//! Chat models behind `OpenAI`'s protocol: the requests that they send, and how they read replies.

use std::num::NonZeroU32;

use evals_models::{ChatModel, ChatRequest, Failure, Finish, Usage};
use evals_providers::{Concession, ConnectError, OpenAiChat, SettingsError, Think};
use serde_json::{Value, json};

use crate::scripted_server::{Reaction, Saying, ScriptedServer};
use crate::{KEY, chain, chat_settings, openai, question, server_with_key, traffic, verdict};

#[tokio::test]
async fn asks_as_it_is_set() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&format!("{}/", scripted.openai_url()));
    settings.server.api_key = server_with_key(&scripted.openai_url()).api_key;
    settings.temperature = Some(0.3);
    settings.seed = Some(7);
    settings.max_tokens = NonZeroU32::new(512);
    settings.reasoning_effort = Some("low".to_owned());
    settings.extra_body.insert("top_p".to_owned(), json!(0.9));
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    let request = ChatRequest {
        schema: Some(verdict()),
        ..question()
    };

    let reply = model.chat(&request).await.unwrap();

    assert_eq!(reply.text, "Paris");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.reasoning, None);
    let counted = Usage {
        input_tokens: 25,
        output_tokens: 7,
        estimated: false,
    };
    assert_eq!(reply.usage, counted);
    assert_eq!((reply.served.attempts, reply.served.cached), (1, false));
    let sent = &scripted.received()[0];
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert!(!sent.headers.contains_key("openai-organization"));
    let expected = json!({
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Answer in one word."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "verdict", "schema": verdict().schema, "strict": true,
        }},
        "stream": false,
        "temperature": 0.3,
        "seed": 7,
        "max_tokens": 512,
        "reasoning_effort": "low",
        "top_p": 0.9,
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn a_schema_keeps_the_order_of_its_properties() {
    let scripted = ScriptedServer::saying("{}");
    let request = ChatRequest {
        schema: Some(verdict()),
        ..question()
    };
    openai(&scripted, 1).chat(&request).await.unwrap();
    let schema = &scripted.received()[0].body["response_format"]["json_schema"]["schema"];
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["reason", "pass"]);
}

#[tokio::test]
async fn without_a_key_nothing_is_said_of_one() {
    let scripted = ScriptedServer::saying("Paris");
    openai(&scripted, 1).chat(&question()).await.unwrap();
    assert!(!scripted.received()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_requests_budget_goes_before_the_models() {
    let scripted = ScriptedServer::saying("Paris");
    let mut settings = chat_settings(&scripted.openai_url());
    settings.max_tokens = NonZeroU32::new(512);
    settings.model = "o3-mini".to_owned();
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    let request = ChatRequest {
        max_tokens: NonZeroU32::new(1_024),
        ..question()
    };
    model.chat(&request).await.unwrap();
    let body = &scripted.received()[0].body;
    assert_eq!(body["max_completion_tokens"], 1_024);
    assert_eq!(body["max_tokens"], Value::Null);
}

#[tokio::test]
async fn a_reply_in_pieces_is_put_together() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::Say(Saying {
            streamed: true,
            finish: Some("length"),
            ..Saying::of("<think>France?</think>Paris é")
        })
    });
    let reply = openai(&scripted, 1).chat(&question()).await.unwrap();
    assert_eq!(reply.text, "Paris é");
    assert_eq!(reply.reasoning.as_deref(), Some("France?"));
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(reply.usage.input_tokens, 25);
}

/// A server that refuses a request with this message for as long as its body has this field.
fn picky(fields: &'static [(&'static str, &'static str)]) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        let refused = fields
            .iter()
            .find(|(field, _)| request.body.pointer(field).is_some());
        match refused {
            Some((_, message)) => Reaction::json(400, &json!({"error": {"message": message}})),
            None => Reaction::say("Paris"),
        }
    })
}

#[tokio::test]
async fn leaves_out_what_the_server_refuses_and_remembers() {
    let scripted = picky(&[
        (
            "/max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model.",
        ),
        (
            "/temperature",
            "Unsupported value: 'temperature' does not support 0.3",
        ),
        (
            "/response_format/json_schema",
            "response_format type json_schema is not available",
        ),
        ("/response_format", "unexpected field response_format"),
    ]);
    let mut settings = chat_settings(&scripted.openai_url());
    settings.temperature = Some(0.3);
    settings.max_tokens = NonZeroU32::new(512);
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    let parameters = model.parameters();
    let request = ChatRequest {
        schema: Some(verdict()),
        ..question()
    };

    assert_eq!(model.chat(&request).await.unwrap().text, "Paris");
    assert_eq!(scripted.received().len(), 6);
    assert_eq!(model.chat(&request).await.unwrap().served.attempts, 1);
    assert_eq!(scripted.received().len(), 7);

    let body = &scripted.received()[6].body;
    assert_eq!(body["max_completion_tokens"], 512);
    assert_eq!(
        model.concessions(),
        [
            Concession::MaxTokensField,
            Concession::Temperature,
            Concession::SchemaInObject,
            Concession::JsonObject,
            Concession::AnyFormat
        ]
    );
    assert_eq!(
        model.notes()[1],
        "the server takes no temperature",
        "reports say what was given up"
    );
    // The key of a stored reply is that of what was asked for.
    assert_eq!(model.parameters(), parameters);
}

#[tokio::test]
async fn a_budget_that_is_used_up_by_reasoning_is_an_empty_reply() {
    let scripted = ScriptedServer::start(|_, _| {
        let message = "Could not finish the message because max_tokens or model output limit was reached. \
                       Please try again with higher max_tokens.";
        Reaction::json(
            400,
            &json!({"error": {"message": message, "type": "invalid_request_error"}}),
        )
    });
    let mut settings = chat_settings(&scripted.openai_url());
    settings.max_tokens = NonZeroU32::new(16);
    let model = OpenAiChat::new(settings, traffic(2)).unwrap();
    let reply = model.chat(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("", Finish::Length));
    assert_eq!(
        (reply.usage.output_tokens, reply.usage.estimated),
        (16, true)
    );
    assert_eq!(scripted.received().len(), 1);
}

#[tokio::test]
async fn a_field_that_stays_refused_is_a_failure() {
    let scripted = ScriptedServer::start(|_, _| {
        let error = json!({"error": {"message": "temperature is not supported", "code": "unsupported_value"}});
        Reaction::json(400, &error)
    });
    let mut settings = chat_settings(&scripted.openai_url());
    settings.temperature = Some(0.3);
    let model = OpenAiChat::new(settings, traffic(3)).unwrap();
    let error = model.chat(&question()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert_eq!(scripted.received().len(), 2);
    assert!(chain(&error).ends_with(
        "answered 400: temperature is not supported; change or remove the setting of the model that the server names"
    ));
}

#[test]
fn settings_that_mean_nothing_here_are_refused() {
    let refused = |change: &dyn Fn(&mut evals_providers::ChatSettings)| {
        let mut settings = chat_settings("http://localhost:1/v1");
        change(&mut settings);
        OpenAiChat::new(settings, traffic(1))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&|settings| settings.think = Some(Think::Off)),
        "`think` has no meaning for provider `openai`"
    );
    assert_eq!(
        refused(&|settings| settings.num_ctx = NonZeroU32::new(1)),
        "`num_ctx` has no meaning for provider `openai`"
    );
    assert_eq!(
        refused(&|settings| {
            settings.extra_body.insert("stream".to_owned(), json!(true));
        }),
        "`extra_body` may not set `stream`"
    );
    let error = OpenAiChat::new(chat_settings("http://me:pw@localhost:1/v1"), traffic(1));
    assert!(matches!(
        error,
        Err(ConnectError::Settings(SettingsError::Userinfo))
    ));
}

#[test]
fn parameters_name_what_a_reply_depends_on() {
    let mut settings = chat_settings("http://localhost:1/v1/");
    settings.server = server_with_key("http://localhost:1/v1/");
    settings.temperature = Some(0.0);
    settings.extra_body.insert("top_p".to_owned(), json!(0.9));
    let model = OpenAiChat::new(settings, traffic(1)).unwrap();
    assert_eq!(
        Value::Object(model.parameters()),
        json!({
            "provider": "openai",
            "base_url": "http://localhost:1/v1",
            "name": "scripted",
            "temperature": 0.0,
            "extra_body": {"top_p": 0.9},
        })
    );
}

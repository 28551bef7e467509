//! The models that servers list.

use evals_providers::{OllamaModels, ServedModel, list_openai_models};
use serde_json::json;

use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{chain, server};

#[tokio::test]
async fn servers_list_what_they_have() {
    let scripted = ScriptedServer::saying("");
    let models = OllamaModels::new(server(&scripted.ollama_url())).unwrap();
    let listed = models.list().await.unwrap();
    assert_eq!(listed, ["scripted:8b", "scripted:latest"]);
    let listed = list_openai_models(server(&scripted.openai_url())).await;
    let expected = ServedModel {
        name: "scripted".to_owned(),
        digest: None,
    };
    assert_eq!(listed.unwrap(), [expected]);
}

#[tokio::test]
async fn an_address_of_something_else_is_named() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(404, "404 page not found"));
    for (url, advice) in [
        (scripted.ollama_url(), "it usually ends in `/v1`"),
        (
            scripted.openai_url(),
            "some servers have no `/v1` in theirs",
        ),
    ] {
        let error = list_openai_models(server(&url)).await.unwrap_err();
        let expected = format!("answered 404: 404 page not found; check `base_url`: {advice}");
        assert!(chain(&error).ends_with(&expected), "{}", chain(&error));
    }
}

#[tokio::test]
async fn what_servers_tell_of_weights_is_kept() {
    let scripted = ScriptedServer::start(|_, _| {
        Reaction::json(
            200,
            &json!({"data": [
                {"id": "a", "root": "/models/a-v2", "created": 1_700_000_000},
                {"id": "b", "root": "b"},
                {"id": "c", "meta": {"n_params": 8_000_000, "size": 4_500_000, "n_ctx_train": 512}},
            ]}),
        )
    });
    let listed = list_openai_models(server(&scripted.openai_url())).await;
    let digests: Vec<Option<String>> = listed.unwrap().into_iter().map(|it| it.digest).collect();
    let expected = [
        Some("root=/models/a-v2"),
        None,
        Some("n_params=8000000 size=4500000"),
    ];
    assert_eq!(digests, expected.map(|digest| digest.map(str::to_owned)));
}

#[tokio::test]
async fn a_refused_key_is_told_from_other_failures() {
    for (status, refuses_key) in [(401, true), (403, false), (404, false), (500, false)] {
        let scripted = ScriptedServer::start(move |_, _| Reaction::body(status, ""));
        let error = list_openai_models(server(&scripted.openai_url())).await;
        let error = error.unwrap_err();
        assert_eq!(error.refuses_key(), refuses_key, "{status}");
        assert_eq!(error.is_transient(), status == 500, "{status}");
    }
}

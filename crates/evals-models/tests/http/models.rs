use evals_models::http::{ServedModel, list_ollama_models, list_openai_models};

use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{chain, server};

#[tokio::test]
async fn servers_list_what_they_have() {
    let scripted = ScriptedServer::saying("");
    let listed = list_ollama_models(server(&scripted.ollama_url())).await;
    let model = |name: &str, digest: Option<&str>| ServedModel {
        name: name.to_owned(),
        digest: digest.map(str::to_owned),
    };
    let expected = [
        model("scripted:8b", Some("digest-of-scripted:8b")),
        model("scripted:latest", Some("digest-of-scripted:latest")),
    ];
    assert_eq!(listed.unwrap(), expected);
    let listed = list_openai_models(server(&scripted.openai_url())).await;
    assert_eq!(listed.unwrap(), [model("scripted", None)]);
}

#[tokio::test]
async fn an_address_of_something_else_is_named() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(404, "404 page not found"));
    let listed = list_openai_models(server(&scripted.ollama_url())).await;
    let expected = "answered 404: 404 page not found; check `base_url`: it usually ends in `/v1`";
    let error = listed.unwrap_err();
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
}

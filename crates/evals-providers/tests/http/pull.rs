//! Pulling models into an Ollama server.

use std::time::Duration;

use evals_providers::{ApiKey, BaseUrl, OllamaChat, OllamaModels, PullProgress, ServerSettings};
use serde_json::{Value, json};

use crate::scripted_server::reaction::Ending;
use crate::scripted_server::{Reaction, ScriptedServer};
use crate::{KEY, chain, chat_settings, server, server_with_key, traffic};

fn models(scripted: &ScriptedServer) -> OllamaModels {
    OllamaModels::new(server(&scripted.ollama_url())).expect("sound settings")
}

/// A server that answers each pull with these lines.
fn pulling(lines: Vec<Value>, ending: Ending) -> ScriptedServer {
    ScriptedServer::start(move |request, _| match request.path.as_str() {
        "/api/pull" => Reaction::Lines(lines.clone(), ending),
        _ => Reaction::Sound,
    })
}

/// The error of a pull, with its causes and without the server's address.
async fn error_of(scripted: &ScriptedServer, settings: ServerSettings) -> String {
    let models = OllamaModels::new(settings).expect("sound settings");
    let pulled = models.pull("qwen3", |_| {}).await;
    let error = pulled.expect_err("the pull fails");
    chain(&error).replace(&scripted.ollama_url(), "URL")
}

#[tokio::test]
async fn a_pull_reports_its_steps() {
    let scripted = ScriptedServer::saying("");
    let mut steps: Vec<PullProgress> = Vec::new();
    let pulled = models(&scripted)
        .pull("scripted:8b", |progress| steps.push(progress.clone()))
        .await;
    pulled.unwrap();
    let steps: Vec<(&str, u64, u64)> = steps
        .iter()
        .map(|it| (it.step.as_str(), it.completed, it.total))
        .collect();
    let expected = [
        ("pulling manifest", 0, 0),
        ("pulling 8934d96d3f08", 0, 1_000),
        ("pulling 8934d96d3f08", 400, 1_000),
        ("pulling 8934d96d3f08", 1_000, 1_000),
        ("pulling 8c17c2ebb0ea", 1_024, 1_024),
        ("verifying sha256 digest", 1_024, 1_024),
        ("writing manifest", 1_024, 1_024),
        ("success", 1_024, 1_024),
    ];
    assert_eq!(steps, expected);
    let sent = &scripted.received_at("/api/pull")[0];
    let expected = json!({"name": "scripted:8b", "insecure": false, "stream": true});
    assert_eq!((sent.method.as_str(), &sent.body), ("POST", &expected));
}

#[tokio::test]
async fn a_model_that_the_registry_does_not_have_is_named() {
    let lines = vec![
        json!({"status": "pulling manifest"}),
        json!({"error": "pull model manifest: file does not exist"}),
    ];
    let scripted = pulling(lines, Ending::Whole);
    let expected = "`URL` refused: pull model manifest: file does not exist; check the model's `name`: https://ollama.com/library \
                    lists what there is";
    let settings = server(&scripted.ollama_url());
    assert_eq!(error_of(&scripted, settings).await, expected);
}

#[tokio::test]
async fn a_pull_may_be_refused_before_its_first_step() {
    let refused = json!({"error": "mkdir /models: no space left on device"});
    let scripted = ScriptedServer::start(move |_, _| Reaction::json(500, &refused));
    let settings = server(&scripted.ollama_url());
    assert_eq!(
        error_of(&scripted, settings).await,
        "`URL` answered 500: mkdir /models: no space left on device"
    );
}

#[tokio::test]
async fn a_pull_without_its_last_step_is_not_done() {
    let layer =
        json!({"status": "pulling 8934", "digest": "sha256:8934", "total": 9, "completed": 4});
    for ending in [Ending::Whole, Ending::Cut] {
        let scripted = pulling(vec![layer.clone()], ending);
        let error = error_of(&scripted, server(&scripted.ollama_url())).await;
        let expected = "`URL` ended the pull early; pull again to continue where it stopped";
        assert!(error.starts_with(expected), "{ending:?}: {error}");
    }
}

#[tokio::test]
async fn a_pull_may_take_longer_than_the_timeout_while_it_moves() {
    let steps: Vec<String> = (0..6)
        .map(|step| json!({"status": format!("step {step}")}))
        .chain([json!({"status": "success"})])
        .map(|step| format!("{step}\n"))
        .collect();
    let scripted = ScriptedServer::start(move |_, _| {
        Reaction::Drip(steps.clone(), Duration::from_millis(200))
    });
    let settings = ServerSettings {
        timeout: Duration::from_millis(800),
        ..server(&scripted.ollama_url())
    };
    let models = OllamaModels::new(settings).unwrap();
    models.pull("qwen3", |_| {}).await.unwrap();
}

#[tokio::test]
async fn a_pull_that_stalls_is_given_up() {
    let scripted = pulling(vec![json!({"status": "pulling manifest"})], Ending::Silence);
    let settings = ServerSettings {
        timeout: Duration::from_millis(200),
        ..server(&scripted.ollama_url())
    };
    assert_eq!(
        error_of(&scripted, settings).await,
        "`URL` reported no progress for 0.2s (`timeout`); pull again to continue where it stopped"
    );
}

#[tokio::test]
async fn an_answer_that_is_no_pull_is_malformed() {
    let scripted = pulling(vec![json!(["no", "status"])], Ending::Whole);
    let error = error_of(&scripted, server(&scripted.ollama_url())).await;
    let expected = "`URL` answered with `[\"no\",\"status\"]` instead of the steps of a pull: ";
    assert!(error.starts_with(expected), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_started() {
    let url = ScriptedServer::saying("gone").ollama_url();
    let models = OllamaModels::new(server(&url)).unwrap();
    let error = models.list().await.unwrap_err();
    assert!(error.is_unreachable());
    let expected =
        format!("`{url}` cannot be reached; start it with `ollama serve`, or check `base_url`");
    assert!(chain(&error).starts_with(&expected), "{}", chain(&error));
}

#[tokio::test]
async fn a_server_knows_more_names_than_it_lists() {
    let scripted = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/api/show" if request.body["model"] != "alias" => {
            Reaction::json(404, &json!({"error": "model not found"}))
        }
        _ => Reaction::Sound,
    });
    let models = models(&scripted);
    let traffic = traffic(1);
    for (name, here) in [("alias", true), ("scripted:70b", false)] {
        let has = models.has(name, traffic.clone()).await;
        assert_eq!(has.unwrap(), here, "{name}");
    }
    assert!(scripted.received_at("/api/tags").is_empty());
}

#[tokio::test]
async fn a_model_can_be_opened_after_its_pull() {
    let scripted = ScriptedServer::start(|request, before| match request.path.as_str() {
        "/api/show" if before == 0 => Reaction::json(404, &json!({"error": "model not found"})),
        _ => Reaction::Sound,
    });
    let traffic = traffic(1);
    let models = models(&scripted);
    assert!(!models.has("scripted", traffic.clone()).await.unwrap());
    models.pull("scripted", |_| {}).await.unwrap();
    assert!(models.has("scripted", traffic.clone()).await.unwrap());
    let settings = chat_settings(&scripted.ollama_url());
    OllamaChat::connect(settings, traffic).await.unwrap();
}

#[tokio::test]
async fn a_refused_look_up_says_what_opening_the_model_says() {
    let page = "404 page not found";
    for (status, body, expected) in [
        (
            404,
            page,
            "404: 404 page not found; check `base_url`: Ollama's has no path",
        ),
        (307, "", "307; check `base_url`: Ollama's has no path"),
        (
            401,
            "",
            "401; name the environment variable that holds a key in `api_key_env`",
        ),
    ] {
        let scripted = ScriptedServer::start(move |_, _| Reaction::body(status, body));
        let url = format!("{}/v1", scripted.ollama_url());
        let models = OllamaModels::new(server(&url)).unwrap();
        let error = models.has("scripted", traffic(3)).await.unwrap_err();
        let expected = format!("`ollama:scripted` cannot be used: `{url}` answered {expected}");
        assert_eq!(chain(&error), expected);
        let opened = OllamaChat::connect(chat_settings(&url), traffic(3)).await;
        assert_eq!(chain(&opened.unwrap_err()), expected);
        assert_eq!(scripted.received_at("/api/show").len(), 1);
    }
}

#[tokio::test]
async fn a_look_up_is_retried() {
    let scripted = ScriptedServer::start(|_, before| match before {
        0 => Reaction::body(503, ""),
        _ => Reaction::Sound,
    });
    let has = models(&scripted).has("scripted", traffic(2)).await;
    assert!(has.unwrap());
    assert_eq!(scripted.received_at("/api/show").len(), 2);
}

#[tokio::test]
async fn a_refusal_has_the_advice_of_any_other() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(403, ""));
    let expected =
        "`URL` answered 403; name the environment variable that holds a key in `api_key_env`";
    assert_eq!(
        error_of(&scripted, server(&scripted.ollama_url())).await,
        expected
    );
    let listed = models(&scripted).list().await.unwrap_err();
    let listed = chain(&listed).replace(&scripted.ollama_url(), "URL");
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_list_that_is_not_found_has_no_advice_about_a_name() {
    let scripted = ScriptedServer::start(|_, _| Reaction::body(404, "404 page not found"));
    let error = models(&scripted).list().await.unwrap_err();
    assert!(
        chain(&error)
            .ends_with("answered 404: 404 page not found; check `base_url`: Ollama's has no path"),
        "{}",
        chain(&error)
    );
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    let scripted = ScriptedServer::start(|request, _| {
        let key = request.headers["authorization"].clone();
        match request.path.as_str() {
            "/api/pull" => Reaction::Lines(vec![json!({"status": key})], Ending::Whole),
            _ => Reaction::json(401, &json!({"error": format!("wrong key: {key}")})),
        }
    });
    let models = OllamaModels::new(server_with_key(&scripted.ollama_url())).unwrap();
    let refused = models.list().await.unwrap_err();
    let mut steps = Vec::new();
    let cut = models.pull("qwen3", |it| steps.push(it.step.clone())).await;
    let shown = format!(
        "{} {refused:?} {} {steps:?} {models:?}",
        chain(&refused),
        chain(&cut.unwrap_err())
    );
    assert!(shown.contains("[redacted]"), "{shown}");
    assert!(!shown.contains(KEY), "{shown}");
    let sent = scripted.received();
    let bearer = format!("Bearer {KEY}");
    assert!(sent.iter().all(|it| it.headers["authorization"] == bearer));
}

#[tokio::test]
async fn a_password_in_the_address_is_sent_and_never_shown() {
    let scripted = ScriptedServer::saying("");
    let address = scripted
        .ollama_url()
        .replace("http://", "http://me:hunter2-long@");
    let mut settings = server(&address);
    let models = OllamaModels::new(settings.clone()).unwrap();
    assert_eq!(models.list().await.unwrap().len(), 2);
    let sent = &scripted.received()[0];
    assert_eq!(sent.headers["authorization"], "Basic bWU6aHVudGVyMi1sb25n");
    assert!(!format!("{models:?}").contains("hunter2"));
    settings.api_key = Some(ApiKey::new(KEY, "SCRIPTED_KEY").unwrap());
    assert!(OllamaModels::new(settings).is_err(), "two credentials");
}

#[tokio::test]
async fn addresses_may_have_a_path() {
    let scripted = ScriptedServer::start(|request, _| match request.path.as_str() {
        "/ollama/api/tags" => Reaction::json(200, &json!({"models": []})),
        path => Reaction::body(404, path),
    });
    let base_url = BaseUrl::parse(&format!("{}/ollama/", scripted.ollama_url())).unwrap();
    let models = OllamaModels::new(ServerSettings::new(base_url)).unwrap();
    assert!(models.list().await.unwrap().is_empty());
}

//! Processes that submit no batches, after processes that did.

use evals_providers::BatchedChat;
use serde_json::json;

use super::{Folder, Notes, ask_all, assert_ends, batched, killed, model, settings, texts};
use crate::scripted_server::Reaction;
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};

/// A server at which a killed process left a batch with the requests `a` and `b`.
async fn left(script: Script) -> (BatchServer, Folder) {
    let server = BatchServer::start(script);
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a", "b"]).await;
    (server, folder)
}

/// A process that submits no batches, and its notes.
fn direct(server: &BatchServer, folder: &Folder) -> (BatchedChat, std::sync::Arc<Notes>) {
    let notes = Notes::new();
    let mut settings = settings(&folder.0);
    settings.submits = false;
    let model = BatchedChat::new(model(server), settings, notes.clone());
    (model, notes)
}

/// Lets the batch end, has a process that submits none get both replies, and returns its notes.
async fn ask_both(server: &BatchServer, folder: &Folder) -> std::sync::Arc<Notes> {
    server.hold(false);
    let (model, notes) = direct(server, folder);
    let replies = texts(ask_all(&model, &["a", "b"]).await);
    assert_eq!(replies, ["echo: a", "echo: b"]);
    notes
}

#[tokio::test]
async fn replies_of_a_batch_that_has_ended_are_collected_and_other_requests_are_sent_directly() {
    let (server, folder) = left(Script::sound()).await;
    let has_earlier = || BatchedChat::has_earlier(&model(&server), &folder.0).unwrap();
    assert!(has_earlier());
    let (second, _) = direct(&server, &folder);
    let early = texts(ask_all(&second, &["a"]).await).remove(0);
    assert_ends(&early, "Terminal", "is still `in_progress`");
    assert_ends(
        &early,
        "Terminal",
        "2 replies of it are not on this machine",
    );
    super::end(second, &folder).await;
    server.hold(false);
    let (third, _) = direct(&server, &folder);
    let replies = texts(ask_all(&third, &["a", "new", "b"]).await);
    assert_eq!(replies, ["echo: a", "echo: new", "echo: b"]);
    assert_eq!((server.sizes(), server.direct()), (vec![2], 1));
    assert!(folder.files().is_empty());
    assert!(!has_earlier());
}

#[tokio::test]
async fn the_rest_of_a_cancelled_batch_is_sent_directly() {
    let (server, folder) = left(Script {
        end: |_| "cancelled",
        polls: 0,
        answer: Box::new(|batch, body| match echo(body) {
            text if text.ends_with('b') && batch == 0 => Line::Missing,
            text => Line::Say(text),
        }),
        ..Script::sound()
    })
    .await;
    let notes = ask_both(&server, &folder).await;
    assert_eq!((server.sizes(), server.direct()), (vec![2], 1));
    let expected = "cancelled, 1 reply, 1 without a reply";
    assert!(notes.text().contains(expected), "{}", notes.text());
}

#[tokio::test]
async fn the_requests_of_a_batch_that_the_server_refused_are_sent_directly() {
    let (server, folder) = left(Script {
        end: |_| "failed",
        polls: 0,
        reason: json!({"data": [{"message": "no credit"}]}),
        ..Script::sound()
    })
    .await;
    let notes = ask_both(&server, &folder).await;
    assert_eq!((server.sizes(), server.direct()), (vec![2], 2));
    let text = notes.text();
    assert!(text.contains("no credit"), "{text}");
    assert!(text.contains("its requests are sent directly"), "{text}");
    assert!(folder.files().is_empty());
}

#[tokio::test]
async fn nothing_is_sent_directly_while_the_state_of_the_batch_is_unknown() {
    let (server, folder) = left(Script {
        fault: Box::new(|request, _| {
            let is_look = request.method == "GET" && request.path.contains("/batches/");
            let busy = Reaction::json(503, &json!({"error": {"message": "overloaded"}}));
            is_look.then_some(busy)
        }),
        ..Script::sound()
    })
    .await;
    let (second, _) = direct(&server, &folder);
    let replies = texts(ask_all(&second, &["a", "b"]).await);
    for reply in &replies {
        assert_ends(reply, "Transient", "overloaded");
    }
    assert_eq!((server.sizes(), server.direct()), (vec![2], 0));
    assert_eq!(folder.records().len(), 1);
}

//! Several processes that need the same replies.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evals_models::ChatModel as _;
use evals_providers::BatchedChat;
use evals_stores::replies::{CachedChat, ReplyStore};
use futures::future::join_all;

use super::{
    Folder, Notes, ask_all, asking, assert_ends, batched, end, killed, model, settings, texts,
    until,
};
use crate::scripted_server::batches::{BatchServer, Script};

#[tokio::test]
async fn two_processes_do_not_pay_for_the_same_request() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    let (first, second) = (batched(&server, &folder), batched(&server, &folder));
    let overlapping = async {
        until("a batch", || !server.sizes().is_empty()).await;
        let replies = texts(ask_all(&second, &["a"]).await);
        assert!(
            replies[0].contains("another process submitted this request"),
            "{}",
            replies[0]
        );
        server.hold(false);
    };
    let (replies, ()) = tokio::join!(ask_all(&first, &["a"]), overlapping);
    assert_eq!(texts(replies), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn two_processes_that_start_together_do_not_pay_for_the_same_request() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    // Both look for records before either has written one.
    let both = [batched(&server, &folder), batched(&server, &folder)];
    let [first, second] = &both;
    let ended = AtomicUsize::new(0);
    let ask = async |model: &BatchedChat, own: &str| {
        let asked = ["shared", own].map(asking);
        let replies = asked.iter().map(async |request| {
            let reply = model.chat(request).await;
            // One of the processes cannot have the shared reply, and learns it while no batch ends.
            if ended.fetch_add(1, Ordering::SeqCst) == 0 {
                server.hold(false);
            }
            reply
        });
        texts(join_all(replies).await)
    };
    let asked = join_all([ask(first, "a"), ask(second, "b")]);
    let asked = tokio::time::timeout(Duration::from_secs(10), asked).await;
    let [first, second]: [Vec<String>; 2] = asked.expect("one is refused").try_into().unwrap();
    assert_eq!((&*first[1], &*second[1]), ("echo: a", "echo: b"));
    let (refused, answered) = match &*first[0] {
        "echo: shared" => (&second[0], &first[0]),
        _ => (&first[0], &second[0]),
    };
    assert_eq!(answered, "echo: shared");
    assert_ends(
        refused,
        "Terminal",
        "another process submitted this request",
    );
    assert!(server.submissions().values().all(|times| *times == 1));
    assert_eq!(server.submissions().len(), 3);
}

#[tokio::test]
async fn a_first_request_that_another_process_has_submitted_is_not_sent_directly() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    let notes = Notes::new();
    notes.under_way.store(1, Ordering::SeqCst);
    let mut direct = settings(&folder.0);
    direct.first_direct = true;
    let first = BatchedChat::new(model(&server), direct, notes.clone());
    let second = batched(&server, &folder);
    let request = asking("a");
    let overtaking = async {
        let submitted = async {
            until("a batch", || !server.sizes().is_empty()).await;
            notes.under_way.store(0, Ordering::SeqCst);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = ask_all(&second, &["a"]) => panic!("the batch ended"),
            () = submitted => {}
        }
    };
    let reply = tokio::select! {
        reply = first.chat(&request) => reply,
        () = overtaking => panic!("it waits for ever"),
    };
    let text = texts(vec![reply]).remove(0);
    assert_ends(&text, "Terminal", "another process submitted this request");
    assert_eq!((server.sizes(), server.direct()), (vec![1], 0));
}

#[tokio::test]
async fn a_process_leaves_batches_to_others_that_it_does_not_wait_for() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a"]).await;
    server.hold(false);
    // This process of the same model asks for something else, and is still running when another one wants the batch.
    let other = batched(&server, &folder);
    assert_eq!(texts(ask_all(&other, &["b"]).await), ["echo: b"]);
    let later = batched(&server, &folder);
    assert_eq!(texts(ask_all(&later, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1, 1]);
    drop(other);
}

#[tokio::test]
async fn a_request_goes_on_when_the_process_that_had_it_has_ended() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    let later = batched(&server, &folder);
    let first = batched(&server, &folder);
    let killing = async {
        until("a batch", || !server.sizes().is_empty()).await;
        let replies = texts(ask_all(&later, &["a"]).await);
        assert_ends(&replies[0], "Terminal", "wait until that process ends");
    };
    tokio::select! {
        _ = ask_all(&first, &["a"]) => panic!("the batch ended"),
        () = killing => {}
    }
    end(first, &folder).await;
    server.hold(false);
    assert_eq!(texts(ask_all(&later, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn replies_that_another_process_stored_while_requests_waited_are_not_paid_again() {
    for first_direct in [false, true] {
        let server = BatchServer::start(Script::sound());
        let (folder, replies) = (Folder::new(), Folder::new());
        fs::create_dir_all(&replies.0).unwrap();
        let store = ReplyStore::open(replies.0.join("replies.db"))
            .await
            .unwrap();
        // This process has looked into the store, and its requests wait.
        let notes = Notes::busy(&store);
        let mut waiting = settings(&folder.0);
        waiting.first_direct = first_direct;
        let waiting = BatchedChat::new(model(&server), waiting, notes.clone());
        let waiting = CachedChat::new(Arc::new(waiting), store.clone()).within_process();
        let overtaking = async {
            notes.considered(1).await;
            let other = Notes::storing(&store);
            let other = BatchedChat::new(model(&server), settings(&folder.0), other);
            let other = CachedChat::new(Arc::new(other), store).within_process();
            assert_eq!(texts(ask_all(&other, &["a", "b"]).await).len(), 2);
            assert!(folder.files().is_empty(), "both replies are stored");
            notes.under_way.store(0, Ordering::SeqCst);
        };
        let asked = ["a", "b", "new"];
        let (answered, ()) = tokio::join!(ask_all(&waiting, &asked), overtaking);
        let cached: Vec<bool> = answered
            .iter()
            .map(|reply| reply.as_ref().unwrap().served.cached)
            .collect();
        assert_eq!(cached, [true, true, false]);
        assert_eq!(texts(answered), ["echo: a", "echo: b", "echo: new"]);
        let (batches, direct) = if first_direct {
            (vec![2], 1)
        } else {
            (vec![2, 1], 0)
        };
        assert_eq!((server.sizes(), server.direct()), (batches, direct));
    }
}

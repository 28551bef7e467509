//! Batches of processes that were killed.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(unix)]
use std::time::{Duration, SystemTime};

use evals_providers::{BatchedChat, OpenAiChat};
use evals_stores::replies::{CachedChat, ReplyStore};
use serde_json::json;

use super::{
    Folder, Notes, ask_all, assert_ends, batched, end, is_create, is_list, killed, model, settings,
    texts, until,
};
use crate::scripted_server::Reaction;
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};
use crate::{chat_settings, traffic};

/// A process that tries each call once.
fn once(server: &BatchServer, folder: &Folder) -> BatchedChat {
    let chat = chat_settings(&server.server.openai_url());
    let chat = OpenAiChat::new(chat, traffic(1)).expect("sound settings");
    BatchedChat::new(chat, settings(&folder.0), Notes::new())
}

#[tokio::test]
async fn a_later_process_waits_for_the_same_batch() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a", "b"]).await;
    server.hold(false);
    let model = batched(&server, &folder);
    let replies = texts(ask_all(&model, &["a", "b", "new"]).await);
    assert_eq!(replies, ["echo: a", "echo: b", "echo: new"]);
    assert_eq!(server.sizes(), [2, 1]);
    assert!(server.submissions().values().all(|times| *times == 1));
}

#[tokio::test]
async fn a_batch_whose_creation_was_not_answered_is_found_again() {
    // By the same process, at its second attempt.
    let lost = || Script {
        lost: 1,
        ..Script::sound()
    };
    let server = BatchServer::start(lost());
    let folder = Folder::new();
    assert_eq!(
        texts(ask_all(&batched(&server, &folder), &["a"]).await),
        ["echo: a"]
    );
    assert_eq!(server.sizes(), [1]);

    // By a later process, after one that could not search for it.
    let server = BatchServer::start(deaf());
    let folder = Folder::new();
    let first = once(&server, &folder);
    for _ in 0..2 {
        // The second time it is not submitted again, because the batch may be at the server.
        assert!(texts(ask_all(&first, &["a"]).await)[0].contains("overloaded"));
        assert_eq!(server.sizes(), [1]);
    }
    end(first, &folder).await;
    assert_eq!(
        texts(ask_all(&once(&server, &folder), &["a"]).await),
        ["echo: a"]
    );
    assert_eq!(server.sizes(), [1]);
}

/// A server that does not answer the request to create a batch, and does not list its batches when it is asked for the first time.
fn deaf() -> Script {
    Script {
        lost: 1,
        fault: Box::new(|request, before| {
            (is_list(request) && before == 0)
                .then(|| Reaction::json(503, &json!({"error": {"message": "overloaded"}})))
        }),
        ..Script::sound()
    }
}

#[tokio::test]
async fn an_answer_that_proves_no_refusal_may_hide_a_batch() {
    for status in [408, 409, 423, 424, 425, 498, 499, 502] {
        let loss = Reaction::json(status, &json!({"error": {"message": "took too long"}}));
        // It is found by a later process, after one that could not search for it.
        let server = BatchServer::start(Script {
            loss: loss.clone(),
            ..deaf()
        });
        let folder = Folder::new();
        lost(&server, &folder).await;
        assert_eq!(folder.records().len(), 1, "{status}");
        let second = once(&server, &folder);
        let replies = texts(ask_all(&second, &["a"]).await);
        assert_eq!(
            (replies, server.sizes()),
            (vec!["echo: a".to_owned()], vec![1]),
            "{status}"
        );

        // Or by the same process.
        let server = BatchServer::start(Script {
            lost: 1,
            loss,
            ..Script::sound()
        });
        let folder = Folder::new();
        let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
        assert_eq!(
            (replies, server.sizes()),
            (vec!["echo: a".to_owned()], vec![1]),
            "{status}"
        );
    }
}

#[tokio::test]
async fn replies_are_stored_before_their_record_is_deleted_also_those_that_nobody_asks_for() {
    let server = BatchServer::start(Script::sound());
    let (folder, replies) = (Folder::new(), Folder::new());
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a", "b"]).await;
    server.hold(false);
    let store = stored_in(&replies).await;
    let notes = Notes::storing(&store);
    let second = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    assert!(folder.files().is_empty());
    assert_eq!(notes.paid.load(Ordering::SeqCst), 2 * 7);
    end(second, &folder).await;
    let looks = server.server.received().len();
    let third = Arc::new(BatchedChat::new(model(&server), settings(&folder.0), notes));
    let third = CachedChat::new(third, store).within_process();
    assert_eq!(
        texts(ask_all(&third, &["a", "b"]).await),
        ["echo: a", "echo: b"]
    );
    assert_eq!(server.server.received().len(), looks, "nothing was sent");
}

#[tokio::test]
async fn a_record_that_outlived_its_replies_pays_for_nothing_twice() {
    // A process that was killed between the store and the record.
    let server = BatchServer::start(Script::sound());
    let (folder, replies) = (Folder::new(), Folder::new());
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a", "b"]).await;
    server.hold(false);
    let record = folder.records().remove(0);
    let kept = fs::read(&record).unwrap();
    let store = stored_in(&replies).await;
    let notes = Notes::storing(&store);
    let second = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    end(second, &folder).await;
    fs::write(&record, kept).unwrap();
    let third = Arc::new(BatchedChat::new(model(&server), settings(&folder.0), notes));
    let third = CachedChat::new(third, store).within_process();
    let replies = texts(ask_all(&third, &["a", "b", "new"]).await);
    assert_eq!(replies, ["echo: a", "echo: b", "echo: new"]);
    assert_eq!(server.sizes(), [2, 1]);
}

/// A store of replies in a new folder.
async fn stored_in(folder: &Folder) -> ReplyStore {
    fs::create_dir_all(&folder.0).unwrap();
    ReplyStore::open(folder.0.join("replies.db")).await.unwrap()
}

#[tokio::test]
async fn a_batch_that_the_server_does_not_know_is_an_error_that_names_its_record() {
    let is_lost = Arc::new(AtomicBool::new(false));
    let mut script = Script::sound();
    let lost = Arc::clone(&is_lost);
    script.fault = Box::new(move |request, _| {
        let fault = Reaction::json(404, &json!({"error": {"message": "No such batch"}}));
        let is_look = request.path.contains("/batches/") && lost.load(Ordering::SeqCst);
        is_look.then_some(fault)
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a"]).await;
    is_lost.store(true, Ordering::SeqCst);
    let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
    let expected =
        "does not know the batch `batch-0`: set the key of the account that submitted it";
    assert_ends(&replies[0], "Terminal", expected);
    assert!(replies[0].contains(".batch.jsonl"), "{}", replies[0]);
    assert_eq!(server.sizes(), [1], "nothing is submitted again");
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_by_the_next_run() {
    let is_empty = Arc::new(AtomicBool::new(true));
    let mut script = Script::sound();
    let empty = Arc::clone(&is_empty);
    script.answer = Box::new(move |_, body| {
        let is_empty = empty.load(Ordering::SeqCst);
        Line::Say(if is_empty { String::new() } else { echo(body) })
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = Folder::new();
    let cached = async || {
        let store = stored_in(&replies).await;
        let notes = Notes::storing(&store);
        let model = BatchedChat::new(model(&server), settings(&folder.0), notes);
        CachedChat::new(Arc::new(model), store).within_process()
    };
    assert_eq!(texts(ask_all(&cached().await, &["a"]).await), [""]);
    until("no file is left", || folder.files().is_empty()).await;
    is_empty.store(false, Ordering::SeqCst);
    assert_eq!(texts(ask_all(&cached().await, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1, 1]);
}

#[tokio::test]
async fn the_cost_of_a_batch_is_reserved_as_long_as_it_may_be_at_the_server() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &folder, &["a", "b"]).await;
    // A later process reserves it again while it waits.
    let notes = Notes::new();
    let second = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let waiting = async {
        notes.reserves(2).await;
        server.hold(false);
    };
    // The batch has another request, too, which this process does not need.
    let (replies, ()) = tokio::join!(ask_all(&second, &["a"]), waiting);
    assert_eq!(texts(replies), ["echo: a"]);
    notes.reserves(0).await;

    // A refused creation costs nothing; a lost one may.
    for (fault, reserved) in [
        (
            Reaction::json(400, &json!({"error": {"message": "invalid"}})),
            0,
        ),
        (Reaction::Reset, 1),
    ] {
        let mut script = Script::sound();
        script.fault = Box::new(move |request, _| is_create(request).then(|| fault.clone()));
        let server = BatchServer::start(script);
        let (folder, notes) = (Folder::new(), Notes::new());
        let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
        assert!(ask_all(&model, &["a"]).await[0].is_err());
        assert_eq!(notes.reserved.load(Ordering::SeqCst), reserved);
    }
}

/// Submits a batch whose creation is not answered, and drops everything.
async fn lost(server: &BatchServer, folder: &Folder) {
    let model = once(server, folder);
    assert!(ask_all(&model, &["a"]).await[0].is_err());
    end(model, folder).await;
}

#[tokio::test]
async fn a_batch_that_the_server_lists_late_is_found() {
    let listing_late = |first: Reaction, later: Option<Reaction>| {
        let mut script = Script::sound();
        script.lost = 1;
        script.fault = Box::new(move |request, before| match before {
            0 if is_list(request) => Some(first.clone()),
            1 if is_list(request) => later.clone(),
            _ => None,
        });
        BatchServer::start(script)
    };
    let empty = Reaction::json(200, &json!({"data": [], "has_more": false}));
    // By a later process.
    let busy = Reaction::json(503, &json!({"error": {"message": "overloaded"}}));
    let server = listing_late(busy, Some(empty.clone()));
    let folder = Folder::new();
    lost(&server, &folder).await;
    let second = once(&server, &folder);
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);

    // By the same process.
    let server = listing_late(empty, None);
    let folder = Folder::new();
    let model = batched(&server, &folder);
    assert_eq!(texts(ask_all(&model, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

/// A process that was killed while the server created the batch at its second request, long after the first one.
#[cfg(unix)]
#[tokio::test]
async fn each_request_to_create_a_batch_makes_its_record_recent() {
    let folder = Arc::new(Folder::new());
    let (creations, lists) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut script = Script::sound();
    script.lost = 1;
    script.loss = Reaction::Hang;
    let records = Arc::clone(&folder);
    script.fault = Box::new(move |request, _| {
        if is_create(request) {
            let is_first = creations.fetch_add(1, Ordering::SeqCst) == 0;
            return is_first.then_some(Reaction::Reset);
        }
        // The first process looks twice before its second request. The server lists the batch only at the second look of the next process.
        let looks = lists.load(Ordering::SeqCst);
        if !is_list(request) || looks == 3 {
            return None;
        }
        if lists.fetch_add(1, Ordering::SeqCst) < 2 {
            let record = fs::File::options().append(true).open(&records.records()[0]);
            let long_ago = SystemTime::now() - Duration::from_hours(1);
            record.unwrap().set_modified(long_ago).unwrap();
        }
        Some(Reaction::json(200, &json!({"data": [], "has_more": false})))
    });
    let server = BatchServer::start(script);
    let first = batched(&server, &folder);
    tokio::select! {
        _ = ask_all(&first, &["a"]) => panic!("the batch ended"),
        () = until("the batch is created", || server.sizes() == [1]) => {}
    }
    end(first, &folder).await;
    let second = batched(&server, &folder);
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn a_batch_that_the_server_never_creates_ends_its_requests_and_keeps_its_record() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, _| is_create(request).then_some(Reaction::Reset));
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let model = batched(&server, &folder);
    let reply = texts(ask_all(&model, &["a"]).await).remove(0);
    assert_ends(
        &reply,
        "Transient",
        "did not answer 3 requests to create a batch",
    );
    let created = server.server.received_at("/batches");
    assert_eq!(created.iter().filter(|it| is_create(it)).count(), 3);
    assert_eq!(folder.files().len(), 1);
}

#[tokio::test]
async fn a_list_of_batches_without_end_leaves_the_record() {
    let page = AtomicUsize::new(0);
    let mut script = Script::sound();
    script.lost = 1;
    script.fault = Box::new(move |request, _| {
        is_list(request).then(|| {
            let id = format!("other-{}", page.fetch_add(1, Ordering::SeqCst));
            Reaction::json(
                200,
                &json!({"data": [{"id": id, "status": "completed"}], "has_more": true}),
            )
        })
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    lost(&server, &folder).await;
    let second = once(&server, &folder);
    let replies = texts(ask_all(&second, &["a"]).await);
    let expected = "lists more than 10000 batches";
    assert_ends(&replies[0], "Terminal", expected);
    assert_eq!((server.sizes(), folder.files().len()), (vec![1], 1));
}

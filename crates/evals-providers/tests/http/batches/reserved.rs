//! What stays reserved of the cost of batches.

use std::sync::atomic::Ordering;

use evals_models::ChatModel as _;
use evals_providers::BatchedChat;

use super::{Folder, Notes, ask_all, asking, assert_ends, end, model, settings, texts, until};
use crate::scripted_server::batches::{BatchServer, Script};

#[tokio::test]
async fn the_cost_of_a_batch_whose_replies_cannot_be_stored_stays_reserved() {
    let server = BatchServer::start(Script::sound());
    let (folder, notes) = (Folder::new(), Notes::new());
    notes.is_full.store(true, Ordering::SeqCst);
    let first = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    for _ in 0..2 {
        // The second time it is not submitted again, because it is paid for.
        let reply = texts(ask_all(&first, &["a"]).await).remove(0);
        assert_ends(
            &reply,
            "Terminal",
            "cannot store the replies of a batch: the disk is full",
        );
        assert_eq!(notes.reserved.load(Ordering::SeqCst), 1);
    }
    end(first, &folder).await;
    // The next process collects the batch again.
    let notes = Notes::new();
    let second = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    notes.reserves(0).await;
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn a_reply_is_paid_once_even_if_its_caller_has_gone() {
    let server = BatchServer::start(Script::sound());
    let (folder, notes) = (Folder::new(), Notes::new());
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    server.hold(true);
    let request = asking("a");
    tokio::select! {
        _ = model.chat(&request) => panic!("the batch ended"),
        () = super::recorded(&folder, "batch") => {}
    }
    notes.reserves(1).await;
    server.hold(false);
    notes.reserves(0).await;
    let is_paid = || notes.paid.load(Ordering::SeqCst) == 7;
    until("the reply is paid", is_paid).await;
    assert!(folder.files().is_empty());
}

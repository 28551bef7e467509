//! Which requests a cached chat model sends to its model, and which it answers from the store.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::task::JoinSet;

use super::*;
use evals_models::{ChatError, ChatModel, Failure, Finish, ToolCall};

/// A cached model and the one behind it.
struct Cached {
    model: Arc<CachedChat>,
    inner: Arc<Scripted>,
    folder: Folder,
}

impl Cached {
    async fn before(inner: Scripted) -> Self {
        Self::with_policy(inner, RefreshPolicy::Reuse).await
    }

    async fn with_policy(inner: Scripted, policy: RefreshPolicy) -> Self {
        let (folder, inner) = (Folder::new(), Arc::new(inner));
        let store = ReplyStore::open(folder.file()).await.unwrap();
        let model = CachedChat::new(inner.clone(), store).with_policy(policy);
        Self {
            model: Arc::new(model),
            inner,
            folder,
        }
    }

    async fn ask(&self, text: &str) -> Result<ChatReply, ChatError> {
        self.model.chat(&request(text)).await
    }

    /// Asks the same at the same time, so many times, and waits until the model was reached.
    async fn ask_together(&self, times: usize) -> JoinSet<Result<ChatReply, ChatError>> {
        let mut asking = JoinSet::new();
        for _ in 0..times {
            let model = Arc::clone(&self.model);
            asking.spawn(async move { model.chat(&request("q")).await });
        }
        self.reached(1).await;
        asking
    }

    /// Waits until the model was asked so many times.
    async fn reached(&self, times: usize) {
        while self.inner.asked() < times {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn cached(text: &str) -> ChatReply {
    let mut reply = reply(text);
    reply.served.cached = true;
    reply
}

#[tokio::test]
async fn a_second_request_is_free_and_reports_the_first_one_s_figures() {
    let chat = Cached::before(Scripted::answering("a")).await;
    assert_eq!(chat.ask("q").await.unwrap(), reply("a"));
    assert_eq!(chat.ask("q").await.unwrap(), cached("a"));
    assert_eq!(chat.ask("another").await.unwrap(), reply("a"));
    assert_eq!(chat.inner.asked(), 2);
    assert_eq!(chat.model.identity(), chat.inner.identity());
    assert_eq!(chat.model.parameters(), chat.inner.parameters());
    assert_eq!(chat.model.flights.len(), 0);
}

#[tokio::test]
async fn a_reply_that_the_model_found_stored_is_not_stored_again() {
    let chat = Cached::before(Scripted::answering("a").finding()).await;
    assert_eq!(chat.ask("q").await.unwrap(), cached("a"));
    let store = ReplyStore::open(chat.folder.file()).await.unwrap();
    assert_eq!(get(&store, "q").await, None);
}

#[tokio::test]
async fn a_refresh_asks_again_and_leaves_the_later_reply() {
    let refreshed = Cached::with_policy(Scripted::answering("new"), RefreshPolicy::Refresh).await;
    let store = ReplyStore::open(refreshed.folder.file()).await.unwrap();
    put(&store, "q", reply("old")).await;
    assert_eq!(refreshed.ask("q").await.unwrap(), reply("new"));
    assert_eq!(refreshed.ask("q").await.unwrap(), reply("new"));
    assert_eq!(refreshed.inner.asked(), 2);
    assert_eq!(get(&store, "q").await, Some(reply("new")));
}

#[tokio::test]
async fn an_empty_reply_without_a_reason_is_not_stored() {
    for (finish, asked) in [(Finish::Stop, 2), (Finish::Length, 1)] {
        let cached = Cached::before(Scripted::answering(" \n").ending(finish)).await;
        cached.ask("q").await.unwrap();
        cached.ask("q").await.unwrap();
        assert_eq!(cached.inner.asked(), asked);
    }
}

#[tokio::test]
async fn a_reply_that_only_calls_a_tool_is_stored() {
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "search".to_owned(),
        arguments: "{}".to_owned(),
    };
    let model = Scripted::answering("").ending(Finish::Stop);
    let cached = Cached::before(model.calling(call.clone())).await;
    cached.ask("q").await.unwrap();
    let again = cached.ask("q").await.unwrap();
    assert_eq!(cached.inner.asked(), 1);
    assert!(again.served.cached);
    assert_eq!(again.tool_calls, [call]);
}

#[tokio::test]
async fn failures_are_not_stored() {
    let chat = Cached::before(Scripted::answering("a").failing(2)).await;
    for _ in 0..2 {
        let error = chat.ask("q").await.unwrap_err();
        assert_eq!(error.failure, Failure::Transient);
    }
    assert_eq!(chat.ask("q").await.unwrap(), reply("a"));
    assert_eq!(chat.inner.asked(), 3);
}

#[tokio::test]
async fn equal_requests_at_the_same_time_share_one_call() {
    for policy in [RefreshPolicy::Reuse, RefreshPolicy::Refresh] {
        let chat = Cached::with_policy(Scripted::answering("a").hanging(), policy).await;
        let asking = chat.ask_together(50).await;
        tokio::task::yield_now().await;
        chat.inner.let_go(50);
        let replies = asking.join_all().await;
        let paid = replies
            .iter()
            .filter(|reply| !reply.as_ref().unwrap().served.cached);
        assert_eq!(paid.count(), 1);
        assert_eq!(chat.inner.asked(), 1);
        assert_eq!(chat.model.flights.len(), 0);
    }
}

#[tokio::test]
async fn equal_requests_of_two_processes_at_the_same_time_share_one_call() {
    for failures in [0, 1] {
        let first = Scripted::answering("a").failing(failures).hanging();
        let first = Cached::before(first).await;
        // Another connection to the same file stands for another process: locks do not tell them apart.
        let inner = Arc::new(Scripted::answering("b"));
        let store = ReplyStore::open(first.folder.file()).await.unwrap();
        let second = CachedChat::new(inner.clone(), store);
        let mut asking = first.ask_together(1).await;
        let other = request("q");
        let mut waiting = std::pin::pin!(second.chat(&other));
        let early = tokio::time::timeout(Duration::from_millis(200), &mut waiting).await;
        assert!(early.is_err() && inner.asked() == 0, "it waits");
        first.inner.let_go(1);
        let answered = asking.join_next().await.unwrap().unwrap();
        let reply = waiting.await.unwrap();
        if failures == 0 {
            assert_eq!(answered.unwrap(), self::reply("a"));
            assert_eq!(reply, cached("a"));
        } else {
            assert!(answered.is_err());
            assert_eq!(reply, self::reply("b"), "nobody else asks");
        }
        assert_eq!(inner.asked(), failures);
        let left = first.folder.file().with_extension("asking").read_dir();
        assert_eq!(left.unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_shared_call_that_fails_is_made_again_by_the_next() {
    let chat = Cached::before(Scripted::answering("a").hanging().failing(1)).await;
    let asking = chat.ask_together(10).await;
    chat.inner.let_go(10);
    let replies = asking.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.is_err()).count(), 1);
    assert_eq!(chat.inner.asked(), 2);
}

#[tokio::test]
async fn a_call_that_is_dropped_does_not_leave_the_others_waiting() {
    let chat = Cached::before(Scripted::answering("a").hanging()).await;
    let mut first = chat.ask_together(1).await;
    let second = {
        let model = Arc::clone(&chat.model);
        tokio::spawn(async move { model.chat(&request("q")).await })
    };
    tokio::task::yield_now().await;
    first.shutdown().await;
    chat.reached(2).await;
    chat.inner.let_go(1);
    assert_eq!(second.await.unwrap().unwrap(), reply("a"));
    assert_eq!(chat.model.flights.len(), 0);
}

#[tokio::test]
async fn a_paid_reply_that_cannot_be_stored_is_returned_and_no_other_is_requested() {
    let chat = Cached::before(Scripted::answering("a")).await;
    Connection::open(chat.folder.file())
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON replies BEGIN SELECT RAISE(ABORT, 'no space'); END",
        )
        .unwrap();
    assert_eq!(chat.model.notes(), Vec::<String>::new());
    assert_eq!(chat.ask("q").await.unwrap(), reply("a"));
    let notes = chat.model.notes();
    assert!(
        notes[0].starts_with("a reply could not be stored, so the next run pays for it again"),
        "{notes:?}"
    );
    let error = chat.ask("another").await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    let path = chat.folder.file().display().to_string();
    assert_eq!(
        chain(&error),
        [
            "`scripted:parrot` gave no answer".to_owned(),
            "no more replies are requested, because the last could not be stored".to_owned(),
            format!("could not use `{path}`"),
            "no space".to_owned(),
            "Error code 1811: constraint failed".to_owned(),
        ]
    );
    assert_eq!(chat.inner.asked(), 1);
}

#[tokio::test]
async fn nothing_is_requested_while_the_store_cannot_be_read() {
    let chat = Cached::before(Scripted::answering("a")).await;
    Connection::open(chat.folder.file())
        .unwrap()
        .execute_batch("DROP TABLE replies")
        .unwrap();
    let error = chat.ask("q").await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert_eq!(chat.inner.asked(), 0);
}

//! Tests of the store of replies and of the model in front of it.

mod caching;
mod damage;
mod keys;
mod processes;
mod storing;
mod testing;

use std::error::Error;

use super::*;
use crate::store::{EntryKey, ModelEntries, Prune, RefreshPolicy, StoreError};
use evals_models::{ChatReply, ModelIdentity};
use testing::{Folder, reply, request};

pub(super) use testing::Scripted;

fn key(text: &str) -> EntryKey {
    reply_key(&Scripted::answering(""), &request(text))
}

fn parrot() -> ModelIdentity {
    ModelIdentity::new("scripted", "parrot")
}

async fn put(store: &ReplyStore, name: &str, reply: ChatReply) {
    store.put(key(name), &parrot(), reply).await.unwrap();
}

async fn get(store: &ReplyStore, name: &str) -> Option<ChatReply> {
    store.get(key(name)).await.unwrap()
}

/// The messages of an error and of all its sources.
fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .collect()
}

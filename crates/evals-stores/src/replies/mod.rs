//! Stored replies of chat models, as JSON.

mod cached_chat;
mod flight;
#[cfg(test)]
mod tests;

use std::error::Error;

use evals_models::{ChatModel, ChatReply, ChatRequest};
use rusqlite::types::Value as SqlValue;
use serde_json::{Map, Value, json};

pub use cached_chat::{CachedChat, is_worth_storing};

use crate::store::{EntryKey, Store, StoreTable, StoredEntry};

/// Stored replies of chat models.
pub type ReplyStore = Store<ChatReply>;

impl StoredEntry for ChatReply {
    const TABLE: &'static StoreTable = &StoreTable {
        // `EvRp`.
        application: 0x4576_5270,
        format: 1,
        name: "replies",
        columns: &[("reply", "TEXT NOT NULL")],
        added: &[],
        content: "reply",
    };

    fn to_columns(&self) -> rusqlite::Result<Vec<SqlValue>> {
        let reply = serde_json::to_string(self).map_err(Box::<dyn Error + Send + Sync>::from);
        let reply = reply.map_err(rusqlite::Error::ToSqlConversionFailure)?;
        Ok(vec![reply.into()])
    }

    fn from_columns(columns: Vec<SqlValue>) -> Option<Self> {
        match columns.as_slice() {
            [SqlValue::Text(reply)] => serde_json::from_str(reply).ok(),
            _ => None,
        }
    }
}

/// The key of one model's reply to one request: SHA-256 of everything that the reply depends on, as canonical JSON.
///
/// Canonical JSON sorts the names in each object by their bytes and has no white space.
pub fn reply_key(model: &dyn ChatModel, request: &ChatRequest) -> EntryKey {
    let mut key = json!({
        "parameters": model.parameters(),
        "identity": model.identity(),
        "messages": request.messages,
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "repeat": request.repeat,
    });
    // Replies from before there were tools stay valid.
    if !request.tools.is_empty() {
        key["tools"] = json!(request.tools);
    }
    canonical(&key)
}

fn canonical(value: &Value) -> EntryKey {
    EntryKey::of(sorted(value).to_string())
}

/// The same value with the names in every object sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            let in_order = names
                .into_iter()
                .map(|name| (name.clone(), sorted(&members[name])));
            Value::Object(in_order.collect::<Map<String, Value>>())
        }
        _ => value.clone(),
    }
}

//! Storing, reading, statistics and pruning.

use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use super::*;

#[tokio::test]
async fn a_reply_is_read_back_unchanged_after_the_file_is_reopened() {
    let folder = Folder::new();
    let stored = ChatReply {
        reasoning: Some("<think>\u{0} größer\n</think>".to_owned()),
        ..reply("8 µm \u{1F600}")
    };
    put(
        &ReplyStore::open(folder.file()).await.unwrap(),
        "q",
        stored.clone(),
    )
    .await;
    let store = ReplyStore::open(folder.file()).await.unwrap();
    assert_eq!(get(&store, "q").await, Some(stored));
    assert_eq!(get(&store, "another question").await, None);
}

#[tokio::test]
async fn a_later_reply_replaces_an_earlier_one() {
    let folder = Folder::new();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    put(&store, "q", reply("first")).await;
    put(&store, "q", reply("second")).await;
    assert_eq!(get(&store, "q").await.unwrap().text, "second");
    assert_eq!(store.statistics().await.unwrap().entries, 1);
}

#[tokio::test]
async fn the_folder_is_created() {
    let folder = Folder::new();
    let file = folder.file().join("deeper/replies.sqlite");
    let store = ReplyStore::open(&file).await.unwrap();
    assert_eq!(store.path(), file);
    assert!(file.exists());
}

#[tokio::test]
async fn statistics_are_listed_by_model() {
    let folder = Folder::new();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    let empty = store.statistics().await.unwrap();
    assert_eq!((empty.entries, empty.oldest, empty.newest), (0, None, None));
    assert!(empty.models.is_empty());

    let before = SystemTime::now() - Duration::from_secs(1);
    put(&store, "a", reply("aa")).await;
    put(&store, "b", reply("µ")).await;
    let other = ModelIdentity::new("openai", "gpt");
    store.put(key("c"), &other, reply("c")).await.unwrap();

    let statistics = store.statistics().await.unwrap();
    assert_eq!(statistics.entries, 3);
    assert!(statistics.oldest.unwrap() > before && statistics.newest >= statistics.oldest);
    let json = serde_json::to_string(&reply("")).unwrap().len() as u64;
    let of = |entries, bytes| ModelEntries { entries, bytes };
    assert_eq!(
        Vec::from_iter(statistics.models),
        [
            ("openai:gpt".to_owned(), of(1, json + 1)),
            ("scripted:parrot".to_owned(), of(2, 2 * json + 4)),
        ]
    );
}

#[tokio::test]
async fn pruning_removes_the_named_entries_and_shrinks_the_file() {
    let folder = Folder::new();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    let long = "x".repeat(100_000);
    let other = ModelIdentity::new("openai", "gpt");
    store.put(key("gpt"), &other, reply("kept")).await.unwrap();
    put(&store, "old", reply(&long)).await;
    let a_day_ago =
        "UPDATE replies SET stored_at = stored_at - 86400000 WHERE length(reply) > 9999";
    let connection = Connection::open(folder.file()).unwrap();
    assert_eq!(connection.execute(a_day_ago, []).unwrap(), 1);
    put(&store, "new", reply("kept")).await;

    let two_days = Prune::OlderThan(Duration::from_hours(48));
    assert_eq!(store.prune(two_days).await.unwrap().entries, 0);
    let hour = Prune::OlderThan(Duration::from_hours(1));
    let pruned = store.prune(hour).await.unwrap();
    assert_eq!(pruned.entries, 1);
    assert!(pruned.bytes >= 90_000, "{pruned:?}");
    assert!(std::fs::metadata(folder.file()).unwrap().len() < 100_000);
    assert_eq!(get(&store, "old").await, None);

    let gpt = Prune::Model("openai:gpt".to_owned());
    assert_eq!(store.prune(gpt).await.unwrap().entries, 1);
    assert_eq!(get(&store, "new").await, Some(reply("kept")));
    assert_eq!(store.prune(Prune::All).await.unwrap().entries, 1);
    assert_eq!(store.statistics().await.unwrap().entries, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_accesses_at_random_agree_with_each_other() {
    const KEYS: u64 = 200;
    let folder = Folder::new();
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let file = folder.file();
        tasks.spawn(async move {
            // Each with a connection of its own, and all of them opened on a file that is not there yet.
            let store = ReplyStore::open(file).await.unwrap();
            let mut random = fastrand::Rng::with_seed(task);
            let mut found = 0;
            for version in 0..1_250 {
                let name = random.u64(0..KEYS).to_string();
                match random.u32(0..100) {
                    0 => {
                        let model = Prune::Model("nobody".to_owned());
                        assert_eq!(store.prune(model).await.unwrap().entries, 0);
                    }
                    1 => assert!(store.statistics().await.unwrap().entries <= KEYS),
                    2..50 => put(&store, &name, reply(&format!("{name} {task} {version}"))).await,
                    _ => {
                        let Some(reply) = get(&store, &name).await else {
                            continue;
                        };
                        found += 1;
                        assert_eq!(reply.text.split(' ').next(), Some(name.as_str()));
                    }
                }
            }
            found
        });
    }
    let found: usize = tasks.join_all().await.into_iter().sum();
    assert!(found > 3_000, "{found}");
    let store = ReplyStore::open(folder.file()).await.unwrap();
    assert_eq!(store.statistics().await.unwrap().entries, KEYS);
}

/// The table as the first version created it.
const TABLE: &str = "CREATE TABLE replies (key BLOB NOT NULL UNIQUE, model TEXT NOT NULL, stored_at INTEGER NOT NULL, \
    reply TEXT NOT NULL, digest BLOB NOT NULL) STRICT";

#[tokio::test]
async fn a_file_of_the_first_version_is_read() {
    let folder = Folder::new();
    let connection = Connection::open(folder.file()).unwrap();
    let pragmas = "PRAGMA application_id = 0x45765270; PRAGMA user_version = 1";
    connection
        .execute_batch(&format!("{TABLE}; {pragmas}"))
        .unwrap();
    let json = r#"{"text":"a","finish":"stop","usage":{"input_tokens":1,"output_tokens":2},"served":{"service_time":{"secs":3,"nanos":0},"attempts":1}}"#;
    let key = key("q");
    let digest = Sha256::new().chain_update(key).chain_update(json);
    connection
        .execute(
            "INSERT INTO replies (key, model, stored_at, reply, digest) VALUES (?1, 'm', 0, ?2, ?3)",
            params![key.as_ref(), json, digest.finalize().as_slice()],
        )
        .unwrap();
    let store = ReplyStore::open(folder.file()).await.unwrap();
    let found = store.get(key).await.unwrap().unwrap();
    assert_eq!(serde_json::to_string(&found).unwrap(), json);
}

#[tokio::test]
async fn a_new_file_has_the_table_of_the_first_version() {
    let folder = Folder::new();
    drop(ReplyStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    let schema: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(schema, TABLE);
}

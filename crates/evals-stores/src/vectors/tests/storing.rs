//! Storing, reading, damage, statistics and pruning.

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use super::*;
use crate::replies::ReplyStore;
use crate::store::{Prune, StoreError};

#[tokio::test]
async fn a_vector_comes_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let values = [-0.0, f32::MIN_POSITIVE / 4.0, f32::MAX, 0.1, -1.0 / 3.0];
    put(&open(&folder).await, "a", &values).await;
    let store = open(&folder).await;
    let found = store.get_all(vec![key("b"), key("a")]).await.unwrap();
    let [None, Some(found)] = found.as_slice() else {
        panic!("{found:?}");
    };
    let bits =
        |values: &[f32]| -> Vec<u32> { values.iter().map(|value| value.to_bits()).collect() };
    assert_eq!(bits(&found.values), bits(&values));
    assert_eq!(found.took, Duration::from_nanos(1_234_567));
}

#[tokio::test]
async fn the_bytes_are_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(&folder).await, "a", &[1.0, -2.5]).await;
    let connection = Connection::open(file(&folder)).unwrap();
    let bytes: Vec<u8> = connection
        .query_row("SELECT vector FROM vectors", [], |row| row.get(0))
        .unwrap();
    // Python: struct.pack("<2f", 1.0, -2.5)
    assert_eq!(bytes, [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
}

/// Every way to change a row makes it one that is not there, and the model is asked again.
#[tokio::test]
async fn a_damaged_row_is_a_miss_and_is_replaced() {
    let damages = [
        "UPDATE vectors SET vector = zeroblob(length(vector))",
        "UPDATE vectors SET vector = substr(vector, 1, 8)",
        "UPDATE vectors SET vector = x''",
        "UPDATE vectors SET digest = zeroblob(32)",
        "UPDATE vectors SET nanoseconds = nanoseconds + 1",
        "UPDATE vectors SET cut = 1 - cut",
        "UPDATE vectors SET cut = NULL",
    ];
    for damage in damages {
        let telling = Lengths {
            reads: Some(1),
            ..Lengths::new()
        };
        let cached = Cached::before(telling).await;
        let expected = cached.documents(&["a", "bb"]).await;
        let connection = Connection::open(file(&cached.folder)).unwrap();
        assert_eq!(connection.execute(damage, []).unwrap(), 2, "{damage}");
        let again = cached.documents(&["a", "bb"]).await;
        assert_eq!(again.values(), expected.values(), "{damage}");
        assert_eq!(cached.inner.asked().await, ["a bb", "a bb"], "{damage}");
        cached.documents(&["bb"]).await;
        assert_eq!(cached.inner.asked().await.len(), 2, "{damage}");
    }
}

/// Of the rows of a file that an earlier version made it stays unknown whether their texts were cut.
#[tokio::test]
async fn a_file_without_a_column_gets_it_and_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(&folder).await, "a", &[1.0, 2.0, 3.0]).await;
    let connection = Connection::open(file(&folder)).unwrap();
    connection
        .execute_batch("ALTER TABLE vectors DROP COLUMN cut")
        .unwrap();
    let telling = Lengths {
        reads: Some(1),
        ..Lengths::new()
    };
    let cached = Cached::within(folder, telling).await;
    let both = cached.documents(&["a", "bb"]).await;
    assert_eq!(cached.inner.asked().await, ["bb"]);
    assert_eq!((both.is_cut(0), both.is_cut(1)), (None, Some(true)));
    let again = Cached::within(cached.folder, Lengths::new()).await;
    assert_eq!(again.documents(&["bb"]).await.is_cut(0), Some(true));
    assert!(again.inner.asked().await.is_empty());
}

#[tokio::test]
async fn a_row_under_another_key_is_a_miss() {
    let cached = Cached::before(Lengths::new()).await;
    cached.documents(&["a", "bb"]).await;
    let connection = Connection::open(file(&cached.folder)).unwrap();
    let moved = "CREATE TEMP TABLE second AS SELECT key FROM vectors WHERE rowid = 2;
        DELETE FROM vectors WHERE rowid = 2;
        UPDATE vectors SET key = (SELECT key FROM second)";
    connection.execute_batch(moved).unwrap();
    let bb = cached.inner.vector("bb", TextKind::Document);
    assert_eq!(cached.documents(&["bb"]).await.values(), bb);
    assert_eq!(cached.inner.asked().await, ["a bb", "bb"]);
}

#[tokio::test]
async fn a_vector_of_another_length_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(&folder).await, "a", &[1.0, 2.0]).await;
    let cached = Cached::within(folder, Lengths::new()).await;
    assert_eq!(cached.documents(&["a"]).await.len(), 1);
    assert_eq!(cached.inner.asked().await, ["a"]);
}

#[tokio::test]
async fn vectors_are_listed_and_pruned_by_model() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    put(&store, "a", &[1.0; 4]).await;
    put(&store, "b", &[2.0; 4]).await;
    let other = ModelIdentity::new("openai", "small");
    let vectors = vec![(key("c"), vector(&[3.0; 2]))];
    store.put_all(&other, vectors).await.unwrap();
    let statistics = store.statistics().await.unwrap();
    let models: Vec<_> = statistics
        .models
        .iter()
        .map(|(model, kept)| (model.as_str(), kept.entries, kept.bytes))
        .collect();
    assert_eq!(
        models,
        [("openai:small", 1, 8), ("scripted:lengths", 2, 32)]
    );
    let lengths = Prune::Model("scripted:lengths".to_owned());
    assert_eq!(store.prune(lengths).await.unwrap().entries, 2);
    assert_eq!(
        (get(&store, "a").await, get(&store, "c").await.is_some()),
        (None, true)
    );
}

#[tokio::test]
async fn a_file_of_replies_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(ReplyStore::open(file(&folder)).await.unwrap());
    let error = EmbeddingStore::open(file(&folder)).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is a database, but not one of vectors: name a different file",
            file(&folder).display()
        )
    );
}

/// The table as the first version with its last column created it.
const TABLE: &str = "CREATE TABLE vectors (key BLOB NOT NULL UNIQUE, model TEXT NOT NULL, stored_at INTEGER NOT NULL, \
    nanoseconds INTEGER NOT NULL, vector BLOB NOT NULL, digest BLOB NOT NULL, cut INTEGER) STRICT";

#[tokio::test]
async fn a_file_of_the_first_version_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(&folder)).unwrap();
    let pragmas = "PRAGMA application_id = 0x45765663; PRAGMA user_version = 1";
    connection
        .execute_batch(&format!("{TABLE}; {pragmas}"))
        .unwrap();
    let components = [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0];
    for (name, cut) in [("a", None), ("b", Some(1_i64))] {
        let mut digest = Sha256::new()
            .chain_update(key(name))
            .chain_update(5_i64.to_le_bytes())
            .chain_update(components);
        if let Some(cut) = cut {
            digest.update(cut.to_le_bytes());
        }
        connection
            .execute(
                "INSERT INTO vectors (key, model, stored_at, nanoseconds, vector, digest, cut)
                 VALUES (?1, 'm', 0, 5, ?2, ?3, ?4)",
                params![
                    key(name).as_ref(),
                    components,
                    digest.finalize().as_slice(),
                    cut
                ],
            )
            .unwrap();
    }
    let store = open(&folder).await;
    let stored = |cut| StoredVector {
        values: vec![1.0, -2.5],
        took: Duration::from_nanos(5),
        cut,
    };
    assert_eq!(get(&store, "a").await, Some(stored(None)));
    assert_eq!(get(&store, "b").await, Some(stored(Some(true))));
}

#[tokio::test]
async fn a_new_file_has_the_table_of_the_first_version() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder).await);
    let connection = Connection::open(file(&folder)).unwrap();
    let schema: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(schema, TABLE);
}

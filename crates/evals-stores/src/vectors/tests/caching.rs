//! Which texts a cached embedder sends to its model, and which vectors it takes from the store.

use rusqlite::Connection;

use super::*;

/// The bits of the rows, which tell `-0.0` from `0.0`.
fn bits(embeddings: &Embeddings) -> Vec<u32> {
    let values = embeddings.values().iter();
    values.map(|value| value.to_bits()).collect()
}

#[tokio::test]
async fn only_texts_that_are_not_stored_are_embedded_once_and_in_order() {
    let cached = Cached::before(Lengths::new()).await;
    let first = cached.documents(&["b", "aaa", "b", "cc"]).await;
    assert_eq!((first.stored(), first.is_cached()), (0, false));
    let second = cached.documents(&["dddd", "cc", "a", "b", "a"]).await;
    assert_eq!(cached.inner.asked().await, ["b aaa cc", "dddd a"]);
    assert_eq!((second.stored(), second.is_cached()), (2, false));
    let direct = cached
        .inner
        .embed(&["dddd", "cc", "a", "b", "a"], TextKind::Document);
    assert_eq!(bits(&second), bits(&direct.await.unwrap()));
}

#[tokio::test]
async fn another_run_gets_the_same_bits_without_asking() {
    let first = Cached::before(Lengths::new()).await;
    let computed = first.documents(&["a", "bb"]).await;
    let second = Cached::within(first.folder, Lengths::new()).await;
    let stored = second.documents(&["bb", "a"]).await;
    assert!(second.inner.asked().await.is_empty());
    assert_eq!(bits(&stored)[..3], bits(&computed)[3..]);
    assert_eq!(bits(&stored)[3..], bits(&computed)[..3]);
    assert!(stored.is_cached());
    assert_eq!(second.model.identity(), second.inner.identity());
    assert_eq!(
        (second.model.dimension(), second.model.max_tokens()),
        (3, Some(17))
    );
    assert_eq!(second.model.notes(), ["a note"]);
}

#[tokio::test]
async fn a_stored_row_says_whether_its_text_was_cut() {
    let reading = |reads| Lengths {
        reads,
        ..Lengths::new()
    };
    let cuts = |embeddings: &Embeddings| -> Vec<_> {
        let rows = 0..embeddings.len();
        rows.map(|row| embeddings.is_cut(row)).collect()
    };
    let cached = Cached::before(reading(Some(2))).await;
    let computed = cached.documents(&["aaa", "bb", "aaa"]).await;
    assert_eq!(cuts(&computed), [Some(true), Some(false), Some(true)]);
    let silent = Cached::within(cached.folder, reading(None)).await;
    let both = silent.documents(&["cccc", "bb", "aaa"]).await;
    assert_eq!(silent.inner.asked().await, ["cccc"]);
    assert_eq!(cuts(&both), [None, Some(false), Some(true)]);
}

#[tokio::test]
async fn a_stored_row_comes_with_the_time_that_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    put(&store, "a", &[1.0, 2.0, 3.0]).await;
    put(&store, "bb", &[4.0, 5.0, 6.0]).await;
    let cached = Cached::within(folder, Lengths::new()).await;
    let took = Duration::from_nanos(1_234_567);
    assert_eq!(cached.documents(&["a"]).await.took(), Some(took));
    assert_eq!(
        cached.documents(&["a", "bb", "a"]).await.took(),
        Some(2 * took)
    );
}

#[tokio::test]
async fn a_model_that_reports_its_time_is_believed() {
    let told = Duration::from_secs(7);
    let inner = Lengths {
        took: Some(told),
        ..Lengths::new()
    };
    let cached = Cached::before(inner).await;
    assert_eq!(cached.documents(&["a"]).await.took(), Some(told));
    let stored = get(&open(&cached.folder).await, "a").await.unwrap();
    assert_eq!(stored.took, told);
}

#[tokio::test]
async fn the_time_of_the_store_does_not_count_as_the_model_s() {
    let cached = Cached::before(Lengths::new()).await;
    let computed = cached.documents(&["a"]).await.took();
    let stored = get(&open(&cached.folder).await, "a").await.unwrap().took;
    assert_eq!(computed, Some(stored));
    let both = cached.documents(&["a", "bb"]).await.took();
    let added = get(&open(&cached.folder).await, "bb").await.unwrap().took;
    assert_eq!(both, Some(stored + added));
}

#[tokio::test]
async fn a_text_is_stored_apart_as_query_and_as_document() {
    let cached = Cached::before(Lengths::new()).await;
    let document = cached.documents(&["a"]).await;
    let query = cached.model.embed(&["a"], TextKind::Query).await.unwrap();
    assert_ne!(bits(&document), bits(&query));
    assert_eq!(cached.inner.asked().await, ["a", "a"]);
}

#[tokio::test]
async fn models_of_another_identity_or_place_are_stored_apart() {
    let mut cached = Cached::before(Lengths::new()).await;
    cached.documents(&["a"]).await;
    let quantized = Lengths {
        identity: ModelIdentity::new("scripted", "lengths").with_digest("int8"),
        ..Lengths::new()
    };
    cached = Cached::within(cached.folder, quantized).await;
    cached.documents(&["a"]).await;
    assert_eq!(cached.inner.asked().await, ["a"]);
    cached = Cached::within(cached.folder, Lengths::new()).await;
    cached.model = cached.model.at("http://localhost:1/v1");
    cached.documents(&["a"]).await;
    assert_eq!(cached.inner.asked().await, ["a"]);
}

#[tokio::test]
async fn a_refresh_asks_again_and_leaves_the_later_vector() {
    let cached = Cached::before(Lengths::new()).await;
    cached.documents(&["a"]).await;
    let changed = Lengths {
        setting: 0.2,
        ..Lengths::new()
    };
    let mut cached = Cached::within(cached.folder, changed).await;
    cached.model = cached.model.with_policy(RefreshPolicy::Refresh);
    let refreshed = cached.documents(&["a", "a"]).await;
    let expected = cached.inner.vector("a", TextKind::Document);
    assert_eq!(refreshed.values(), [expected, expected].concat());
    assert!(!refreshed.is_cached());
    assert_eq!(cached.inner.asked().await, ["a"]);
    let reading = Cached::within(cached.folder, Lengths::new()).await;
    assert_eq!(reading.documents(&["a"]).await.values(), expected);
    assert!(reading.inner.asked().await.is_empty());
}

#[tokio::test]
async fn queries_can_be_refreshed_while_documents_are_not() {
    let mut cached = Cached::before(Lengths::new()).await;
    cached.model = cached.model.with_query_policy(RefreshPolicy::Refresh);
    for _ in 0..2 {
        cached.documents(&["document"]).await;
        let query = cached.model.embed(&["query"], TextKind::Query).await;
        assert!(!query.unwrap().is_cached());
    }
    assert_eq!(cached.inner.asked().await, ["document", "query", "query"]);
}

#[tokio::test]
async fn a_failed_call_leaves_what_other_calls_stored() {
    let failing = Lengths {
        fails: Some("bad"),
        ..Lengths::new()
    };
    let cached = Cached::before(failing).await;
    cached.documents(&["a"]).await;
    let error = cached
        .model
        .embed(&["a", "b", "bad"], TextKind::Document)
        .await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "`scripted:lengths` could not embed 2 texts"
    );
    cached.documents(&["a", "b"]).await;
    assert_eq!(cached.inner.asked().await, ["a", "b bad", "b"]);
}

#[tokio::test]
async fn no_texts_request_nothing() {
    let cached = Cached::before(Lengths::new()).await;
    let none = cached.documents(&[]).await;
    assert_eq!((none.len(), none.dimension()), (0, DIMENSION));
    assert!(cached.inner.asked().await.is_empty());
}

#[tokio::test]
async fn a_vector_without_direction_is_returned_and_not_stored() {
    for setting in [f32::NAN, f32::INFINITY, 1e20] {
        let cached = Cached::before(Lengths {
            setting,
            ..Lengths::new()
        })
        .await;
        let returned = cached.documents(&["a"]).await.values()[2];
        assert_eq!(returned.to_bits(), setting.to_bits());
        cached.documents(&["a"]).await;
        assert_eq!(cached.inner.asked().await, ["a", "a"], "{setting}");
    }
}

#[tokio::test]
async fn a_stored_vector_without_direction_is_a_miss_and_replaced() {
    for values in [[0.0; 3], [1e20; 3], [1e-25; 3], [f32::NAN, 1.0, 1.0]] {
        let folder = tempfile::tempdir().unwrap();
        put(&open(&folder).await, "a", &values).await;
        let cached = Cached::within(folder, Lengths::new()).await;
        let computed = cached.documents(&["a"]).await;
        assert_eq!(cached.inner.asked().await, ["a"], "{values:?}");
        let stored = get(&open(&cached.folder).await, "a").await.unwrap();
        assert_eq!(stored.values, computed.values());
    }
}

#[tokio::test]
async fn vectors_are_stored_even_if_the_caller_stops_waiting() {
    let mut hanging = Lengths::new();
    hanging.gate = Semaphore::new(0);
    let cached = Cached::before(hanging).await;
    let Cached {
        model,
        inner,
        folder,
    } = cached;
    let asking = tokio::spawn(async move { model.embed(&["a"], TextKind::Document).await });
    while inner.asked().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let locked = Connection::open(file(&folder)).unwrap();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    inner.gate.add_permits(1);
    tokio::time::sleep(Duration::from_millis(50)).await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    locked.execute_batch("COMMIT").unwrap();
    let store = open(&folder).await;
    let stored = async { while get(&store, "a").await.is_none() {} };
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, stored).await.unwrap();
}

#[tokio::test]
async fn paid_vectors_that_cannot_be_stored_are_returned_and_no_others_are_requested() {
    let cached = Cached::before(Lengths::new()).await;
    Connection::open(file(&cached.folder))
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON vectors BEGIN SELECT RAISE(ABORT, 'no space'); END",
        )
        .unwrap();
    assert_eq!(cached.documents(&["a"]).await.len(), 1);
    let error = cached.model.embed(&["b", "c"], TextKind::Document).await;
    let path = file(&cached.folder).display().to_string();
    assert_eq!(
        chain(&error.unwrap_err()),
        [
            "`scripted:lengths` could not embed 2 texts".to_owned(),
            "no more vectors are requested, because the last could not be stored".to_owned(),
            format!("could not use `{path}`"),
            "no space".to_owned(),
            "Error code 1811: constraint failed".to_owned(),
        ]
    );
    assert_eq!(cached.inner.asked().await, ["a"]);
}

#[tokio::test]
async fn nothing_is_requested_while_the_store_cannot_be_read() {
    let cached = Cached::before(Lengths::new()).await;
    Connection::open(file(&cached.folder))
        .unwrap()
        .execute_batch("DROP TABLE vectors")
        .unwrap();
    let error = cached.model.embed(&["a"], TextKind::Document).await;
    assert!(!error.unwrap_err().is_transient());
    assert!(cached.inner.asked().await.is_empty());
}

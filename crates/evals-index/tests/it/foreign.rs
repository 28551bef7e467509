//! Tables that other programs write, made here as they make them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, FixedSizeListArray, Float32Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Float64Type};
use evals_index::{
    ForeignDistance, ForeignError, ForeignHit, ForeignMode, ForeignSearch, ForeignTable, Store,
};
use evals_targets::ColumnSettings;
use lancedb::index::Index;
use lancedb::index::scalar::FtsIndexBuilder;
use lancedb::index::vector::IvfFlatIndexBuilder;

/// A column of vectors.
fn vectors(rows: &[&[f32]]) -> ArrayRef {
    let width = i32::try_from(rows[0].len()).unwrap();
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let values = Arc::new(Float32Array::from(rows.concat()));
    Arc::new(FixedSizeListArray::new(item, width, values, None))
}

fn texts(rows: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(rows.to_vec()))
}

async fn write(folder: &Path, name: &str, columns: &[(&str, ArrayRef)]) -> lancedb::Table {
    let database = lancedb::connect(folder.to_str().unwrap())
        .execute()
        .await
        .unwrap();
    let rows = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    database.create_table(name, rows).execute().await.unwrap()
}

async fn index_texts(table: &lancedb::Table, column: &str) {
    let index = Index::FTS(FtsIndexBuilder::default());
    table
        .create_index(&[column], index)
        .execute()
        .await
        .unwrap();
}

async fn open(folder: &Path, name: Option<&str>) -> Result<ForeignTable, ForeignError> {
    let store = Store::open(folder.to_str().unwrap()).await.unwrap();
    ForeignTable::open(&store, name, &ColumnSettings::default()).await
}

fn search(mode: ForeignMode) -> ForeignSearch {
    ForeignSearch {
        mode: Some(mode),
        ..ForeignSearch::default()
    }
}

fn found(hits: &[ForeignHit]) -> Vec<(&str, f32)> {
    let documents = hits
        .iter()
        .map(|hit| (hit.document.as_deref().unwrap(), hit.score));
    documents.collect()
}

/// Six chunks of four documents, by numbers.
async fn numbered(folder: &Path) -> lancedb::Table {
    let columns = [
        (
            "chunk",
            texts(&[
                "red apples",
                "green pears",
                "red plums",
                "red red",
                "grey",
                "blue",
            ]),
        ),
        (
            "doc_id",
            Arc::new(Int64Array::from(vec![1, 1, 2, 3, 4, 4])) as ArrayRef,
        ),
        (
            "embedding",
            vectors(&[
                &[1.0, 0.0],
                &[0.8, 0.6],
                &[0.0, 1.0],
                &[2.0, 0.0],
                &[0.0, 0.0],
                &[-1.0, 0.0],
            ]),
        ),
    ];
    write(folder, "things", &columns).await
}

#[tokio::test]
async fn the_best_rows_of_k_documents_are_found_and_ties_are_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let table = numbered(folder.path()).await;
    let opened = open(folder.path(), None).await.unwrap();
    assert_eq!(opened.dimension(), Some(2));
    assert_eq!(
        opened.description(&ForeignSearch::default()),
        format!(
            "table `things` of `{}`: 6 rows, documents in `doc_id`, texts in `chunk`, vectors of 2 dimensions in `embedding`; a search compares vectors",
            folder.path().display()
        )
    );
    let by_vector = search(ForeignMode::Vector);
    assert!(opened.check(&by_vector).await.unwrap().is_empty());
    let ask = async |search: &ForeignSearch, k| {
        opened.search(search, "red", &[1.0, 0.0], k).await.unwrap()
    };
    // A vector of zeros has no cosine.
    let all = ask(&by_vector, 9).await;
    assert_eq!(
        found(&all),
        [("3", 1.0), ("1", 1.0), ("1", 0.8), ("2", 0.0), ("4", -1.0)]
    );
    assert_eq!(all[1].text.as_deref(), Some("red apples"));
    assert_eq!(found(&ask(&by_vector, 2).await), [("3", 1.0), ("1", 1.0)]);
    let by_distance = ForeignSearch {
        distance: Some(ForeignDistance::L2),
        ..search(ForeignMode::Vector)
    };
    assert_eq!(found(&ask(&by_distance, 1).await), [("1", 0.0)]);
    let by_product = ForeignSearch {
        distance: Some(ForeignDistance::Dot),
        ..search(ForeignMode::Vector)
    };
    assert_eq!(found(&ask(&by_product, 2).await), [("3", 2.0), ("1", 1.0)]);

    let by_text = search(ForeignMode::Keyword);
    let error = opened.check(&by_text).await.unwrap_err().to_string();
    assert!(
        error.contains("has no full-text index for its texts; create one"),
        "{error}"
    );
    index_texts(&table, "chunk").await;
    let opened = open(folder.path(), Some("things")).await.unwrap();
    assert!(opened.check(&by_text).await.unwrap().is_empty());
    let hits = opened.search(&by_text, "red", &[], 3).await.unwrap();
    assert_eq!(hits[0].document.as_deref(), Some("3"));
    let tied: Vec<_> = found(&hits)[1..].to_vec();
    assert_eq!((tied[0].0, tied[1].0), ("2", "1"));
    assert_eq!(tied[0].1.to_bits(), tied[1].1.to_bits());
    // By ranks: 3 is first in both, 1 second and third, 2 third and second.
    let fused = opened
        .search(&search(ForeignMode::Hybrid), "red", &[1.0, 0.0], 1)
        .await
        .unwrap();
    assert_eq!(found(&fused), [("3", 2.0 / 61.0)]);
    let filtered = ForeignSearch {
        filter: Some("doc_id > 3 -- a comment".to_owned()),
        ..search(ForeignMode::Vector)
    };
    assert!(opened.check(&filtered).await.unwrap().is_empty());
    let hits = opened.search(&filtered, "", &[1.0, 0.0], 5).await.unwrap();
    assert_eq!(found(&hits), [("4", -1.0)]);
}

#[tokio::test]
async fn an_index_of_the_vectors_is_used_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let table = numbered(folder.path()).await;
    let indexed = ForeignSearch {
        index: true,
        nprobes: NonZeroUsize::new(1),
        ..search(ForeignMode::Vector)
    };
    let opened = open(folder.path(), None).await.unwrap();
    let error = opened.check(&indexed).await.unwrap_err().to_string();
    assert!(
        error.ends_with("has no index of its vectors; create one, or leave out `index`"),
        "{error}"
    );
    let index = IvfFlatIndexBuilder::default().num_partitions(2);
    table
        .create_index(&["embedding"], Index::IvfFlat(index))
        .execute()
        .await
        .unwrap();
    let opened = open(folder.path(), None).await.unwrap();
    assert!(opened.check(&indexed).await.unwrap().is_empty());
    let by_cosine = ForeignSearch {
        distance: Some(ForeignDistance::Cosine),
        ..indexed.clone()
    };
    let error = opened.check(&by_cosine).await.unwrap_err().to_string();
    assert!(
        error.contains("compares vectors by `l2` and not by `cosine`"),
        "{error}"
    );
    let hits = opened.search(&indexed, "", &[1.0, 0.0], 9).await.unwrap();
    assert!(
        !hits.is_empty() && hits.len() < 6,
        "one of two partitions: {hits:?}"
    );
    let rows = table.add(
        RecordBatch::try_from_iter([
            ("chunk", texts(&["new"])),
            ("doc_id", Arc::new(Int64Array::from(vec![9])) as ArrayRef),
            ("embedding", vectors(&[&[1.0, 0.0]])),
        ])
        .unwrap(),
    );
    rows.execute().await.unwrap();
    let opened = open(folder.path(), None).await.unwrap();
    let warnings = opened.check(&indexed).await.unwrap();
    assert!(
        warnings[0].contains("does not cover 1 of 7 rows"),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn documents_of_haiku_rag_are_known_by_their_addresses() {
    // The tables of its versions since 0.89 and before, and of one without addresses.
    for documents in [Some("document_meta"), Some("documents"), None] {
        let folder = tempfile::tempdir().unwrap();
        let columns = [
            ("id", texts(&["c1", "c2"])),
            ("document_id", texts(&["u1", "u2"])),
            ("content", texts(&["red", "blue"])),
            ("content_fts", texts(&["Fruit red", "Sky blue"])),
            ("vector", vectors(&[&[1.0, 0.0], &[0.0, 1.0]])),
        ];
        let table = write(folder.path(), "chunks", &columns).await;
        index_texts(&table, "content_fts").await;
        if let Some(documents) = documents {
            let uri: ArrayRef = Arc::new(StringArray::from(vec![Some("fruit.md"), None]));
            let columns = [
                ("id", texts(&["u1", "u2"])),
                ("uri", uri),
                ("title", texts(&["Fruit", "Sky"])),
            ];
            write(folder.path(), documents, &columns).await;
        }
        let opened = open(folder.path(), Some("chunks")).await.unwrap();
        let hits = opened
            .search(&search(ForeignMode::Keyword), "fruit", &[], 1)
            .await
            .unwrap();
        let expected = documents.map_or(("u1", None), |_| ("fruit.md", Some("Fruit")));
        assert_eq!(
            (hits[0].document.as_deref(), hits[0].title.as_deref()),
            (Some(expected.0), expected.1)
        );
        assert_eq!(hits[0].text.as_deref(), Some("red"));
        let hits = opened
            .search(&search(ForeignMode::Vector), "", &[0.0, 1.0], 1)
            .await
            .unwrap();
        assert_eq!(
            hits[0].document.as_deref(),
            Some("u2"),
            "a document without an address"
        );
        assert_eq!(
            opened
                .description(&ForeignSearch::default())
                .contains("documents of haiku.rag"),
            documents.is_some()
        );
    }
}

#[tokio::test]
async fn what_cannot_be_searched_says_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let missing = open(&folder.path().join("no"), Some("things"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("no database at `") && missing.ends_with("/no`"),
        "{missing}"
    );
    let empty = open(folder.path(), Some("things"))
        .await
        .unwrap_err()
        .to_string();
    assert!(empty.ends_with("has no tables"), "{empty}");
    numbered(folder.path()).await;
    write(
        folder.path(),
        "words",
        &[("id", texts(&["a"])), ("text", texts(&["red"]))],
    )
    .await;
    let none = open(folder.path(), None).await.unwrap_err().to_string();
    assert!(
        none.ends_with("#TABLE`; it has the tables `things`, `words`"),
        "{none}"
    );
    let words = open(folder.path(), Some("words")).await.unwrap();
    assert_eq!(words.dimension(), None);
    let error = words
        .check(&search(ForeignMode::Vector))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("has no column of vectors"), "{error}");
    let things = open(folder.path(), Some("things")).await.unwrap();
    for (filter, expected) in [
        ("doc_id = 77", "matches the filter `doc_id = 77`"),
        (
            "nothing = 1",
            "the filter `nothing = 1` cannot be applied to the table",
        ),
        ("doc_id = 1 doc_id = 2", "cannot be applied"),
    ] {
        let filtered = ForeignSearch {
            filter: Some(filter.to_owned()),
            ..search(ForeignMode::Vector)
        };
        let error = things.check(&filtered).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // Vectors as Python's lists become without a schema. No message leads to a mode that fails with a different one.
    let lists = ListArray::from_iter_primitive::<Float64Type, _, _>([Some([Some(1.0), Some(0.0)])]);
    let columns = [
        ("text", texts(&["red"])),
        ("embedding", Arc::new(lists) as ArrayRef),
    ];
    write(folder.path(), "lists", &columns).await;
    let lists = open(folder.path(), Some("lists")).await.unwrap();
    for search in [ForeignSearch::default(), search(ForeignMode::Vector)] {
        let error = lists.check(&search).await.unwrap_err().to_string();
        for part in [
            "`embedding` has lists of variable length",
            "`pa.list_(pa.float32(), N)`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("mode:"), "{error}");
    }
    // A damaged table, and one of a later format.
    let versions = folder.path().join("words.lance/_versions");
    for entry in std::fs::read_dir(versions).unwrap() {
        std::fs::write(entry.unwrap().path(), b"not a manifest").unwrap();
    }
    let error = open(folder.path(), Some("words")).await.unwrap_err();
    assert!(matches!(error, ForeignError::Open { .. }), "{error:?}");
}

#[tokio::test]
async fn rows_that_tie_at_the_cut_are_all_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..500).map(|number| format!("d{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = vec![&[1.0_f32, 1.0][..]; names.len()];
    write(
        folder.path(),
        "alike",
        &[("uri", texts(&names)), ("vector", vectors(&rows))],
    )
    .await;
    let opened = open(folder.path(), None).await.unwrap();
    let hits = opened
        .search(&search(ForeignMode::Vector), "", &[1.0, 0.0], 2)
        .await
        .unwrap();
    let documents: Vec<&str> = found(&hits).iter().map(|it| it.0).collect();
    assert_eq!(documents, ["d499", "d498"]);
    assert!(hits[0].text.is_none());
}

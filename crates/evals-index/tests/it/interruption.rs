//! Builds that are interrupted and resumed.

use std::error::Error;

use evals_index::{BuildOptions, Index, IndexError, Recipe, Store, Unobserved};
use evals_rag::Document;

use crate::corpus::{
    Fixture, chain, chunks_of, documents, embedded, generated, lexical, try_build,
};

type Read = Result<Document, Box<dyn Error + Send + Sync>>;

/// The first `count` documents, followed by a failure.
fn failing_after(texts: &[Document], count: usize) -> Vec<Read> {
    let mut read: Vec<Read> = texts[..count].iter().cloned().map(Ok).collect();
    read.push(Err("the network is gone".into()));
    read
}

async fn interrupt(store: &Store, recipe: &Recipe, read: Vec<Read>) -> IndexError {
    let options = BuildOptions::default();
    let built = Index::build(store, recipe, read, &options, &Unobserved).await;
    built.unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_resumes_after_any_document() {
    let texts = documents(&[
        ("a", "one two three"),
        ("b", ""),
        ("c", "four five"),
        ("d", "six"),
        ("e", "one two"),
    ]);
    let recipe =
        Recipe::new("test", chunks_of(2)).with_embedder(crate::corpus::Letters::named("letters"));
    let reference = Fixture::new(&recipe, texts.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    for count in 0..=texts.len() {
        let error = interrupt(&store, &recipe, failing_after(&texts, count)).await;
        assert_eq!(
            chain(&error),
            format!("cannot read document {}: the network is gone", count + 1)
        );
        let error = Index::open(&store, &recipe).await.unwrap_err();
        assert!(matches!(error, IndexError::Incomplete { .. }), "{error}");
    }
    let built = try_build(folder.path(), &recipe, texts.clone())
        .await
        .unwrap();
    let report = built.report.unwrap();
    assert_eq!((report.resumed_documents, report.documents), (5, 0));
    assert!(built.index.documents().eq(reference.index.documents()));
    let resumed = Fixture {
        index: built.index,
        folder,
    };
    for profile in ["unranked", "bm25", "semantic", "hybrid"] {
        assert_eq!(
            resumed.ranking(profile, "one two six", 10).await,
            reference.ranking(profile, "one two six", 10).await
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_build_keeps_the_documents_read_before_a_failure() {
    let texts = generated(1_000);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    interrupt(&store, &embedded(), failing_after(&texts, 613)).await;
    let built = try_build(folder.path(), &embedded(), texts).await.unwrap();
    let report = built.report.unwrap();
    assert_eq!((report.resumed_documents, report.documents), (613, 387));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_is_not_resumed_with_other_documents() {
    let texts = documents(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    interrupt(&store, &lexical(), failing_after(&texts, 2)).await;
    let message = async |texts| {
        let error = try_build(folder.path(), &lexical(), texts)
            .await
            .unwrap_err();
        error.to_string()
    };
    let table = lexical().identity().table_name();
    let uri = store.uri().to_owned();
    assert_eq!(
        message(documents(&[("a", "1"), ("x", "2")])).await,
        format!(
            "cannot resume the build of table `{table}` of `{uri}`: document 2 of the dataset is `x`, but the table has `b` in its place; delete `{uri}/{table}.lance` to rebuild it"
        )
    );
    assert_eq!(
        message(documents(&[("a", "1")])).await,
        format!(
            "cannot resume the build of table `{table}` of `{uri}`: it already has 2 documents, but the dataset has only 1; delete `{uri}/{table}.lance` to rebuild it"
        )
    );
    let folder_of_table = folder.path().join(format!("{table}.lance"));
    assert!(folder_of_table.is_dir());
    assert!(store.remove(&lexical().identity()).await.unwrap());
    assert!(!folder_of_table.exists());
    assert!(!store.remove(&lexical().identity()).await.unwrap());
    try_build(folder.path(), &lexical(), texts).await.unwrap();
}

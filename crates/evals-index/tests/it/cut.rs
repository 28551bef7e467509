//! The count of chunks that the embedding model truncated.

use std::sync::Arc;

use async_trait::async_trait;
use evals_index::{BuildOptions, CutChunks, Index, IndexError, Recipe, Store, Unobserved};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};
use evals_rag::Document;

use crate::corpus::{Letters, document, embedded, lexical, ok, try_build};

/// A model that reads five bytes of a text, and does not report truncation of texts with a question mark.
#[derive(Debug)]
struct ShortSighted(Arc<dyn Embedder>);

#[async_trait]
impl Embedder for ShortSighted {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let told = texts.iter();
        let told = told.map(|text| (!text.contains('?')).then_some(text.len() > 5));
        Ok(self.0.embed(texts, kind).await?.with_cut(told.collect()))
    }
}

fn short_sighted() -> Recipe {
    lexical().with_embedder(Arc::new(ShortSighted(Letters::named("short-sighted"))))
}

/// Three chunks that are truncated, one of unknown truncation, one without text, and three that fit.
fn texts() -> Vec<Document> {
    let texts = [
        "amber", "too long", "who?", "birch", " ", "longer", "dune", "longest",
    ];
    (0..)
        .zip(texts)
        .map(|(number, text)| document(&format!("d{number}"), text))
        .collect()
}

async fn counted(index: &Index) -> Option<CutChunks> {
    index.statistics().await.unwrap().cut_chunks
}

const EXPECTED: Option<CutChunks> = Some(CutChunks { cut: 3, unknown: 1 });

#[tokio::test(flavor = "multi_thread")]
async fn a_built_and_a_reopened_index_report_truncated_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let built = try_build(folder.path(), &short_sighted(), texts()).await;
    assert_eq!(counted(&built.unwrap().index).await, EXPECTED);
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let found = Index::open(&store, &short_sighted()).await.unwrap();
    assert_eq!(counted(&found).await, EXPECTED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_build_counts_the_chunks_committed_before() {
    for committed in 0..=texts().len() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
        let mut read = ok(texts()[..committed].to_vec())
            .into_iter()
            .map(|read| read.map_err(|never| match never {}))
            .collect::<Vec<Result<Document, &str>>>();
        read.push(Err("the network is gone"));
        let (recipe, options) = (short_sighted(), BuildOptions::default());
        let stopped = Index::build(&store, &recipe, read, &options, &Unobserved).await;
        assert!(matches!(stopped, Err(IndexError::Documents { .. })));
        let built = try_build(folder.path(), &recipe, texts()).await.unwrap();
        assert_eq!(built.report.unwrap().resumed_documents, committed);
        assert_eq!(counted(&built.index).await, EXPECTED, "{committed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_unknown_if_the_model_does_not_report_truncation() {
    let folder = tempfile::tempdir().unwrap();
    let built = try_build(folder.path(), &embedded(), texts()).await;
    let expected = CutChunks { cut: 0, unknown: 7 };
    assert_eq!(counted(&built.unwrap().index).await, Some(expected));
    let built = try_build(folder.path(), &lexical(), texts()).await;
    assert_eq!(counted(&built.unwrap().index).await, None);
}

/// Earlier versions wrote no column `cut`; their unfinished tables are resumed without one.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_an_earlier_version_has_no_count() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().to_str().unwrap();
    let store = Store::open(uri).await.unwrap();
    let (recipe, options) = (short_sighted(), BuildOptions::default());
    let read = vec![Ok(texts().remove(0)), Err("the network is gone")];
    let stopped = Index::build(&store, &recipe, read, &options, &Unobserved).await;
    assert!(matches!(stopped, Err(IndexError::Documents { .. })));
    let connection = lancedb::connect(uri).execute().await.unwrap();
    let name = connection.table_names().execute().await.unwrap().remove(0);
    let table = connection.open_table(name).execute().await.unwrap();
    table.drop_columns(&["cut"]).await.unwrap();
    let built = try_build(folder.path(), &recipe, texts()).await.unwrap();
    assert_eq!(built.report.unwrap().resumed_documents, 1);
    assert_eq!(counted(&built.index).await, None);
}

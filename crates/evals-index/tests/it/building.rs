//! Building indexes: reports, commits, and corpora that cannot be indexed.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use evals_index::{
    BuildObserver, BuildOptions, BuildProgress, BuildStage, FullText, Index, Recipe, Store,
};

use crate::corpus::{
    chain, chunks_of, document, documents, embedded, generated, lexical, ok, try_build,
};

#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<BuildProgress>>);

impl BuildObserver for Recorder {
    fn on_progress(&self, progress: BuildProgress) {
        self.0.lock().unwrap().push(progress);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_reports_its_counts_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let recipe = Recipe::new("test", chunks_of(2));
    let texts = documents(&[("a", "one two three"), ("b", "four")]);
    let recorder = Recorder::default();
    let options = BuildOptions::default();
    let built = Index::build(&store, &recipe, ok(texts.clone()), &options, &recorder)
        .await
        .unwrap();
    let report = built.report.unwrap();
    assert_eq!((report.documents, report.chunks, report.bytes), (2, 3, 17));
    assert_eq!(report.resumed_documents, 0);
    assert!(report.wall >= report.full_text && report.full_text > Duration::ZERO);
    let stages: Vec<_> = recorder.0.into_inner().unwrap();
    assert_eq!(stages.first().unwrap().documents, 0);
    let last = stages.last().unwrap();
    assert_eq!(
        (last.stage, last.documents, last.chunks),
        (BuildStage::FullText, 2, 3)
    );
    let statistics = built.index.statistics().await.unwrap();
    assert_eq!((statistics.documents, statistics.chunks), (2, 3));
    assert!(statistics.bytes > 0);
    assert_eq!(built.index.documents().collect::<Vec<_>>(), ["a", "b"]);

    let again = Index::build(&store, &recipe, ok(texts), &options, &Recorder::default())
        .await
        .unwrap();
    assert_eq!(again.report, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_small_commits_keep_the_order_of_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let texts = generated(5_000);
    let expected: Vec<_> = texts.iter().map(|document| document.uri.clone()).collect();
    let options = BuildOptions {
        commit_bytes: 1,
        concurrency: NonZeroUsize::new(3).unwrap(),
        ..BuildOptions::default()
    };
    let recorder = Recorder::default();
    let built = Index::build(&store, &embedded(), ok(texts), &options, &recorder)
        .await
        .unwrap();
    assert!(built.index.documents().eq(expected));
    let stages = recorder.0.into_inner().unwrap();
    assert!(
        stages
            .iter()
            .any(|progress| progress.stage == BuildStage::Compacting)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corpus_without_documents_or_with_bad_uris_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = async |texts| {
        let error = try_build(folder.path(), &lexical(), texts)
            .await
            .unwrap_err();
        chain(&error)
    };
    assert_eq!(message(Vec::new()).await, "the corpus has no documents");
    assert_eq!(
        message(documents(&[("a", "1"), ("b", "2"), ("a", "3")])).await,
        "documents 1 and 3 have the same uri `a`"
    );
    assert_eq!(
        message(vec![
            document("a", "1"),
            document("b", "2"),
            document("", "3")
        ])
        .await,
        "document 3 has an empty uri"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_language_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let full_text = FullText {
        language: "Klingon".to_owned(),
        ..FullText::default()
    };
    let recipe = lexical().with_full_text(full_text);
    let error = try_build(folder.path(), &recipe, generated(3))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "full-text search has no language `Klingon`"
    );
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_of_ten_megabytes_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let large = "A sentence of seven words, and more. ".repeat(10_000_000 / 37);
    let texts = documents(&[("a", "before"), ("large", &large), ("z", "needle")]);
    let recipe = Recipe::new("test", chunks_of(256));
    let built = try_build(folder.path(), &recipe, texts).await.unwrap();
    let report = built.report.unwrap();
    assert_eq!(report.documents, 3);
    assert!(report.chunks > 7_000);
    let whole = try_build(folder.path(), &lexical(), documents(&[("large", &large)]))
        .await
        .unwrap();
    assert_eq!(whole.report.unwrap().chunks, 1);
}

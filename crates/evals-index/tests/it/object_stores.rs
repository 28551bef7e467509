//! Writers of one index in an object store, in front of a server in memory that speaks S3.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use evals_index::{
    BuildOptions, Built, Index, IndexError, SearchOptions, Store, StoreFault, StoreSettings,
    Unobserved,
};
use evals_rag::{Document, VectorSearch, VectorSearchKind};

use crate::corpus::{Fixture, embedded, generated, ids, ok, pairs};
use crate::object_server::{Fault, KEY, ObjectServer, SECRET};

const URI: &str = "s3://bucket/db";
const DOCUMENTS: usize = 600;

async fn open(server: &ObjectServer) -> Store {
    let options = [
        ("aws_endpoint", server.url()),
        ("allow_http", "true".to_owned()),
        ("aws_region", "us-east-1".to_owned()),
        ("aws_access_key_id", KEY.to_owned()),
        ("aws_secret_access_key", SECRET.to_owned()),
    ];
    let settings = StoreSettings {
        options: options.map(|(name, value)| (name.to_owned(), value)).into(),
        retry_for: Duration::ZERO,
        ..StoreSettings::default()
    };
    Store::open_with(URI, &settings).await.unwrap()
}

/// Commits after every portion of documents.
fn often() -> BuildOptions {
    BuildOptions {
        commit_bytes: 1,
        ..BuildOptions::default()
    }
}

async fn build(store: &Store) -> Result<Built, IndexError> {
    let documents = ok(generated(DOCUMENTS));
    Index::build(store, &embedded(), documents, &often(), &Unobserved).await
}

async fn assert_sound(index: Index) {
    let reference = Fixture::new(&embedded(), generated(DOCUMENTS)).await;
    assert!(index.documents().eq(reference.index.documents()));
    for profile in ["bm25", "semantic", "hybrid"] {
        let options = SearchOptions::default();
        let searcher = index.searcher(profile.parse().unwrap(), &options).await;
        let found = searcher.unwrap().search("amber fjord kelp", 100).await;
        let expected = reference.ranking(profile, "amber fjord kelp", 100).await;
        assert_eq!(pairs(&found.unwrap()), expected);
    }
}

/// The documents. The second half of them waits for a message.
fn halting(gate: Receiver<()>) -> impl Iterator<Item = Result<Document, Infallible>> + Send {
    let documents = generated(DOCUMENTS).into_iter().enumerate();
    documents.map(move |(number, document)| {
        if number == DOCUMENTS / 2 {
            gate.recv().unwrap();
        }
        Ok(document)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_lost_its_lease_writes_no_more() {
    let server = ObjectServer::in_memory();
    let (open_gate, gate) = mpsc::channel();
    let (one, other) = (open(&server).await, open(&server).await);
    let recipe = embedded();
    let options = often();
    let stopped = Index::build(&one, &recipe, halting(gate), &options, &Unobserved);
    let overtaking = async {
        let has_commit = || server.keys().iter().any(|key| key.contains("/data/"));
        while !has_commit() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The first writer seems to be dead.
        server.delete("evaluations-lock/");
        let documents = ok(generated(DOCUMENTS));
        let built = Index::build(&other, &recipe, documents, &options, &Unobserved).await;
        open_gate.send(()).unwrap();
        built.unwrap().report.unwrap()
    };
    let (stopped, report) = tokio::join!(stopped, overtaking);
    assert!(report.resumed_documents > 0, "{report:?}");
    assert_eq!(report.resumed_documents + report.documents, DOCUMENTS);
    let error = stopped.unwrap_err();
    assert_eq!(
        error.store_fault(),
        Some(StoreFault::OtherWriter),
        "{error:?}"
    );
    let index = Index::open(&other, &embedded()).await.unwrap();
    assert_sound(index).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_resumes_after_a_failure_of_its_store() {
    let server = ObjectServer::in_memory();
    let store = open(&server).await;
    let requests = AtomicUsize::new(0);
    server.fail(move |_| (requests.fetch_add(1, Ordering::SeqCst) >= 40).then_some(Fault::Drop));
    let error = build(&store).await.unwrap_err();
    assert_eq!(
        error.store_fault(),
        Some(StoreFault::Interrupted),
        "{error:?}"
    );
    server.recover();
    assert_sound(build(&store).await.unwrap().index).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_index_is_absent_and_can_be_built_again() {
    let server = ObjectServer::in_memory();
    let store = open(&server).await;
    build(&store).await.unwrap();
    let identity = embedded().identity();
    assert_eq!(store.tables(&identity).await.unwrap().len(), 1);
    assert!(store.remove(&identity).await.unwrap());
    assert!(!store.remove(&identity).await.unwrap());
    assert_eq!(store.tables(&identity).await.unwrap(), []);
    let error = Index::open(&store, &embedded()).await.unwrap_err();
    assert!(matches!(error, IndexError::NoMatch { .. }), "{error}");
    assert_sound(build(&store).await.unwrap().index).await;
}

/// The requests since the first `before` that delete objects.
fn deletions(server: &ObjectServer, before: usize) -> Vec<String> {
    let mut requests = server.requests().split_off(before);
    requests.retain(|it| it.starts_with("DELETE ") || it.contains("?delete"));
    requests
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_lost_its_lease_deletes_no_files() {
    let server = Arc::new(ObjectServer::in_memory());
    let store = open(&server).await;
    let build = async || {
        server.delete("evaluations-lock/");
        self::build(&store).await
    };
    let requests = AtomicUsize::new(0);
    server.fail(move |_| (requests.fetch_add(1, Ordering::SeqCst) >= 40).then_some(Fault::Drop));
    build().await.unwrap_err();
    // A resumed build deletes files after it has built its last index. Before that, it loses the lease, and the new holder has not committed yet.
    let taken = Arc::downgrade(&server);
    server.fail(move |seen| {
        if seen.writes("_indices/") {
            taken.upgrade()?.delete("evaluations-lock/");
        }
        None
    });
    let before = server.requests().len();
    let error = build().await.unwrap_err();
    assert_eq!(
        error.store_fault(),
        Some(StoreFault::OtherWriter),
        "{error:?}"
    );
    assert_eq!(deletions(&server, before), [""; 0]);
    server.recover();
    assert_sound(build().await.unwrap().index).await;
    assert!(!deletions(&server, before).is_empty(), "a holder deletes");
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_indexed_in_a_store_and_found_by_other_processes() {
    let server = ObjectServer::in_memory();
    let store = open(&server).await;
    let built = build(&store).await;
    let reference = Fixture::new(&embedded(), generated(DOCUMENTS)).await;
    let expected = reference.ranking("semantic", "amber fjord kelp", 20).await;
    let all = NonZeroU32::new(2);
    let flat = VectorSearch {
        kind: VectorSearchKind::IvfFlat,
        partitions: all,
        probes: all,
        ..VectorSearch::default()
    };
    let graph = VectorSearch {
        kind: VectorSearchKind::HnswFlat,
        ef: NonZeroU32::new(100_000),
        ..VectorSearch::default()
    };
    drop(built.unwrap());
    for search in [flat, graph] {
        for is_first in [true, false] {
            let store = open(&server).await;
            let index = Index::open(&store, &embedded()).await.unwrap();
            let (index, took) = index
                .with_vector_search(&store, &search, &Unobserved)
                .await
                .unwrap();
            assert_eq!(took.is_some(), is_first, "{search:?}");
            let options = SearchOptions::default();
            let searcher = index.searcher("semantic".parse().unwrap(), &options).await;
            let found = searcher.unwrap().search("amber fjord kelp", 20).await;
            assert_eq!(ids(&pairs(&found.unwrap())), ids(&expected), "{search:?}");
        }
    }
    let has_vectors = || server.keys().iter().any(|key| key.contains("/vectors-"));
    assert!(has_vectors());
    assert!(store.remove(&embedded().identity()).await.unwrap());
    assert!(!has_vectors(), "{:?}", server.keys());
}

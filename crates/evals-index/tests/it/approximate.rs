//! Approximate search: its indexes, its results, and the check that the engine uses an index.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use evals_index::{CachePolicy, Index, IndexError, Profile, SearchOptions, Store, Unobserved};
use evals_rag::{VectorSearch, VectorSearchKind};

use crate::corpus::{
    Fixture, chain, document, embedded, generated, ids, lexical, pairs, try_build,
};

const QUESTION: &str = "harbor and indigo";

fn search(kind: VectorSearchKind) -> VectorSearch {
    VectorSearch {
        kind,
        ..VectorSearch::default()
    }
}

/// A search whose candidates are all vectors, and which compares them again uncompressed.
fn exhaustive(kind: VectorSearchKind) -> VectorSearch {
    let has = |parameter| kind.parameters().contains(&parameter);
    let two = NonZeroU32::new(2);
    VectorSearch {
        kind,
        partitions: two.filter(|_| has("partitions")),
        probes: two.filter(|_| has("probes")),
        ef: NonZeroU32::new(100_000).filter(|_| has("ef")),
        refine: has("refine").then_some(100),
        ..VectorSearch::default()
    }
}

async fn fixture() -> Fixture {
    Fixture::new(&embedded(), generated(600)).await
}

async fn approximate(fixture: &Fixture, search: &VectorSearch) -> (Index, bool) {
    let index = fixture.index.clone();
    let store = fixture.store().await;
    let (index, took) = index
        .with_vector_search(&store, search, &Unobserved)
        .await
        .unwrap();
    (index, took.is_some())
}

async fn ranking(index: &Index, profile: &str, options: &SearchOptions) -> Vec<(String, f32)> {
    let profile: Profile = profile.parse().unwrap();
    let searcher = index.searcher(profile, options).await.unwrap();
    pairs(&searcher.search(QUESTION, 20).await.unwrap())
}

/// The folders of the vector indexes in a store.
fn folders(store: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(store).unwrap().map(|it| it.unwrap().path());
    let is_index = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("vectors-")
    };
    let mut folders: Vec<_> = entries.filter(is_index).collect();
    folders.sort();
    folders
}

#[tokio::test]
async fn every_kind_that_compares_everything_finds_what_exact_search_finds() {
    let fixture = fixture().await;
    let options = SearchOptions::default();
    for profile in ["semantic", "hybrid"] {
        let exact = ranking(&fixture.index, profile, &options).await;
        for kind in VectorSearchKind::ALL {
            let (index, _) = approximate(&fixture, &exhaustive(kind)).await;
            assert_eq!(
                index.approximation().map(|it| it.built.kind),
                (kind != VectorSearchKind::Exact).then_some(kind)
            );
            let found = ranking(&index, profile, &options).await;
            assert_eq!(ids(&found), ids(&exact), "{kind}, {profile}");
            for (found, exact) in found.iter().zip(&exact) {
                assert!(
                    (found.1 - exact.1).abs() < 1e-5,
                    "{kind}: {found:?}, {exact:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_a_search_finds_does_not_depend_on_earlier_questions() {
    let alike = (0..400).map(|number| document(&format!("same{number}"), "same text"));
    let mut corpus = generated(1500);
    corpus.extend(alike);
    let fixture = Fixture::new(&embedded(), corpus).await;
    let coarse = VectorSearch {
        partitions: NonZeroU32::new(4),
        probes: NonZeroU32::new(2),
        sub_vectors: NonZeroU32::new(2),
        bits: NonZeroU32::new(4),
        refine: Some(1),
        ..search(VectorSearchKind::IvfPq)
    };
    let (index, _) = approximate(&fixture, &coarse).await;
    let options = SearchOptions {
        cache: CachePolicy::Fresh,
        ..SearchOptions::default()
    };
    let semantic = index.searcher(Profile::Semantic, &options).await.unwrap();
    let questions = ["amber", "dune and kelp", QUESTION, "garnet jasper", "fjord"];
    let rankings = async || {
        let mut found = Vec::new();
        for question in questions {
            found.push(pairs(&semantic.search(question, 20).await.unwrap()));
        }
        found
    };
    let before = rankings().await;
    semantic.search("same text", 20).await.unwrap();
    assert_eq!(rankings().await, before);
}

#[tokio::test]
async fn a_search_of_few_partitions_misses_some_and_always_the_same() {
    let fixture = fixture().await;
    let options = SearchOptions {
        cache: CachePolicy::Fresh,
        ..SearchOptions::default()
    };
    let narrow = VectorSearch {
        partitions: NonZeroU32::new(64),
        probes: NonZeroU32::new(1),
        ..search(VectorSearchKind::IvfFlat)
    };
    let (index, _) = approximate(&fixture, &narrow).await;
    let exact = ranking(&fixture.index, "semantic", &options).await;
    let found = ranking(&index, "semantic", &options).await;
    assert_ne!(ids(&found), ids(&exact));
    assert!(!found.is_empty());
    assert_eq!(ranking(&index, "semantic", &options).await, found);
    let (again, built) = approximate(&fixture, &narrow).await;
    assert!(!built, "the index of the vectors exists");
    assert_eq!(ranking(&again, "semantic", &options).await, found);
}

#[tokio::test]
async fn other_parameters_are_another_table_and_the_index_stays_as_it_is() {
    let fixture = fixture().await;
    let folder = fixture.folder.path();
    let flat = search(VectorSearchKind::IvfFlat);
    assert!(approximate(&fixture, &flat).await.1);
    let wide = VectorSearch {
        probes: NonZeroU32::new(20),
        ..flat.clone()
    };
    assert!(!approximate(&fixture, &wide).await.1, "built alike");
    let few = VectorSearch {
        partitions: NonZeroU32::new(3),
        ..flat.clone()
    };
    assert!(approximate(&fixture, &few).await.1);
    assert_eq!(folders(folder).len(), 2);
    // Checks every file of the index.
    let store = fixture.store().await;
    Index::open(&store, &embedded()).await.unwrap();
    assert_eq!(store.tables(&embedded().identity()).await.unwrap().len(), 1);
    assert!(store.remove(&embedded().identity()).await.unwrap());
    assert_eq!(folders(folder), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_build_that_was_killed_is_made_again() {
    let fixture = fixture().await;
    let flat = search(VectorSearchKind::IvfFlat);
    assert!(approximate(&fixture, &flat).await.1);
    let [table] = &folders(fixture.folder.path())[..] else {
        panic!("there is one");
    };
    fs::remove_file(table.join("evaluations-files.json")).unwrap();
    assert!(approximate(&fixture, &flat).await.1);
    assert!(!approximate(&fixture, &flat).await.1);
}

#[tokio::test]
async fn a_damaged_index_of_the_vectors_is_noticed() {
    let fixture = fixture().await;
    let flat = search(VectorSearchKind::IvfFlat);
    approximate(&fixture, &flat).await;
    let [table] = &folders(fixture.folder.path())[..] else {
        panic!("there is one");
    };
    let [index] = &fs::read_dir(table.join("_indices"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect::<Vec<_>>()[..]
    else {
        panic!("there is one");
    };
    let file = fs::read_dir(index).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let index = fixture.index.clone();
    let store = fixture.store().await;
    let error = index.with_vector_search(&store, &flat, &Unobserved).await;
    let error = error.unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
}

/// A new build of an index writes its rows to other files, perhaps with other numbers.
#[tokio::test]
async fn an_index_that_was_built_again_has_its_vectors_indexed_again() {
    let fixture = fixture().await;
    let flat = search(VectorSearchKind::IvfFlat);
    assert!(approximate(&fixture, &flat).await.1);
    let table = embedded().identity().table_name();
    let folder = fixture.folder.path();
    fs::remove_dir_all(folder.join(format!("{table}.lance"))).unwrap();
    let built = try_build(folder, &embedded(), generated(600))
        .await
        .unwrap();
    let store = fixture.store().await;
    let opened = built.index.with_vector_search(&store, &flat, &Unobserved);
    let (index, took) = opened.await.unwrap();
    assert!(took.is_some());
    let options = SearchOptions::default();
    assert_eq!(ranking(&index, "semantic", &options).await.len(), 20);
}

#[tokio::test]
async fn a_store_that_was_moved_is_indexed_again() {
    let fixture = fixture().await;
    let flat = search(VectorSearchKind::IvfFlat);
    approximate(&fixture, &flat).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("moved");
    fs::rename(fixture.folder.path(), &moved).unwrap();
    let store = Store::open(moved.to_str().unwrap()).await.unwrap();
    let index = Index::open(&store, &embedded()).await.unwrap();
    let (index, took) = index
        .with_vector_search(&store, &flat, &Unobserved)
        .await
        .unwrap();
    assert!(took.is_some());
    assert_eq!(
        ranking(&index, "semantic", &SearchOptions::default())
            .await
            .len(),
        20
    );
    assert_eq!(folders(&moved).len(), 1);
}

#[tokio::test]
async fn a_filter_applies_before_the_search() {
    let fixture = fixture().await;
    let options = SearchOptions {
        filter: Some("uri LIKE '%7'".to_owned()),
        ..SearchOptions::default()
    };
    let exact = ranking(&fixture.index, "semantic", &options).await;
    let (index, _) = approximate(&fixture, &exhaustive(VectorSearchKind::IvfPq)).await;
    let found = ranking(&index, "semantic", &options).await;
    assert_eq!(ids(&found), ids(&exact));
    assert!(ids(&found).iter().all(|uri| uri.ends_with('7')));
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_refused_before_anything_is_built() {
    let fixture = fixture().await;
    let refused = async |settings: VectorSearch| {
        let store = fixture.store().await;
        let index = fixture.index.clone();
        let error = index
            .with_vector_search(&store, &settings, &Unobserved)
            .await;
        chain(&error.unwrap_err())
    };
    let many = VectorSearch {
        partitions: NonZeroU32::new(3),
        ..search(VectorSearchKind::IvfPq)
    };
    assert_eq!(
        refused(many).await,
        "bad value for `search.index.partitions`: `ivf-pq` has at most 2 for the 600 chunks of the index"
    );
    let foreign = VectorSearch {
        m: NonZeroU32::new(3),
        ..search(VectorSearchKind::IvfPq)
    };
    assert!(
        refused(foreign)
            .await
            .starts_with("bad value for `search.index.m`")
    );
    assert_eq!(folders(fixture.folder.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_index_without_vectors_has_no_approximate_search() {
    let fixture = Fixture::new(&lexical(), generated(10)).await;
    let store = fixture.store().await;
    let flat = search(VectorSearchKind::IvfFlat);
    let error = fixture.index.clone();
    let error = error.with_vector_search(&store, &flat, &Unobserved).await;
    assert!(matches!(
        error.unwrap_err(),
        IndexError::NoEmbeddings { .. }
    ));
}

//! Opening indexes: mismatches, missing stores, and read-only folders.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use evals_index::{BuildOptions, Index, IndexError, Recipe, Store, Unobserved};

use crate::corpus::{
    Fixture, Letters, chunks_of, documents, embedded, ids, lexical, ok, try_build,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_mismatch_names_the_differences() {
    let recipe = lexical().with_embedder(Letters::named("large"));
    let fixture = Fixture::new(&recipe, documents(&[("a", "text")])).await;
    let store = fixture.store().await;
    let error = Index::open(&store, &embedded()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no index in `{}` matches the settings\n  {} (1 document, 1 chunk)\n    \
             embedder: index has `test:large (16 dimensions)`, settings ask for `test:letters (16 dimensions)`",
            store.uri(),
            recipe.identity().table_name(),
        )
    );
    let empty = tempfile::tempdir().unwrap();
    let store = Store::open(empty.path().to_str().unwrap()).await.unwrap();
    let error = Index::open(&store, &embedded()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no index in `{}` matches the settings; the store is empty",
            store.uri()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mismatch_names_the_nearest_of_several_indexes() {
    let far = Recipe::new("letters", chunks_of(7));
    let near = lexical();
    let fixture = Fixture::new(&far, documents(&[("a", "text")])).await;
    let store = fixture.store().await;
    let texts = ok(documents(&[("a", "text")]));
    let options = BuildOptions::default();
    Index::build(&store, &near, texts, &options, &Unobserved)
        .await
        .unwrap();
    let error = Index::open(&store, &embedded()).await.unwrap_err();
    let message = error.to_string();
    let told = format!("; the nearest of 2\n  {} ", near.identity().table_name());
    assert!(message.contains(&told), "{message}");
    assert!(!message.contains(&far.identity().table_name()), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_creates_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db/scifact");
    let store = Store::open(path.to_str().unwrap()).await.unwrap();
    let error = Index::open(&store, &lexical()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no index store at `{}`", path.display())
    );
    assert_eq!(store.tables(&lexical().identity()).await.unwrap(), []);
    assert!(!store.remove(&lexical().identity()).await.unwrap());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    let built = Index::build(
        &store,
        &lexical(),
        ok(documents(&[("a", "text")])),
        &BuildOptions::default(),
        &Unobserved,
    )
    .await
    .unwrap();
    assert_eq!(built.index.documents().count(), 1);
    assert!(Index::open(&store, &lexical()).await.is_ok());
    assert!(path.is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_refused_as_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = Store::open(path).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot use `{path}` as the folder of an index")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn searching_needs_no_write_permission() {
    let fixture = Fixture::new(&lexical(), documents(&[("a", "text")])).await;
    let lock = fixture.folder.path().join("evaluations.lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let store = fixture.store().await;
    let index = Index::open(&store, &lexical()).await.unwrap();
    let reopened = Fixture {
        index,
        folder: fixture.folder,
    };
    assert_eq!(ids(&reopened.ranking("bm25", "text", 1).await), ["a"]);
    let error = crate::corpus::try_build(
        reopened.folder.path(),
        &embedded(),
        documents(&[("a", "text")]),
    )
    .await
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot write to the store: cannot take the lock `{}`",
            lock.display()
        )
    );
}

/// Without a record of the files, as after a killed build, the engine finds the damage.
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_files_of_an_unfinished_index_are_an_error() {
    for extension in ["manifest", "lance"] {
        let fixture = Fixture::new(&lexical(), documents(&[("a", "text")])).await;
        let table = lexical().identity().table_name();
        let folder = fixture.folder.path().join(format!("{table}.lance"));
        fs::remove_file(folder.join("evaluations-files.json")).unwrap();
        let damaged = files(folder, extension);
        assert!(!damaged.is_empty());
        for file in damaged {
            fs::write(file, b"not what it was").unwrap();
        }
        let texts = documents(&[("a", "text")]);
        let error = try_build(fixture.folder.path(), &lexical(), texts).await;
        let error = error.unwrap_err();
        assert!(matches!(error, IndexError::Unreadable { .. }), "{error}");
        let uri = fixture.folder.path().to_str().unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot read the index in table `{table}` of `{uri}`; if its files are damaged, \
                 delete `{uri}/{table}.lance` to rebuild it"
            )
        );
        assert!(error.source().is_some());
    }
}

/// The files below `folder` that end in `extension`.
fn files(folder: PathBuf, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(found) if found == extension => files.push(path),
                _ => {}
            }
        }
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn the_openings_of_documents_are_read_without_the_embedder() {
    let recipe = embedded();
    let long = "first words and then many more of them ".repeat(40);
    let corpus = documents(&[("a", "short"), ("b", &long), ("c", "other")]);
    let fixture = Fixture::new(&recipe, corpus).await;
    let store = fixture.store().await;
    let index = Index::find_identity(&store, recipe.identity()).await;
    let index = index.unwrap().unwrap();
    let openings = index.openings(&["c", "none", "b", "c"]).await.unwrap();
    let read: Vec<_> = openings
        .iter()
        .map(|it| (it.document.as_str(), it.title.as_deref(), it.ordinal))
        .collect();
    assert_eq!(
        read,
        [("c", Some("Title of c"), 0), ("b", Some("Title of b"), 0)]
    );
    assert_eq!(openings[0].text, "other");
    assert!(openings[1].text.starts_with("first words"));
    assert!(index.openings(&[]).await.unwrap().is_empty());
    let other = Recipe::new("other letters", chunks_of(7)).identity();
    assert!(Index::find_identity(&store, other).await.unwrap().is_none());
}

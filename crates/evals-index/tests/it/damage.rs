//! Indexes whose files were damaged, deleted or changed by other programs.

use std::fs;
use std::path::{Path, PathBuf};

use evals_index::{Index, IndexError, Recipe, Store, TableState};
use tempfile::TempDir;

use crate::corpus::{Fixture, embedded, generated, lexical, try_build};

const RECORD: &str = "evaluations-files.json";

fn table(recipe: &Recipe) -> String {
    format!("{}.lance", recipe.identity().table_name())
}

/// The files below a folder, in the order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A copy of a store, to be damaged.
fn copy(store: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in files(store) {
        let target = copy.path().join(file.strip_prefix(store).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    copy
}

async fn open(folder: &Path, recipe: &Recipe) -> Result<Index, IndexError> {
    let store = Store::open(folder.to_str().unwrap()).await.unwrap();
    Index::open(&store, recipe).await
}

/// One way to damage a file.
type Damage = fn(&mut Vec<u8>);

const DAMAGES: [(&str, Damage); 7] = [
    ("flip at the start", |bytes| bytes[0] ^= 1),
    ("flip at a third", |bytes| {
        let third = bytes.len() / 3;
        bytes[third] ^= 0x10;
    }),
    ("flip in the middle", |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x80;
    }),
    ("flip near the end", |bytes| {
        let last = bytes.len().saturating_sub(9);
        bytes[last] ^= 2;
    }),
    ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
    ("one byte longer", |bytes| bytes.push(0)),
    ("a block of ones", |bytes| {
        let start = bytes.len() / 4;
        let end = (start + 64).min(bytes.len());
        bytes[start..end].fill(0xff);
    }),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_never_gives_a_ranking() {
    let sound = Fixture::new(&embedded(), generated(300)).await;
    let table = table(&embedded());
    let names: Vec<PathBuf> = files(&sound.folder.path().join(&table))
        .iter()
        .map(|file| file.strip_prefix(sound.folder.path()).unwrap().to_owned())
        .collect();
    for kind in ["data/", "_indices/", "_versions/", "_transactions/", RECORD] {
        let is_of_kind = |name: &PathBuf| name.to_str().unwrap().contains(kind);
        assert!(names.iter().any(is_of_kind), "no file of {kind}");
    }
    for name in &names {
        for (what, damage) in DAMAGES {
            let damaged = copy(sound.folder.path());
            let path = damaged.path().join(name);
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            assert_is_refused(damaged.path(), name, what).await;
        }
        let damaged = copy(sound.folder.path());
        fs::remove_file(damaged.path().join(name)).unwrap();
        if name.ends_with(RECORD) {
            continue;
        }
        assert_is_refused(damaged.path(), name, "deletion").await;
    }
}

/// Checks that the index is neither opened nor built over, and that the message names the file and the table to delete.
async fn assert_is_refused(folder: &Path, name: &Path, what: &str) {
    let error = open(folder, &embedded()).await.unwrap_err();
    assert!(
        matches!(error, IndexError::Damaged { .. }),
        "{what} of {}: {error}",
        name.display()
    );
    let message = error.to_string();
    let table = table(&embedded());
    let file = name.strip_prefix(&table).unwrap().to_str().unwrap();
    assert!(message.contains(&format!("`{file}`")), "{message}");
    let remedy = format!(
        "; delete `{}/{table}` to rebuild it",
        folder.to_str().unwrap()
    );
    assert!(message.ends_with(&remedy), "{message}");
    let again = try_build(folder, &embedded(), generated(300)).await;
    assert_eq!(again.unwrap_err().to_string(), message);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_the_named_table_lets_it_be_rebuilt() {
    let sound = Fixture::new(&embedded(), generated(300)).await;
    let damaged = copy(sound.folder.path());
    fs::remove_dir_all(damaged.path().join(table(&embedded()))).unwrap();
    let built = try_build(damaged.path(), &embedded(), generated(300)).await;
    let built = Fixture {
        index: built.unwrap().index,
        folder: damaged,
    };
    for profile in ["bm25", "semantic"] {
        assert_eq!(
            built.ranking(profile, "amber kelp", 50).await,
            sound.ranking(profile, "amber kelp", 50).await
        );
    }
}

/// A process that was killed after its last commit leaves such a table.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_a_file_record_is_unfinished() {
    let sound = Fixture::new(&embedded(), generated(300)).await;
    let unfinished = copy(sound.folder.path());
    let record = unfinished.path().join(table(&embedded())).join(RECORD);
    fs::remove_file(&record).unwrap();
    let error = open(unfinished.path(), &embedded()).await.unwrap_err();
    assert!(matches!(error, IndexError::Incomplete { .. }), "{error}");
    let store = Store::open(unfinished.path().to_str().unwrap())
        .await
        .unwrap();
    assert!(!Index::exists(&store, &embedded()).await.unwrap());
    let summaries = store.tables(&embedded().identity()).await.unwrap();
    assert_eq!(summaries[0].state, TableState::Incomplete);
    let built = try_build(unfinished.path(), &embedded(), generated(300))
        .await
        .unwrap();
    assert_eq!(built.report.unwrap().resumed_documents, 300);
    assert!(record.is_file());
    let finished = Fixture {
        index: built.index,
        folder: unfinished,
    };
    assert_eq!(
        finished.ranking("bm25", "amber kelp", 50).await,
        sound.ranking("bm25", "amber kelp", 50).await
    );
    assert!(open(finished.folder.path(), &embedded()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_marks_a_damaged_index_as_unreadable() {
    let damaged = Fixture::new(&embedded(), generated(30)).await;
    let other = try_build(damaged.folder.path(), &lexical(), generated(30)).await;
    drop(other.unwrap());
    let table = damaged.folder.path().join(table(&embedded()));
    let versions = files(&table.join("_versions")).into_iter();
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|it| it == "manifest");
    let manifest = versions.rev().find(is_manifest).unwrap();
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[40] ^= 4;
    fs::write(&manifest, bytes).unwrap();
    let store = damaged.store().await;
    let mut states: Vec<_> = store
        .tables(&lexical().identity())
        .await
        .unwrap()
        .into_iter()
        .map(|summary| summary.state.to_string())
        .collect();
    states.sort();
    assert_eq!(states, ["30 documents, 30 chunks", "unreadable"]);
    assert!(Index::open(&store, &lexical()).await.is_ok());
    assert!(Index::exists(&store, &embedded()).await.is_err());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_store_opens_through_a_symbolic_link() {
    let sound = Fixture::new(&embedded(), generated(30)).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.lancedb");
    std::os::unix::fs::symlink(sound.folder.path(), &link).unwrap();
    let index = open(&link, &embedded()).await.unwrap();
    assert!(index.documents().eq(sound.index.documents()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_of_a_deleted_table_names_it() {
    let fixture = Fixture::new(&embedded(), generated(300)).await;
    let options = evals_index::SearchOptions {
        passages: 3,
        ..evals_index::SearchOptions::default()
    };
    let searcher = fixture
        .index
        .searcher(evals_index::Profile::Semantic, &options);
    let searcher = searcher.await.unwrap();
    let table = embedded().identity().table_name();
    fs::remove_dir_all(fixture.folder.path().join(format!("{table}.lance"))).unwrap();
    let error = searcher.search("amber", 5).await.unwrap_err();
    let message = crate::corpus::chain(&error);
    assert!(message.contains(&format!("`{table}` of `")), "{message}");
}

/// Makes a table look as if an earlier version wrote it: complete, and without a record of its files.
async fn without_record(folder: &Path, recipe: &Recipe, completion: &str) {
    use lancedb::table::FieldMetadataUpdate;

    let store = lancedb::connect(folder.to_str().unwrap()).execute().await;
    let name = recipe.identity().table_name();
    let opened = store.unwrap().open_table(&name).execute().await.unwrap();
    let update = FieldMetadataUpdate::new("uri").set("evaluations:completion", completion);
    opened.update_field_metadata(&[update]).await.unwrap();
    fs::remove_file(folder.join(table(recipe)).join(RECORD)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_an_index_of_an_earlier_version_records_its_files() {
    let fixture = Fixture::new(&lexical(), generated(30)).await;
    let folder = fixture.folder.path();
    without_record(folder, &lexical(), r#"{"documents":30,"chunks":30}"#).await;
    let index = open(folder, &lexical()).await.unwrap();
    let [note] = index.notes() else {
        panic!("{:?}", index.notes());
    };
    assert!(note.contains("was built by an earlier version"), "{note}");
    assert!(note.ends_with("this run recorded them"), "{note}");
    let again = open(folder, &lexical()).await.unwrap();
    assert!(again.notes().is_empty(), "{:?}", again.notes());
    let data = files(&folder.join(table(&lexical())).join("data"));
    fs::write(&data[0], "other").unwrap();
    let error = open(folder, &lexical()).await.unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_changed_by_another_program_is_damaged() {
    let fixture = Fixture::new(&lexical(), generated(30)).await;
    let store = lancedb::connect(fixture.folder.path().to_str().unwrap())
        .execute()
        .await
        .unwrap();
    let name = lexical().identity().table_name();
    let opened = store.open_table(&name).execute().await.unwrap();
    opened.delete("ordinal = 0").await.unwrap();
    let error = open(fixture.folder.path(), &lexical()).await.unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
}

//! Builds that are killed, and builds in several processes.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use evals_index::{BuildObserver, BuildOptions, BuildProgress, Index, LockHolder, Store};
use evals_rag::Document;

use crate::corpus::{Fixture, embedded, generated, ok, try_build};

/// The environment variable with the folder in which the child process builds.
const FOLDER: &str = "EVALS_INDEX_TEST_FOLDER";
const DOCUMENTS: usize = 3_000;

/// Prints the number of documents done, which the parent reads.
#[derive(Debug)]
struct Printer;

impl BuildObserver for Printer {
    fn on_progress(&self, progress: BuildProgress) {
        let line = format!("\ndone {}\n", progress.documents);
        // The parent closes the pipe once it has read enough.
        let _ = io::stdout().write_all(line.as_bytes());
    }
}

/// Runs in the child process: builds slowly until the parent kills it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other tests start it in a child process"]
async fn child() {
    let Ok(folder) = env::var(FOLDER) else {
        return;
    };
    let store = Store::open(&folder).await.unwrap();
    let options = BuildOptions {
        commit_bytes: 1,
        ..BuildOptions::default()
    };
    let slowly = generated(DOCUMENTS).into_iter().map(|document| {
        thread::sleep(Duration::from_millis(2));
        Ok::<Document, std::convert::Infallible>(document)
    });
    Index::build(&store, &embedded(), slowly, &options, &Printer)
        .await
        .unwrap();
}

/// Starts a child that builds in `folder`, and waits until it has done `documents`.
fn start(folder: &str, documents: usize) -> Child {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reached = output.lines().map_while(Result::ok).any(|line| {
        let done = line
            .strip_prefix("done ")
            .and_then(|done| done.parse::<usize>().ok());
        done.is_some_and(|done| done >= documents)
    });
    assert!(reached, "the child ended too early");
    child
}

/// Bytes of all files below `folder`.
fn bytes(folder: &Path) -> u64 {
    let entries = folder.read_dir().unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            found if found.is_dir() => bytes(&entry.path()),
            found => found.len(),
        })
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_build_resumes_without_duplicates_or_gaps() {
    let folder = tempfile::tempdir().unwrap();
    for documents in [300, 900] {
        let mut child = start(folder.path().to_str().unwrap(), documents);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let built = try_build(folder.path(), &embedded(), generated(DOCUMENTS))
        .await
        .unwrap();
    let report = built.report.unwrap();
    assert!(report.resumed_documents >= 300, "{report:?}");
    assert_eq!(report.resumed_documents + report.documents, DOCUMENTS);
    let reference = Fixture::new(&embedded(), generated(DOCUMENTS)).await;
    let (size, expected) = (bytes(folder.path()), bytes(reference.folder.path()));
    assert!(
        size < expected * 3 / 2,
        "killed builds left files behind: {size} bytes instead of about {expected}"
    );
    assert!(built.index.documents().eq(reference.index.documents()));
    let resumed = Fixture {
        index: built.index,
        folder,
    };
    for profile in ["bm25", "semantic", "hybrid"] {
        assert_eq!(
            resumed.ranking(profile, "amber fjord kelp", 100).await,
            reference.ranking(profile, "amber fjord kelp", 100).await
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_builds_while_others_wait_or_read() {
    let complete = Fixture::new(&embedded().with_full_text(plain()), generated(50)).await;
    let path = complete.folder.path().to_str().unwrap();
    let mut child = start(path, 100);
    let store = complete.store().await;
    let removed = store.remove(&embedded().identity()).await;
    assert_eq!(
        removed.unwrap_err().to_string(),
        format!(
            "the index is being built by process {}, which holds the lock `{path}/evaluations.lock`",
            child.id()
        )
    );
    let waiting = Waiting(Mutex::default());
    let options = BuildOptions::default();
    let recipe = embedded();
    let mut build = pin!(Index::build(
        &store,
        &recipe,
        ok(generated(DOCUMENTS)),
        &options,
        &waiting
    ));
    let waited = tokio::time::timeout(Duration::from_millis(500), &mut build).await;
    assert!(waited.is_err(), "the second build did not wait");
    assert_eq!(*waiting.0.lock().unwrap(), [child.id()]);
    let open = Index::open(&store, &embedded().with_full_text(plain()))
        .await
        .unwrap();
    assert_eq!(open.documents().count(), 50);
    child.kill().unwrap();
    child.wait().unwrap();
    let built = build.await.unwrap();
    assert!(built.report.unwrap().resumed_documents >= 100);
}

/// Records the processes that a build waited for.
#[derive(Debug)]
struct Waiting(Mutex<Vec<u32>>);

impl BuildObserver for Waiting {
    fn on_progress(&self, _progress: BuildProgress) {}

    fn on_wait(&self, holder: &LockHolder) {
        assert!(holder.since.is_some());
        self.0.lock().unwrap().push(holder.process.unwrap());
    }
}

fn plain() -> evals_index::FullText {
    evals_index::FullText {
        stem: false,
        ..evals_index::FullText::default()
    }
}

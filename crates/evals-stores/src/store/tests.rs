//! Locks, waiting and counting writes, on a table of its own.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::*;

const TABLE: StoreTable = StoreTable {
    application: 7,
    format: 1,
    name: "entries",
    columns: &[("entry", "BLOB NOT NULL")],
    added: &[],
    content: "entry",
};

type Notes = Arc<Mutex<Vec<String>>>;

async fn open(path: &Path, notes: &Notes) -> Result<Handle, StoreError> {
    let notes = Arc::clone(notes);
    let watch: Watch = Arc::new(move |line: &str| notes.lock().unwrap().push(line.to_owned()));
    Handle::open(path.to_owned(), &TABLE, Some(watch)).await
}

/// Locks a file for everybody else, readers included.
fn lock(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM entries")
        .unwrap();
    connection
}

async fn count(handle: &Handle) -> Result<u64, StoreError> {
    let read = |file: &mut File| file.with(|it| table::statistics(it, &TABLE));
    Ok(handle.access(read).await?.entries)
}

#[tokio::test]
async fn a_lock_of_another_process_is_reported_and_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entries.sqlite");
    let notes = Notes::default();
    drop(open(&path, &notes).await.unwrap());
    assert_eq!(*notes.lock().unwrap(), Vec::<String>::new());
    let other = lock(&path);
    let (opened, ()) = tokio::join!(open(&path, &notes), async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(other);
    });
    assert_eq!(count(&opened.unwrap()).await.unwrap(), 0);
    let notes = notes.lock().unwrap();
    let expected = format!(
        "waiting up to 30 s for `{}`, which another process may have locked",
        path.display()
    );
    assert!(
        notes.len() == 1 && notes[0].starts_with(&expected),
        "{notes:?}"
    );
}

#[tokio::test]
async fn after_one_long_wait_others_are_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entries.sqlite");
    let notes = Notes::default();
    let handle = open(&path, &notes).await.unwrap();
    // Stands in for the long wait.
    let busy = |connection: &mut Connection| {
        connection.busy_timeout(Duration::from_millis(50))?;
        connection.execute(
            "INSERT INTO entries VALUES (x'00', 'm', 0, x'00', x'00')",
            [],
        )
    };
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = handle
        .access(move |file| file.with(busy))
        .await
        .unwrap_err();
    assert!(matches!(first, StoreError::Locked { .. }), "{first}");
    let expected = format!(
        "gave up waiting for `{}`, which another process keeps locked",
        path.display()
    );
    assert_eq!(first.to_string(), expected);
    let began = Instant::now();
    let insert = |connection: &mut Connection| {
        connection.execute(
            "INSERT INTO entries VALUES (x'01', 'm', 0, x'00', x'00')",
            [],
        )
    };
    handle
        .access(move |file| file.with(insert))
        .await
        .unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    drop(other);
    handle.access(move |file| file.with(insert)).await.unwrap();
}

#[tokio::test]
async fn a_path_that_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::default();
    let error = open(folder.path(), &notes).await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::NoFile {
                found: "a folder",
                ..
            }
        ),
        "{error}"
    );
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for (path, found) in [
            (pipe.as_path(), "a named pipe"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let error = open(path, &notes).await.unwrap_err();
            let expected = format!("`{}` is {found}, not a file", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}

#[tokio::test]
async fn writes_are_counted_until_they_are_done_even_if_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entries.sqlite");
    let handle = Handle::open(path, &TABLE, None).await.unwrap();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let write = handle.write(move |file| {
        gone.recv().unwrap();
        let insert = "INSERT INTO entries VALUES (x'00', 'm', 0, x'00', x'00')";
        file.with(|connection| connection.execute(insert, []).map(drop))
    });
    let given_up = tokio::time::timeout(Duration::from_millis(20), write).await;
    assert!(given_up.is_err());
    assert_eq!(handle.writes.under_way(), 1);
    go.send(()).unwrap();
    while handle.writes.under_way() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(count(&handle).await.unwrap(), 1);
}

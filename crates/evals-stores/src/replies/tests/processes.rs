//! Several processes with one file, and processes that are killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;

const FILE: &str = "EVALS_REPLIES_TEST_FILE";
const WRITER: &str = "EVALS_REPLIES_TEST_WRITER";
const REPLIES: &str = "EVALS_REPLIES_TEST_COUNT";
/// Begins a line that names a reply which is stored.
const STORED: &str = "stored ";

/// Runs [`another_process`] as one.
fn spawn(file: &Path, writer: usize, replies: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("replies::tests::processes::another_process")
        .env(FILE, file)
        .env(WRITER, writer.to_string())
        .env(REPLIES, replies.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "run by the other tests as a process of its own"]
async fn another_process() {
    let variable = |name| std::env::var(name).unwrap();
    let store = ReplyStore::open(variable(FILE)).await.unwrap();
    let replies: usize = variable(REPLIES).parse().unwrap();
    for number in 0..replies {
        let name = format!("{} {number}", variable(WRITER));
        put(&store, &name, reply(&name)).await;
        put(&store, "shared", reply(&name)).await;
        println!("\n{STORED}{name}");
    }
}

#[tokio::test]
async fn several_processes_fill_one_file() {
    let folder = Folder::new();
    let children: Vec<Child> = (0..4)
        .map(|writer| spawn(&folder.file(), writer, 100))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let store = ReplyStore::open(folder.file()).await.unwrap();
    assert_eq!(store.statistics().await.unwrap().entries, 401);
    for writer in 0..4 {
        for number in 0..100 {
            let name = format!("{writer} {number}");
            assert_eq!(get(&store, &name).await, Some(reply(&name)));
        }
    }
}

#[tokio::test]
async fn stored_replies_outlive_a_killed_process() {
    let folder = Folder::new();
    for (writer, lines) in [1, 7, 30, 90].into_iter().enumerate() {
        let mut child = spawn(&folder.file(), writer, 100_000);
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut output = output.lines().map_while(Result::ok);
        let stored = |line: String| line.strip_prefix(STORED).map(str::to_owned);
        let mut names: Vec<String> = output.by_ref().filter_map(stored).take(lines).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        names.extend(output.filter_map(stored));
        assert!(names.len() >= lines);
        let store = ReplyStore::open(folder.file()).await.unwrap();
        for name in names {
            assert_eq!(get(&store, &name).await, Some(reply(&name)));
        }
    }
}

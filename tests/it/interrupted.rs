//! Ctrl-C, SIGTERM and SIGKILL.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::sandbox::{Sandbox, json, wait_for};

/// Documents of a corpus that takes a while to index and to ask.
const DOCUMENTS: usize = 30_000;

/// Writes such a corpus with a question for each document.
fn large(sandbox: &Sandbox) {
    let mut rows = String::from("id,text,question\n");
    for number in 0..DOCUMENTS {
        let words: Vec<String> = (1..60)
            .map(|word| format!("w{}", number * word % 7919))
            .collect();
        writeln!(rows, "d{number},{},w{}", words.join(" "), number % 7919).unwrap();
    }
    sandbox.write("rows.csv", rows);
    sandbox.write(
        "large.yaml",
        "name: large\nsource: {path: rows.csv}\ndocuments: {uri: id, text: text}\n\
         questions: {text: question, relevant: id}\nsettings: {processing: {chunk_size: null}}\n",
    );
}

fn start(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

fn database(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.data().join("dbs/large.lancedb")
}

fn holds_a_commit(database: &Path) -> bool {
    let tables = fs::read_dir(database).into_iter().flatten().flatten();
    tables
        .map(|table| table.path().join("data"))
        .any(|folder| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()))
}

#[test]
fn an_interrupted_search_leaves_a_partial_report_and_exits_with_130() {
    for name in ["INT", "TERM"] {
        let sandbox = Sandbox::new();
        large(&sandbox);
        let child =
            start(&mut sandbox.command("./large.yaml --skip-qa --profile bm25 --profile unranked"));
        wait_for("a run folder", || !sandbox.runs().is_empty());
        // The first searches.
        thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "SIG{name}: {stderr}");
        assert!(
            stderr.contains("interrupted; what was finished is in the run folders"),
            "{stderr}"
        );
        assert!(stderr.contains("not run: unranked"), "{stderr}");
        let report = json(&sandbox.runs()[0].join("report.json"));
        assert_eq!(report["interrupted"], true);
        let finished = report["cases"].as_array().unwrap().len();
        assert_eq!(
            finished + usize::try_from(report["not_run"].as_u64().unwrap()).unwrap(),
            DOCUMENTS
        );
        assert!(
            finished > 0 && finished < DOCUMENTS,
            "{finished} cases were finished"
        );
        assert!(sandbox.succeed("runs").contains("interrupted, "));
    }
}

#[test]
fn a_build_that_is_killed_is_never_taken_for_whole() {
    let sandbox = Sandbox::new();
    large(&sandbox);
    let line = "./large.yaml --skip-qa --profile bm25 --limit 50";
    let mut child = start(&mut sandbox.command(line));
    wait_for("a commit", || holds_a_commit(&database(&sandbox)));
    child.kill().unwrap();
    child.wait().unwrap();
    let message = sandbox.refuse(&format!("{line} --skip-db"));
    assert!(message.contains("is incomplete"), "{message}");
    let finished = sandbox.run(line);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let fresh = Sandbox::new();
    large(&fresh);
    fresh.succeed(line);
    let rankings =
        |sandbox: &Sandbox| fs::read(sandbox.runs().last().unwrap().join("run.trec")).unwrap();
    assert!(
        rankings(&sandbox) == rankings(&fresh),
        "the continued index ranks otherwise"
    );
}

#[test]
fn a_second_process_is_refused_while_the_first_builds() {
    let sandbox = Sandbox::new();
    large(&sandbox);
    let line = "./large.yaml --skip-qa --profile bm25 --limit 5";
    let mut first = start(&mut sandbox.command(line));
    wait_for("a lock", || {
        database(&sandbox).join("evaluations.lock").is_file()
    });
    let second = sandbox.refuse(line);
    assert!(
        second.contains("the index is being built by process "),
        "{second}"
    );
    assert!(
        second.contains("hint: wait until it has ended, or name another database with `--db`"),
        "{second}"
    );
    assert!(first.wait().unwrap().success());
}

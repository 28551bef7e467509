//! Runs and index builds interrupted by Ctrl-C, SIGTERM and SIGKILL.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::qa_server::{self, asked};
use crate::sandbox::{Sandbox, ended, json, wait_for};

/// The size of a corpus that takes a while to index and to search.
const DOCUMENTS: usize = 30_000;

/// Writes a large corpus with a question for each document.
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
        // The time of the first searches depends on the machine.
        let mut waits = [300, 1_000, 3_000, 10_000].into_iter();
        let wait =
            |milliseconds| finished_when_interrupted(name, Duration::from_millis(milliseconds));
        let finished = waits.find_map(|milliseconds| Some(wait(milliseconds)).filter(|it| *it > 0));
        let finished = finished.expect("no search was finished in any time");
        assert!(finished < DOCUMENTS, "{finished} cases were finished");
    }
}

/// Interrupts a run after `wait`, checks its folder, and returns the number of finished cases.
fn finished_when_interrupted(name: &str, wait: Duration) -> usize {
    let sandbox = Sandbox::new();
    large(&sandbox);
    let line = "./large.yaml --skip-qa --profile bm25 --profile unranked --out scores.json";
    let child = start(&mut sandbox.command(line));
    wait_for("a run folder", || !sandbox.runs().is_empty());
    thread::sleep(wait);
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "SIG{name}: {stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let folder = &sandbox.runs()[0];
    if !folder.join("report.json").is_file() {
        // The signal came before the first search.
        return 0;
    }
    assert!(
        stderr.contains("interrupted; the run folders hold the finished results"),
        "{stderr}"
    );
    assert!(stderr.contains("not run: unranked"), "{stderr}");
    let side_by_side = json(&sandbox.work().join("scores.json"));
    assert_eq!(side_by_side["reports"].as_array().unwrap().len(), 1);
    let report = json(&folder.join("report.json"));
    assert_eq!(report["interrupted"], true);
    let finished = report["cases"].as_array().unwrap().len();
    let not_run = usize::try_from(report["not_run"].as_u64().unwrap()).unwrap();
    assert_eq!(finished + not_run, DOCUMENTS);
    assert!(sandbox.succeed("runs").contains("unfinished, "));
    finished
}

#[test]
fn a_killed_build_never_counts_as_complete() {
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
fn a_second_process_waits_while_the_first_builds() {
    let sandbox = Sandbox::new();
    large(&sandbox);
    let line = "./large.yaml --skip-qa --profile bm25 --limit 5";
    let first = start(&mut sandbox.command(line));
    wait_for("a lock", || {
        fs::read_to_string(database(&sandbox).join("evaluations.lock"))
            .is_ok_and(|holder| holder.trim() == first.id().to_string())
    });
    let second = sandbox.run(line);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    let waiting = format!(
        "waiting for process {}, which has been building an index in this database since ",
        first.id()
    );
    assert!(second.stderr.contains(&waiting), "{}", second.stderr);
    assert!(!second.stderr.contains("indexed "), "{}", second.stderr);
    let first = first.wait_with_output().unwrap();
    assert!(first.status.success());
    assert!(
        String::from_utf8(first.stderr)
            .unwrap()
            .contains("indexed ")
    );
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn waiting_for_another_process_can_be_interrupted() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data().join("dbs/sample.lancedb");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("evaluations.lock"), "1\n").unwrap();
    let lock = fs::File::options()
        .write(true)
        .open(folder.join("evaluations.lock"))
        .unwrap();
    lock.lock().unwrap();
    let mut child = start(&mut sandbox.command("sample --skip-qa"));
    let mut told = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !told.contains("waiting for process 1, ") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(sandbox.runs().is_empty());
    drop(lock);
    sandbox.succeed("sample --skip-qa --limit 5");
}

#[test]
fn a_killed_rejudgement_of_the_latest_run_is_resumed_by_the_same_command() {
    const CASES: usize = 12;
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(150));
    qa_server::write(&sandbox, CASES, &server);
    let answered = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(answered.code, Some(0), "{}", answered.stderr);
    let (_, judged_before) = asked(&server);

    let line = "rejudge latest --judge openai:judge --no-cache --concurrency 1 --out again.json";
    let mut child = start(&mut qa_server::with_settings(&sandbox, line));
    wait_for("two verdicts", || {
        let journals = sandbox.runs().into_iter().skip(1);
        let mut lines = journals.map(|run| fs::read_to_string(run.join("journal.jsonl")));
        lines.any(|lines| lines.is_ok_and(|lines| lines.lines().count() > 2))
    });
    assert!(
        sandbox
            .succeed("runs")
            .lines()
            .last()
            .unwrap()
            .ends_with("running"),
        "a rejudgement that is going on"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let half = sandbox.runs().pop().unwrap();
    let journal = fs::read_to_string(half.join("journal.jsonl")).unwrap();
    let done = journal.lines().count() - 1;
    assert!((2..CASES).contains(&done), "{done} verdicts");
    let listed = sandbox.succeed("runs");
    let left = format!("unfinished, {} of {CASES} not run", CASES - done);
    assert!(listed.contains(&left), "{left}\n{listed}");

    let (_, judged_until_then) = asked(&server);
    let resumed = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let resuming = format!(
        "resuming `{}`: {done} cases done",
        half.file_name().unwrap().to_string_lossy()
    );
    assert!(resumed.stderr.contains(&resuming), "{}", resumed.stderr);
    assert!(!resumed.stderr.contains("skipped"), "{}", resumed.stderr);
    assert_eq!(sandbox.runs().len(), 2, "no further run");
    let (answers, judged) = asked(&server);
    assert_eq!(answers, CASES, "nothing is answered again");
    assert_eq!(judged - judged_until_then, CASES - done);
    assert!(judged_until_then - judged_before >= done);
    let report = json(&half.join("report.json"));
    assert_eq!(report["interrupted"], false);
    assert_eq!(report["cases"].as_array().unwrap().len(), CASES);
    assert_eq!(
        report["summary"]["assertions"]["equivalent (openai:judge)"]["n"], CASES,
        "the verdicts of the run that was answered"
    );

    let next = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    assert_eq!(sandbox.runs().len(), 3, "what is done is judged anew");
}

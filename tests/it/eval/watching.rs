//! Runs that watch their file, and runs that are interrupted.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{SYSTEM, asked, command, eval, sandbox};

/// The lines of a running command, as they come.
fn lines(reader: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn wait_for(lines: &mpsc::Receiver<String>, text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let line = lines.recv_timeout(Duration::from_mins(1));
        let line = line.unwrap_or_else(|_| panic!("no `{text}` in {seen:?}"));
        let is_found = line.contains(text);
        seen.push(line);
        if is_found {
            return seen;
        }
    }
}

#[test]
fn watching_runs_again_and_shows_what_changed() {
    let sandbox = sandbox();
    let mut watching = command(&sandbox, "--watch");
    watching.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watching = watching.spawn().unwrap();
    let notes = lines(watching.stderr.take().unwrap());
    let printed = lines(watching.stdout.take().unwrap());
    // The system writes `asked.txt` during the run, which is a change the first time.
    wait_for(&notes, "waiting for changes");
    sandbox.write(".capitals.yaml.swp", "x");
    sandbox.write("system.sh", SYSTEM.replace("Mombasa", "Nairobi"));
    wait_for(&notes, "`system.sh` changed; running again");
    let seen = wait_for(&printed, "0.0000  1.0000  +1.0000");
    assert!(
        seen.iter().any(|line| line.starts_with("before: ")),
        "{seen:?}"
    );
    wait_for(&notes, "waiting for changes");
    sandbox.write("capitals.yaml", "name: [");
    wait_for(&notes, "error: ");
    wait_for(&notes, "waiting for changes");
    let process = process_id(&watching);
    let killed = Command::new("kill").args(["-INT", &process]).status();
    assert!(killed.unwrap().success());
    assert_eq!(watching.wait().unwrap().code(), Some(130));
}

fn process_id(child: &std::process::Child) -> String {
    child.id().to_string()
}

#[test]
fn an_interrupted_run_resumes_without_asking_again() {
    let sandbox = sandbox();
    let slow = SYSTEM.replace(
        "case \"$id\" in",
        "[ \"$id\" = france ] || sleep ${SLOW:-0}\n    case \"$id\" in",
    );
    sandbox.write("system.sh", slow);
    let mut running = command(&sandbox, "--concurrency 1");
    running
        .env("SLOW", "30")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let asked_both = || asked(&sandbox).len() == 2;
    crate::sandbox::wait_for("the second question", asked_both);
    for _ in 0..2 {
        let _ = Command::new("kill")
            .args(["-INT", &process_id(&running)])
            .status();
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let ended = eval(&sandbox, "--concurrency 1");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("1 case done"), "{}", ended.stderr);
    assert_eq!(asked(&sandbox), ["Case 3", "france", "kenya", "kenya"]);
}

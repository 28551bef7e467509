//! `eval --watch`: which replies are reused after a change, and which requests are sent again.

use std::fs;
use std::process::Stdio;

use crate::recorded_replies::{
    ASK, CHECKED, EVAL, asked, cases, command, kill_at, run, sandbox, service,
};
use crate::sandbox::{Sandbox, wait_for};

#[test]
fn watching_asks_only_changed_cases_again_while_only_the_file_changes() {
    let server = service(ASK, "nothing hangs");
    let sandbox = sandbox(&server, CHECKED);
    let notes = fs::File::create(sandbox.data().join("notes.txt")).unwrap();
    let noted = || fs::read_to_string(sandbox.data().join("notes.txt")).unwrap();
    let mut watching = command(
        &sandbox,
        &server,
        &format!("{EVAL} --watch --budget 0.0121"),
    );
    let mut watching = watching
        .stdout(Stdio::null())
        .stderr(notes)
        .spawn()
        .unwrap();
    let waits = |times: usize| noted().matches("waiting for changes").count() == times;
    wait_for("the first run", || waits(1));
    assert_eq!(asked(&server), "abcdef");

    let changed = cases("- IsInstance: str\n- Contains: Tower\n").replace("case-b", "other-b");
    sandbox.write("letters.yaml", changed);
    wait_for("the second run", || waits(2));
    assert_eq!(asked(&server), "abcdefb");
    let expected = "reusing 5 of 6 replies of the run before, whose cases have the same inputs; asking 1 request";
    assert!(noted().contains(expected), "{}", noted());

    // The reused replies cost this run nothing, or six further ones would exceed the budget.
    sandbox.write("letters.yaml", cases(CHECKED));
    wait_for("the third run", || waits(3));
    assert_eq!(asked(&server), "abcdefbb");
    assert!(!noted().contains("the budget"), "{}", noted());
    watching.kill().unwrap();
    watching.wait().unwrap();

    let resumed = run(&sandbox, &server, EVAL);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(asked(&server), "abcdefbbabcdef");
}

#[test]
fn watching_resumes_an_interrupted_run_though_the_file_is_broken_at_first() {
    let server = service(ASK, "case-d");
    let sandbox = sandbox(&server, CHECKED);
    kill_at(&sandbox, &server, EVAL, "case-d");
    assert_eq!(asked(&server), "abcd");

    sandbox.write("letters.yaml", "name: [");
    let notes = fs::File::create(sandbox.data().join("notes.txt")).unwrap();
    let noted = || fs::read_to_string(sandbox.data().join("notes.txt")).unwrap();
    let waits = |times: usize| noted().matches("waiting for changes").count() == times;
    let mut watching = command(&sandbox, &server, &format!("{EVAL} --watch"));
    let mut watching = watching
        .stdout(Stdio::null())
        .stderr(notes)
        .spawn()
        .unwrap();
    wait_for("the error", || waits(1));
    sandbox.write("letters.yaml", cases(CHECKED));
    wait_for("the resumed run", || waits(2));
    assert_eq!(asked(&server), "abcddef");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn watching_asks_every_case_again_when_the_command_changes() {
    const SYSTEM: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '%s\n' "$id" >> asked.log
    printf '{"id":"%s","answer":"first"}\n' "$id"
done
"#;
    let sandbox = Sandbox::new();
    sandbox.write("letters.yaml", cases(CHECKED));
    sandbox.write("system.sh", SYSTEM);
    let asked = || {
        let asked = fs::read_to_string(sandbox.work().join("asked.log")).unwrap();
        asked.lines().collect::<String>()
    };
    let notes = fs::File::create(sandbox.data().join("notes.txt")).unwrap();
    let noted = || fs::read_to_string(sandbox.data().join("notes.txt")).unwrap();
    let waits = |times: usize| noted().matches("waiting for changes").count() == times;
    let mut watching = sandbox.command("eval letters.yaml --watch --concurrency 1 --no-progress");
    watching.args(["--target", "exec:sh system.sh"]);
    let mut watching = watching
        .stdout(Stdio::null())
        .stderr(notes)
        .spawn()
        .unwrap();
    wait_for("the first run", || waits(1));
    sandbox.write("letters.yaml", cases("- Contains: first\n"));
    wait_for("the second run", || waits(2));
    assert_eq!(asked(), "abcdef");
    assert!(noted().contains("reusing 6 of 6 replies"), "{}", noted());

    sandbox.write("system.sh", SYSTEM.replace("first", "second"));
    wait_for("the third run", || waits(3));
    assert_eq!(asked(), "abcdefabcdef");
    let expected = "`system.sh` changed; running again and asking every case";
    assert!(noted().contains(expected), "{}", noted());

    // A broken file in between does not bring the old replies back.
    sandbox.write("letters.yaml", "name: [");
    sandbox.write("system.sh", SYSTEM);
    wait_for("the error", || waits(4));
    sandbox.write("letters.yaml", cases(CHECKED));
    wait_for("the fifth run", || waits(5));
    assert_eq!(asked(), "abcdefabcdefabcdef");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

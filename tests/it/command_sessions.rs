//! Conversations with a command that remembers them: a process that ends takes them along, and no other one is asked to go on.

use std::collections::BTreeMap;
use std::process::Stdio;

use crate::conversations::{dataset, report, transcript};
use crate::sandbox::{Sandbox, wait_for};

const CONVERSATIONS: usize = 4;
const LINE: &str = "talks.yaml --judge embedded:overlap --no-progress --concurrency 2";
const FORGOTTEN: &str = "was started again in the middle of the conversation";

/// Replies with how many turns of the conversation this process has heard. Ends at the second turn of `c1`, once.
const SERVICE: &str = r#"heard=
while IFS= read -r line; do
    id=${line#*\"id\":\"}; id=${id%%\"*}
    talk=${id%-*}
    echo "$id" >> asked.txt
    sleep "$DELAY"
    if [ "$id" = "$CRASH" ] && mkdir crashed 2>/dev/null; then exit 3; fi
    heard="$heard $talk."
    count=$(echo "$heard" | tr ' ' '\n' | grep -c "^$talk\.")
    echo "{\"id\":\"$id\",\"answer\":\"turn $count\",\"documents\":[\"d1\"]}"
done
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    dataset(&sandbox, CONVERSATIONS);
    sandbox.write("service.sh", SERVICE);
    // One request at a time, so that a process that ends fails one turn and not two.
    sandbox.write(
        "target.yaml",
        "{address: 'exec:sh service.sh', session: true, max_concurrency: 1}\n",
    );
    sandbox
}

fn asked(sandbox: &Sandbox) -> Vec<String> {
    let asked = std::fs::read_to_string(sandbox.work().join("asked.txt"));
    let asked = asked.unwrap_or_default();
    asked.lines().map(str::to_owned).collect()
}

/// The failures. Every answer is that of a process that heard the whole conversation.
fn failures(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut transcript = transcript(&report(sandbox, "qa"));
    assert_eq!(transcript.len(), CONVERSATIONS * 4);
    transcript.retain(|id, said| {
        let (_, turn) = id.split_once('-').unwrap();
        *said != format!("turn {turn}")
    });
    assert!(
        transcript.values().all(|it| !it.starts_with("turn")),
        "{transcript:?}"
    );
    transcript
}

fn count(failures: &BTreeMap<String, String>, text: &str) -> usize {
    failures.values().filter(|it| it.contains(text)).count()
}

#[test]
fn a_process_that_ends_takes_along_the_conversations_that_it_had_begun() {
    let sandbox = sandbox();
    let mut command = sandbox.command(LINE);
    command.env("DELAY", "0").env("CRASH", "c1-2");
    crate::sandbox::ended(&mut command);
    let failures = failures(&sandbox);
    assert!(failures["c1-2"].contains("exited with status 3"));
    assert_eq!(count(&failures, FORGOTTEN), 1, "{failures:?}");
    let of_first = failures.keys().filter(|id| id.starts_with("c0-"));
    assert!(of_first.count() > 0, "{failures:?}");
    assert!(failures.keys().all(|id| id < &"c2".to_owned()));
    let asked = asked(&sandbox);
    let lost = failures.iter().find(|(_, it)| it.contains(FORGOTTEN));
    assert!(!asked.contains(lost.unwrap().0), "{asked:?}");
}

#[test]
fn a_resumed_run_asks_no_turn_of_a_process_that_did_not_hear_the_earlier_ones() {
    let sandbox = sandbox();
    let mut command = sandbox.command(LINE);
    command.env("DELAY", "0.5").stdout(Stdio::null());
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for("the third turn", || asked(&sandbox).len() == 3);
    std::thread::sleep(std::time::Duration::from_millis(100));
    run.kill().unwrap();
    run.wait().unwrap();
    crate::sandbox::ended(sandbox.command(LINE).env("DELAY", "0"));
    let failures = failures(&sandbox);
    assert_eq!(count(&failures, FORGOTTEN), 2, "{failures:?}");
    assert_eq!(asked(&sandbox).len(), 3 + (CONVERSATIONS - 2) * 4);
}

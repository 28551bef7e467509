//! Tests that a target's processes end, and of replies from files of every format.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ended, json, wait_for};

/// Replies to each question with an answer and with its relevant document, whose id begins that of the question. Notes every question in
/// `asked.txt` and every process in `pids.txt`. `$1` is the time that a reply takes; with `$2` the service has a child.
const SERVICE: &str = r#"echo $$ >> pids.txt
if [ "$2" ]; then sleep 600 & echo $! >> pids.txt; fi
while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    echo "$id" >> asked.txt
    sleep "$1"
    echo "{\"id\":\"$id\",\"answer\":\"The answer to $id.\",\"documents\":[\"${id%-q*}\"]}"
done
"#;

#[test]
fn a_run_killed_at_twenty_moments_loses_nothing_and_reports_what_an_unbroken_one_does() {
    const LINE: &str = "sample --no-progress --limit 240 --judge embedded:overlap --concurrency 2";
    let unbroken = Sandbox::new();
    unbroken.write("service.sh", SERVICE);
    unbroken.write("target.yaml", "address: 'exec:sh service.sh 0'\n");
    unbroken.succeed(LINE);

    let sandbox = Sandbox::new();
    sandbox.write("service.sh", SERVICE);
    // Slow enough for twenty kills before the last question.
    sandbox.write("target.yaml", "address: 'exec:sh service.sh 0.04'\n");
    let mut random = Random(20_261_122);
    for _ in 0..20 {
        let goal = lines(&sandbox, "asked.txt").len() + usize::try_from(random.below(5)).unwrap();
        let mut killed = start(&sandbox, LINE);
        wait_for("questions", || lines(&sandbox, "asked.txt").len() > goal);
        std::thread::sleep(Duration::from_millis(random.below(20)));
        killed.kill().unwrap();
        killed.wait().unwrap();
    }
    let resumed = sandbox.run(LINE);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);

    for benchmark in ["retrieval", "qa"] {
        let [cases, expected] = [&sandbox, &unbroken].map(|it| cases(it, benchmark));
        assert_eq!(cases.len(), 240);
        assert_eq!(cases, expected);
    }
    let asked = lines(&sandbox, "asked.txt").len();
    assert!(
        (240..=280).contains(&asked),
        "{asked} questions; a kill may cost those of two processes"
    );
    let pids = lines(&sandbox, "pids.txt");
    assert!(pids.len() >= 2 * 20, "{pids:?}");
    gone(&pids);
}

#[test]
fn the_first_ctrl_c_loses_no_reply_of_a_command() {
    const LINE: &str = "sample --no-progress --limit 20 --concurrency 3 --judge embedded:overlap";
    let sandbox = Sandbox::new();
    sandbox.write("service.sh", SERVICE);
    sandbox.write("target.yaml", "address: 'exec:sh service.sh $DELAY'\n");
    let mut command = sandbox.command(LINE);
    // A terminal sends Ctrl-C to every process of the group in its foreground.
    command.env("DELAY", "1.5").process_group(0);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let run = run.unwrap();
    wait_for("three questions", || {
        lines(&sandbox, "asked.txt").len() == 3
    });
    send("INT", &format!("-{}", run.id()));
    let stopped = run.wait_with_output().unwrap();
    let stderr = String::from_utf8(stopped.stderr).unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{stderr}");
    let waits = "interrupted; waiting up to 30 s for 3 calls in flight";
    assert!(stderr.contains(waits), "{stderr}");
    assert!(!stderr.contains("dropped "), "{stderr}");
    assert_eq!(lines(&sandbox, "asked.txt").len(), 3);
    gone(&lines(&sandbox, "pids.txt"));

    let resumed = ended(sandbox.command(LINE).env("DELAY", "0"));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(cases(&sandbox, "qa").len(), 20);
    let mut asked = lines(&sandbox, "asked.txt");
    asked.sort_unstable();
    asked.dedup();
    assert_eq!((asked.len(), lines(&sandbox, "asked.txt").len()), (20, 20));
}

#[test]
fn the_second_ctrl_c_kills_the_processes_of_a_target_and_their_children() {
    let sandbox = Sandbox::new();
    sandbox.write("service.sh", SERVICE);
    sandbox.write("target.yaml", "address: 'exec:sh service.sh 600 child'\n");
    let line = "sample --no-progress --limit 8 --concurrency 3 --judge embedded:overlap";
    let mut command = sandbox.command(line);
    command.process_group(0).stderr(Stdio::piped());
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    wait_for("three questions", || {
        lines(&sandbox, "asked.txt").len() == 3
    });
    let pids = lines(&sandbox, "pids.txt");
    assert_eq!(pids.len(), 6);
    let group = format!("-{}", run.id());
    send("INT", &group);
    let notes = BufReader::new(run.stderr.take().unwrap()).lines();
    let mut notes = notes.map(Result::unwrap);
    let waits = "interrupted; waiting up to 30 s for 3 calls in flight";
    assert!(notes.any(|line| line.starts_with(waits)));
    let began = Instant::now();
    send("INT", &group);
    let rest: Vec<String> = notes.collect();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "it waited");
    let killed =
        "dropped 3 requests to commands without a reply, and killed the processes that had them";
    assert!(rest.iter().any(|line| line == killed), "{rest:?}");
    gone(&pids);
}

#[test]
fn a_command_that_is_not_there_ends_the_run_with_its_message() {
    let sandbox = Sandbox::new();
    sandbox.write("target.yaml", "address: exec:evaluations-no-such-command\n");
    let run = sandbox.run("sample --no-progress --limit 8 --judge embedded:overlap");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("`evaluations-no-such-command` exited with status 127"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("not found"), "{}", run.stderr);
}

/// The document of a question of the sample.
fn document(question: &str) -> &str {
    question.rsplit_once("-q").unwrap().0
}

#[test]
fn replies_made_elsewhere_are_read_from_every_format() {
    let sandbox = Sandbox::new();
    let answers: BTreeMap<String, Value> = {
        sandbox.succeed("sample --no-progress --limit 10 --profile bm25 --skip-qa");
        let expected = cases(&sandbox, "retrieval");
        expected.into_keys().map(|id| {
            let reply = json!({"id": id, "answer": format!("The answer to {id}."), "documents": [document(&id), "x"]});
            (id, reply)
        }).collect()
    };
    let lines: Vec<String> = answers.values().map(Value::to_string).collect();
    sandbox.write("replies.jsonl", lines.join("\n"));
    let rows = answers
        .keys()
        .map(|id| format!("{id},The answer to {id}.,{}|x", document(id)));
    let rows: Vec<String> = std::iter::once("id,answer,documents".to_owned())
        .chain(rows)
        .collect();
    sandbox.write("replies.csv", rows.join("\n"));
    let run: Vec<String> = answers
        .keys()
        .map(|id| format!("{id} Q0 {} 1 2 t\n{id} Q0 x 2 1 t", document(id)))
        .collect();
    sandbox.write("run.trec", run.join("\n"));
    let mut results = Vec::new();
    for target in [
        "outputs:replies.jsonl",
        "outputs:replies.csv",
        "trec:run.trec",
    ] {
        sandbox.succeed(&format!(
            "sample --no-progress --limit 10 --target {target} --judge embedded:overlap"
        ));
        results.push(cases(&sandbox, "retrieval"));
    }
    assert_eq!(results[0].len(), 10);
    assert_eq!(results[0], results[1]);
    let rankings = |cases: &BTreeMap<String, Value>| -> Vec<Value> {
        cases
            .values()
            .map(|case| case["outcomes"].clone())
            .collect()
    };
    assert_eq!(rankings(&results[0]), rankings(&results[2]));

    // The sample's own table holds the reference answers and the relevant documents.
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/sample.parquet");
    fs::copy(table, sandbox.work().join("truth.parquet")).unwrap();
    let response = "response: {id: $.question_id, answer: $.answer, documents: $..document_id}";
    sandbox.write(
        "target.yaml",
        format!("address: outputs:truth.parquet\n{response}\n"),
    );
    let run = sandbox.run("sample --no-progress --limit 10 --judge embedded:overlap");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("310 of 320 ids are none of this run's cases"),
        "{}",
        run.stderr
    );
    for (id, case) in cases(&sandbox, "retrieval") {
        for outcome in case["outcomes"].as_array().unwrap() {
            let found = &outcome["value"]["score"];
            assert!(
                outcome["value"] == "undefined" || *found == json!(1.0),
                "{id}: {outcome}"
            );
        }
    }
}

#[test]
fn bad_files_of_replies_are_refused_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "twice.jsonl",
        "{\"id\": \"a\", \"answer\": 1}\n{\"id\": \"a\", \"answer\": 2}\n",
    );
    sandbox.write("bad.trec", "q1 Q0 a 1 high t\n");
    for (target, expected) in [
        (
            "outputs:twice.jsonl",
            "twice.jsonl`, line 2: `a` has a second reply",
        ),
        ("outputs:none.csv", "none.csv"),
        ("outputs:answers.txt", "its name has to end in `.jsonl`"),
        ("trec:bad.trec", "line 1: `high` is not a score"),
    ] {
        let refused = sandbox.refuse(&format!(
            "sample --no-progress --target {target} --judge embedded:overlap"
        ));
        assert!(refused.contains(expected), "{refused}");
    }
    assert_eq!(sandbox.runs(), [""; 0].map(std::path::PathBuf::from));
}

fn start(sandbox: &Sandbox, line: &str) -> Child {
    let mut command = sandbox.command(line);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Sends a signal to a process, or to a group as `-ID`.
fn send(signal: &str, to: &str) {
    let sent = Command::new("kill").args(["-s", signal, "--", to]).status();
    assert!(sent.unwrap().success());
}

fn lines(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let text = fs::read_to_string(sandbox.work().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Result and outcomes of each case in the newest run of a benchmark.
fn cases(sandbox: &Sandbox, benchmark: &str) -> BTreeMap<String, Value> {
    let runs = sandbox.runs();
    let of_benchmark = runs
        .iter()
        .rev()
        .find(|run| json(&run.join("manifest.json"))["benchmark"] == benchmark);
    let report = json(&of_benchmark.unwrap().join("report.json"));
    let cases = report["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let kept = json!({"result": case["result"], "outcomes": case["outcomes"]});
            (case["id"].as_str().unwrap().to_owned(), kept)
        })
        .collect()
}

/// Waits until none of the processes lives.
fn gone(pids: &[String]) {
    wait_for("the end of all processes", || {
        pids.iter().all(|pid| {
            let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
            let state = String::from_utf8(shown.unwrap().stdout).unwrap();
            state.trim().is_empty() || state.trim().starts_with('Z')
        })
    });
}

/// The generator of Park and Miller: the moments only have to differ.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 % limit
    }
}

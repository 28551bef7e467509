//! Workers, as shell scripts, that behave and misbehave.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use evals::FailureClass::{self, Terminal, Transient};
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;

/// Sets `$id` to the id of the request in `$line`.
const ID: &str = r#"id=${line#*\"id\":\"}; id=${id%%\"*}"#;
const SECONDS_30: Duration = Duration::from_secs(30);

/// A reply has an answer.
#[derive(Debug)]
struct Answers;

impl Protocol for Answers {
    fn is_reply(&self, line: &Value) -> bool {
        line.get("answer").is_some()
    }
}

fn pool(script: &str, options: WorkerOptions) -> WorkerPool {
    let script = script.replace("ID;", &format!("{ID};"));
    WorkerPool::new(WorkerCommand::new(script), options, Answers)
}

fn processes(processes: usize) -> WorkerOptions {
    WorkerOptions {
        processes: NonZeroUsize::new(processes).unwrap(),
        timeout: SECONDS_30,
        ..WorkerOptions::default()
    }
}

/// One process that may have eight requests at the same time.
fn pipelined(timeout: Duration) -> WorkerOptions {
    WorkerOptions {
        pipeline: NonZeroUsize::new(8).unwrap(),
        timeout,
        ..processes(1)
    }
}

async fn ask(pool: &WorkerPool, id: &str) -> Result<Value, WorkerError> {
    pool.exchange(id, &Map::new()).await
}

/// The one error of a worker that does this with its first request.
async fn failure(script: &str) -> String {
    let pool = pool(script, processes(1));
    let error = ask(&pool, "q").await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Transient, "{error}");
    error.to_string()
}

/// The numbers of processes in a file, one on each line.
fn pids(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .map(|line| line.trim().parse().unwrap())
        .collect()
}

fn is_alive(pid: u32) -> bool {
    let shown = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits until none of the processes lives.
async fn gone(pids: &[u32]) {
    let began = Instant::now();
    while let Some(pid) = pids.iter().find(|pid| is_alive(**pid)) {
        assert!(began.elapsed() < SECONDS_30, "process {pid} still lives");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const ECHO: &str =
    r#"while read -r line; do ID; echo "{\"id\":\"$id\",\"answer\":\"$id by $$\"}"; done"#;

#[tokio::test]
async fn an_extra_line_without_an_id_is_no_reply_to_the_next_request() {
    let script = r#"while read -r line; do ID; printf '{"answer": "%s"}\n{"answer": "extra"}\n' "$id"; done"#;
    let pool = pool(script, processes(1));
    let mut failures = 0;
    for number in 0..20 {
        let id = format!("q{number}");
        match ask(&pool, &id).await {
            Ok(reply) => assert_eq!(reply["answer"], id.as_str()),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("without being asked"), "{message}");
                failures += 1;
            }
        }
    }
    assert!(failures > 0, "nobody noticed the extra lines");
}

#[tokio::test]
async fn each_process_answers_many_requests() {
    let pool = pool(ECHO, processes(3));
    let ids: Vec<String> = (0..60).map(|number| format!("q{number}")).collect();
    let mut by = BTreeSet::new();
    for batch in ids.chunks(3) {
        for (id, reply) in batch
            .iter()
            .zip(join_all(batch.iter().map(|id| ask(&pool, id))).await)
        {
            let reply = reply.unwrap();
            let (answered, process) = reply["answer"]
                .as_str()
                .unwrap()
                .split_once(" by ")
                .unwrap();
            assert_eq!(answered, id);
            by.insert(process.to_owned());
        }
    }
    assert_eq!(by.len(), 3, "{by:?}");
}

#[tokio::test]
async fn one_process_answers_several_requests_in_any_order() {
    // It answers once it has three requests, the last one first.
    let script = r#"
        while read -r a && read -r b && read -r c; do
            for line in "$c" "$b" "$a"; do ID; echo "{\"id\":\"$id\",\"answer\":\"$id\"}"; done
        done"#;
    let pool = pool(script, pipelined(SECONDS_30));
    let replies = join_all(["a", "b", "c"].map(|id| ask(&pool, id))).await;
    let answers = replies
        .into_iter()
        .map(|reply| reply.unwrap()["answer"].clone());
    assert_eq!(answers.collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_process_has_one_request_at_a_time_by_default() {
    // With two requests open, nobody would know whose reply this is.
    let script = r#"while read -r line; do ID; sleep 0.05; echo "{\"answer\":\"$id\"}"; done"#;
    let pool = pool(script, processes(1));
    let replies = join_all(["a", "b", "c"].map(|id| ask(&pool, id))).await;
    let answers = replies
        .into_iter()
        .map(|reply| reply.unwrap()["answer"].clone());
    assert_eq!(answers.collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[tokio::test]
async fn no_process_starts_before_it_is_needed() {
    let folder = TempDir::new().unwrap();
    let started = folder.path().join("started");
    let command = WorkerCommand::new(format!(
        "echo $$ >> started; {}",
        ECHO.replace("ID;", &format!("{ID};"))
    ));
    let pool = WorkerPool::new(command.in_folder(folder.path()), processes(4), Answers);
    assert!(!started.exists());
    for id in ["a", "b", "c"] {
        ask(&pool, id).await.unwrap();
    }
    assert_eq!(
        pids(&started).len(),
        1,
        "requests one after the other share a process"
    );
    pool.close().await;
    assert_eq!(pids(&started).len(), 1);
}

#[tokio::test]
async fn a_dead_worker_costs_its_request_and_is_started_again() {
    let folder = TempDir::new().unwrap();
    let script = r#"
        while read -r line; do ID;
            if [ "$id" = bad ]; then echo "first" >&2; echo "Traceback: no key" >&2; exit 3; fi
            echo "{\"id\":\"$id\",\"answer\":1}"
        done"#;
    let pool = pool(script, processes(1));
    ask(&pool, "good").await.unwrap();
    let error = ask(&pool, "bad").await.unwrap_err().to_string();
    assert!(
        error.ends_with(
            "exited with status 3 without a reply; its stderr ends with: first | Traceback: no key"
        ),
        "{error}"
    );
    ask(&pool, "good again").await.unwrap();
    drop(folder);
}

#[tokio::test]
async fn every_misbehaviour_names_itself_and_the_line() {
    for (script, expected) in [
        (
            "read -r line; exit 0",
            "exited with status 0 before its first reply",
        ),
        (
            "read -r line; kill -KILL $$",
            "was killed by signal 9 before its first reply",
        ),
        (
            r#"read -r line; echo "{'id': 'q'}"; sleep 60"#,
            "wrote a line that is no JSON (key must be a string at column 2): `{'id': 'q'}`; stdout is for replies, write messages to stderr",
        ),
        (
            "echo 'Loading the model ...'; read -r line; sleep 60",
            "`Loading the model ...`",
        ),
        (
            r#"read -r line; echo '{"status": "ready"}'; sleep 60"#,
            "wrote a line that is no reply: `{\"status\": \"ready\"}`",
        ),
        (
            r#"read -r line; echo '{"id": "other", "answer": 1}'; sleep 60"#,
            "replied to `other`, which it was not asked: `{\"id\": \"other\", \"answer\": 1}`",
        ),
        (
            r#"read -r line; printf '{"id": "q", "answ'; exit 1"#,
            "exited with status 1 in the middle of a line: `{\"id\": \"q\", \"answ`",
        ),
        (
            r#"read -r line; printf '{"id": "q", "answ'; exec >&-; sleep 60"#,
            "closed its stdout in the middle of a line: `{\"id\": \"q\", \"answ`",
        ),
        (
            "read -r line; exec >&-; sleep 60",
            "closed its stdout without a reply",
        ),
        (
            "read -r line; head -c 100000000 /dev/zero | tr '\\0' x; sleep 60",
            "wrote a line of more than 33 MB: `xxxx",
        ),
        (
            r"read -r line; printf '\377\n'; sleep 60",
            "wrote a line that is no JSON",
        ),
    ] {
        let began = Instant::now();
        let error = failure(script).await;
        assert!(
            error.starts_with(&format!("`{}` ", evals_messages::visible::line(script))),
            "{error}"
        );
        assert!(error.contains(expected), "{error}");
        assert!(error.len() < 900, "{error}");
        assert!(began.elapsed() < SECONDS_30, "{script} took too long");
    }
}

#[tokio::test]
async fn a_request_without_a_reply_ends_at_its_deadline() {
    let options = WorkerOptions {
        timeout: Duration::from_millis(200),
        ..processes(1)
    };
    let pool = pool("echo thinking >&2; sleep 60 & sleep 60", options);
    let error = ask(&pool, "q").await.unwrap_err();
    assert!(
        error.to_string().contains(
            "gave no reply within 0.2 s; it never wrote a whole line, so check that it flushes its stdout; its stderr ends with: thinking"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_worker_that_reads_nothing_does_not_block_a_large_request() {
    let options = WorkerOptions {
        timeout: Duration::from_millis(300),
        ..processes(1)
    };
    let pool = pool("sleep 60", options);
    let large = Map::from_iter([("question".to_owned(), json!("x".repeat(10 << 20)))]);
    let error = pool.exchange("q", &large).await.unwrap_err();
    assert!(
        matches!(error.fault(), WorkerFault::TimedOut { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_worker_that_logs_much_is_not_held_up() {
    let script = format!("head -c 5000000 /dev/zero | tr '\\0' '\\n' >&2; {ECHO}");
    let pool = pool(&script, processes(1));
    ask(&pool, "q").await.unwrap();
}

#[tokio::test]
async fn an_answer_of_a_megabyte_arrives_whole() {
    let script = r#"
        while read -r line; do ID;
            printf '{"id":"%s","answer":"' "$id"; head -c 1000000 /dev/zero | tr '\0' x; printf '"}\n'
        done"#;
    let pool = pool(script, processes(1));
    let reply = ask(&pool, "q").await.unwrap();
    assert_eq!(reply["answer"].as_str().unwrap().len(), 1_000_000);
}

#[tokio::test]
async fn a_command_that_is_not_there_ends_the_pool_at_once() {
    let pool = pool("evaluations-no-such-command --k 5", processes(4));
    let error = ask(&pool, "q").await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Terminal, "{error}");
    assert!(
        error.to_string().contains("exited with status 127"),
        "{error}"
    );
    assert!(error.to_string().contains("not found"), "{error}");
    let again = ask(&pool, "q").await.unwrap_err();
    assert_eq!(again.class(), FailureClass::Terminal, "{again}");
}

#[tokio::test]
async fn a_folder_that_is_not_there_ends_the_pool_at_once() {
    let command = WorkerCommand::new("cat").in_folder("/no/such/folder");
    let pool = WorkerPool::new(command, processes(1), Answers);
    let error = ask(&pool, "q").await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Terminal, "{error}");
    assert!(error.to_string().contains("cannot be started"), "{error}");
}

#[tokio::test]
async fn a_command_that_always_ends_at_once_is_given_up() {
    let folder = TempDir::new().unwrap();
    let command = WorkerCommand::new("echo $$ >> started; echo 'no such file' >&2; exit 2");
    let pool = WorkerPool::new(command.in_folder(folder.path()), processes(2), Answers);
    let mut classes = Vec::new();
    for _ in 0..8 {
        let error = ask(&pool, "q").await.unwrap_err();
        classes.push(error.class());
        if error.class() == FailureClass::Terminal {
            assert!(
                error
                    .to_string()
                    .ends_with("exited with status 2 at once 5 times in a row; its stderr ends with: no such file"),
                "{error}"
            );
        }
    }
    assert_eq!(
        classes[..5],
        [Transient, Transient, Transient, Transient, Terminal]
    );
    assert_eq!(
        pids(&folder.path().join("started")).len(),
        5,
        "no start after the last"
    );
}

#[tokio::test]
async fn a_reply_starts_the_count_of_failures_anew() {
    let script = r#"
        while read -r line; do ID;
            case $id in bad*) exit 1;; esac
            echo "{\"id\":\"$id\",\"answer\":1}"
        done"#;
    let pool = pool(script, processes(1));
    for round in 0..3 {
        for number in 0..4 {
            let error = ask(&pool, &format!("bad {round} {number}"))
                .await
                .unwrap_err();
            assert_eq!(error.class(), FailureClass::Transient, "{error}");
        }
        ask(&pool, &format!("good {round}")).await.unwrap();
    }
}

#[tokio::test]
async fn a_second_reply_is_noticed_at_the_next_request() {
    let script = r#"
        while read -r line; do ID;
            echo "{\"id\":\"$id\",\"answer\":1}"; echo "{\"id\":\"$id\",\"answer\":2}"
        done"#;
    let pool = pool(script, processes(1));
    let first = ask(&pool, "a").await.unwrap();
    assert_eq!(first["answer"], 1);
    let error = ask(&pool, "b").await.unwrap_err().to_string();
    assert!(
        error.contains("replied to `a` a second time: `{\"id\":\"a\",\"answer\":2}`"),
        "{error}"
    );
    assert_eq!(ask(&pool, "c").await.unwrap()["answer"], 1, "a new process");
}

#[tokio::test]
async fn a_command_that_answers_once_and_ends_is_started_for_each_request() {
    let script = r#"read -r line; ID; echo "{\"answer\":\"$id by $$\"}""#;
    let pool = pool(script, processes(2));
    for id in ["a", "b", "c", "d", "e", "f"] {
        let reply = ask(&pool, id).await.unwrap();
        assert!(reply["answer"].as_str().unwrap().starts_with(id), "{reply}");
    }
    let together = join_all(["g", "h"].map(|id| ask(&pool, id))).await;
    assert!(together.iter().all(Result::is_ok), "{together:?}");
}

#[tokio::test]
async fn a_slow_request_does_not_kill_a_process_that_answers_others() {
    let script = r#"
        while read -r line; do ID;
            [ "$id" = slow ] || echo "{\"id\":\"$id\",\"answer\":$$}"
        done"#;
    let pool = pool(script, pipelined(Duration::from_secs(3)));
    let first = ask(&pool, "first").await.unwrap();
    let slow = ask(&pool, "slow");
    let others = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        ask(&pool, "other").await
    };
    let (slow, other) = tokio::join!(slow, others);
    assert!(matches!(
        slow.unwrap_err().fault(),
        WorkerFault::TimedOut { .. }
    ));
    assert_eq!(other.unwrap()["answer"], first["answer"]);
    let last = ask(&pool, "last").await.unwrap();
    assert_eq!(last["answer"], first["answer"], "the same process");
}

#[tokio::test]
async fn a_process_that_hangs_fails_all_its_requests_with_the_cause() {
    let pool = pool("sleep 60", pipelined(Duration::from_millis(1500)));
    let later = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        ask(&pool, "later").await
    };
    let (first, later) = tokio::join!(ask(&pool, "first"), later);
    assert!(matches!(
        first.unwrap_err().fault(),
        WorkerFault::TimedOut { .. }
    ));
    let later = later.unwrap_err().to_string();
    assert!(
        later.contains("it gave no reply to `first` in time"),
        "{later}"
    );
}

/// A worker that has a child, and writes both numbers to `pids`.
const WITH_CHILD: &str = r#"
    sleep 600 & echo $! >> pids; echo $$ >> pids
    while read -r line; do ID; [ "$id" = hang ] && sleep 600; echo "{\"id\":\"$id\",\"answer\":1}"; done
    touch ended"#;

fn with_child(folder: &TempDir, options: WorkerOptions) -> WorkerPool {
    let script = WITH_CHILD.replace("ID;", &format!("{ID};"));
    let command = WorkerCommand::new(script).in_folder(folder.path());
    WorkerPool::new(command, options, Answers)
}

#[tokio::test]
async fn a_dropped_pool_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let pool = with_child(&folder, processes(2));
    for reply in join_all(["a", "b"].map(|id| ask(&pool, id))).await {
        reply.unwrap();
    }
    let started = pids(&folder.path().join("pids"));
    assert_eq!(started.len(), 4);
    assert!(started.iter().all(|pid| is_alive(*pid)));
    drop(pool);
    gone(&started).await;
    assert!(!folder.path().join("ended").exists(), "it was killed");
}

#[tokio::test]
async fn a_closed_pool_lets_its_processes_end_and_kills_their_children() {
    let folder = TempDir::new().unwrap();
    let pool = with_child(&folder, processes(1));
    ask(&pool, "a").await.unwrap();
    pool.close().await;
    assert!(folder.path().join("ended").exists());
    gone(&pids(&folder.path().join("pids"))).await;
}

#[tokio::test]
async fn a_request_that_is_dropped_or_late_kills_the_process_and_its_children() {
    let folder = TempDir::new().unwrap();
    let options = WorkerOptions {
        timeout: Duration::from_secs(3),
        ..processes(1)
    };
    let pool = with_child(&folder, options);
    ask(&pool, "a").await.unwrap();
    let dropped = tokio::time::timeout(Duration::from_millis(200), ask(&pool, "hang")).await;
    assert!(dropped.is_err());
    gone(&pids(&folder.path().join("pids"))).await;
    ask(&pool, "hang").await.unwrap_err();
    let started = pids(&folder.path().join("pids"));
    assert_eq!(started.len(), 4);
    gone(&started).await;
}

#[test]
fn the_end_of_the_runtime_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let pool = with_child(&folder, processes(1));
    let first = runtime();
    first.block_on(ask(&pool, "a")).unwrap();
    first.shutdown_background();
    drop(pool);
    runtime().block_on(gone(&pids(&folder.path().join("pids"))));
}

/// Kills processes at 20 moments while a run asks 400 questions, and asks again what failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_killed_at_random_moments_lose_nothing_and_answer_nothing_wrongly() {
    const SEED: u64 = 0x5eed;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pids");
    let script = r#"
        echo $$ >> pids
        while read -r line; do ID; sleep 0.01; echo "{\"id\":\"$id\",\"answer\":\"answer to $id\"}"; done"#;
    let script = script.replace("ID;", &format!("{ID};"));
    let command = WorkerCommand::new(script).in_folder(folder.path());
    let pool = WorkerPool::new(command, processes(4), Answers);

    let killer = {
        let file = file.clone();
        tokio::spawn(async move {
            let mut random = Random(SEED);
            let mut kills = 0;
            while kills < 20 {
                tokio::time::sleep(Duration::from_millis(random.below(60))).await;
                let started = pids(&file);
                let alive: Vec<u32> = started.into_iter().filter(|pid| is_alive(*pid)).collect();
                if alive.is_empty() {
                    continue;
                }
                let victim = alive[usize::try_from(random.below(alive.len() as u64)).unwrap()];
                let killed = Command::new("kill")
                    .args(["-KILL", &victim.to_string()])
                    .status();
                kills += u32::from(killed.unwrap().success());
            }
        })
    };
    let mut open: Vec<String> = (0..400).map(|number| format!("q{number}")).collect();
    let (mut answered, mut failures, mut rounds) = (BTreeSet::new(), 0, 0);
    while !open.is_empty() || !killer.is_finished() {
        let ids = if open.is_empty() {
            vec![format!("extra {rounds}")]
        } else {
            std::mem::take(&mut open)
        };
        for batch in ids.chunks(4) {
            for (id, reply) in batch
                .iter()
                .zip(join_all(batch.iter().map(|id| ask(&pool, id))).await)
            {
                match reply {
                    Ok(reply) => {
                        assert_eq!(
                            reply["answer"],
                            format!("answer to {}", reply["id"].as_str().unwrap())
                        );
                        assert!(reply["id"].as_str().unwrap().starts_with(id.as_str()));
                        answered.insert(id.clone());
                    }
                    Err(error) => {
                        assert!(
                            error.to_string().contains("was killed by signal 9"),
                            "{error}"
                        );
                        failures += 1;
                        open.push(id.clone());
                    }
                }
            }
        }
        rounds += 1;
        assert!(rounds < 10_000, "it does not end");
    }
    killer.await.unwrap();
    assert!(answered.len() >= 400);
    assert!(failures > 0, "no kill hit a process at work");
    assert!(pids(&file).len() >= 20, "killed processes were replaced");
    pool.close().await;
    gone(&pids(&file)).await;
}

/// The generator of Park and Miller: the moments only have to differ.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 % limit
    }
}

//! The end of workers: nothing that they started stays behind.

use super::*;

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

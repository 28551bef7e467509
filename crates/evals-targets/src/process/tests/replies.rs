//! Workers that reply: many requests, any order, large lines.

use super::*;

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
async fn the_time_of_requests_counts_from_the_end_of_the_start() {
    // The start and a reply together take longer than a request may.
    let script = r#"sleep 2; echo '{"ready": true}'; sleep 2
        while read -r line; do ID; echo "{\"id\":\"$id\",\"answer\":1}"; done"#;
    let pool = pool(script, pipelined(Duration::from_secs(3)));
    let none = Map::new();
    let timed = join_all(["a", "b"].map(|id| pool.timed_exchange(id, &none, None))).await;
    for reply in timed {
        let starting = reply.unwrap().starting;
        assert!(starting > Duration::from_millis(1900), "{starting:?}");
    }
    let later = pool.timed_exchange("c", &none, None).await.unwrap();
    assert_eq!(later.starting, Duration::ZERO);
}

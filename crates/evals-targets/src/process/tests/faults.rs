//! Workers that misbehave: each costs its request, with a message that names the fault.

use super::*;

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
            "wrote a line that is not JSON (key must be a string at column 2): `{'id': 'q'}`; stdout is for replies, write messages to stderr",
        ),
        (
            "echo 'Loading the model ...'; read -r line; sleep 60",
            "`Loading the model ...`",
        ),
        (
            r#"read -r line; echo '{"status": "ready"}'; sleep 60"#,
            "wrote a line that is not a reply: `{\"status\": \"ready\"}`",
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
            "wrote a line that is not JSON",
        ),
    ] {
        let began = Instant::now();
        let error = failure(script).await;
        let is_of_a_line =
            expected.contains("wrote") || expected.contains("replied") || expected.starts_with('`');
        let class = if is_of_a_line { Content } else { Transient };
        assert_eq!(error.class(), class, "{error}");
        let error = error.to_string();
        let shown = format!("{}` ", evals_messages::visible::line(script));
        assert!(error.contains(&shown), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(error.len() < 1000, "{error}");
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
    // The first request is enough, and no later one starts it again.
    for _ in 0..2 {
        let error = ask(&pool, "q").await.unwrap_err();
        assert_eq!(error.class(), Terminal);
        assert!(
            error.to_string().ends_with(
                "exited with status 2 at once 5 times in a row; its stderr ends with: no such file"
            ),
            "{error}"
        );
    }
    assert_eq!(
        pids(&folder.path().join("started")).len(),
        5,
        "no start after the last"
    );
}

#[tokio::test]
async fn a_command_that_never_writes_a_reply_is_given_up() {
    let pool = pool(
        r#"read -r line; echo '{"result": 1}'; sleep 60"#,
        processes(1),
    );
    let error = ask(&pool, "q").await.unwrap_err();
    assert_eq!(error.class(), Terminal);
    let cause = "failed 5 times in a row; the last time it wrote a line that is not a reply: `{\"result\": 1}`; a reply is an answer";
    assert!(error.to_string().ends_with(cause), "{error}");
}

#[tokio::test]
async fn a_reply_starts_the_count_of_failures_anew() {
    let script = r#"
        while read -r line; do ID;
            case $id in bad*) exit 1;; esac
            echo "{\"id\":\"$id\",\"answer\":1}"
        done"#;
    let pool = pool(script, processes(1));
    ask(&pool, "good").await.unwrap();
    for round in 0..3 {
        for number in 0..4 {
            let error = ask(&pool, &format!("bad {round} {number}"))
                .await
                .unwrap_err();
            assert_eq!(error.class(), Transient, "{error}");
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

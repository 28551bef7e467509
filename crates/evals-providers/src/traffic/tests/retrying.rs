//! Which failures are retried, when, and how often.

use super::*;

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for_to_the_millisecond() {
    let traffic = traffic(TrafficSettings::default());
    let log = Log::start();
    let delivered = traffic
        .call(0, || async {
            log.note();
            match log.milliseconds().len() {
                1 => Err(overloaded(Some(7))),
                _ => served().await,
            }
        })
        .await
        .unwrap();
    assert_eq!(log.milliseconds(), [0, 7_000]);
    assert_eq!(delivered.attempts, 2);
    assert_eq!(delivered.service_time.as_millis(), 200);
    let statistics = traffic.statistics();
    assert_eq!(
        (
            statistics.attempts,
            statistics.retries,
            statistics.overloads,
            statistics.limit,
            statistics.waited.as_millis()
        ),
        (2, 1, 1, 4, 7_000)
    );
}

#[tokio::test(start_paused = true)]
async fn retry_after_holds_back_every_other_call_too() {
    let traffic = traffic(TrafficSettings::default());
    let log = Log::start();
    let first = {
        let (traffic, log) = (Arc::clone(&traffic), log.clone());
        tokio::spawn(async move {
            let mut answers = vec![Ok(()), Err(overloaded(Some(7)))];
            traffic
                .call(0, || {
                    log.note();
                    let answer = answers.pop().unwrap();
                    async { answer }
                })
                .await
        })
    };
    sleep(Duration::from_secs(1)).await;
    traffic
        .call(0, || {
            log.note();
            served()
        })
        .await
        .unwrap();
    first.await.unwrap().unwrap();
    assert_eq!(log.milliseconds(), [0, 7_000, 7_000]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_cap_ends_everything_and_says_until_when() {
    let traffic = traffic(TrafficSettings::default());
    let log = Log::start();
    let error = traffic
        .call(0, || async { Err::<(), _>(overloaded(Some(3_600))) })
        .await
        .unwrap_err();
    assert_eq!(log.now(), 0);
    assert_eq!(error.failure, Failure::Terminal);
    let [message, cause] = chain(&error).try_into().unwrap();
    assert!(
        message.starts_with("the server asks for a pause of 3600 s, until ")
            && message.ends_with(" GMT"),
        "{message}"
    );
    assert_eq!(cause, "429 Too Many Requests");
    let late = traffic.call(0, served).await.unwrap_err();
    assert_eq!(chain(&late), [message, cause]);
    assert_eq!(traffic.statistics().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_end_with_the_last_failure_as_source() {
    let traffic = traffic(TrafficSettings::default());
    let log = Log::start();
    let error = traffic
        .call(0, || async {
            log.note();
            Err::<(), _>(failed(Failure::Transient, "connection reset"))
        })
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Transient);
    assert_eq!(
        chain(&error),
        ["gave up after 6 attempts", "connection reset"]
    );
    let moments = log.milliseconds();
    assert_eq!(moments.len(), 6);
    let pauses: Vec<u128> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (pause, most) in pauses.iter().zip([500, 1_000, 2_000, 4_000, 8_000]) {
        assert!(*pause <= most + 1, "{pauses:?}");
    }
    assert_eq!(traffic.statistics().overloads, 0);
    assert_eq!(
        traffic.statistics().limit,
        8,
        "a lost connection is no overload"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_content_is_final_for_its_call_alone() {
    let traffic = traffic(TrafficSettings::default());
    let error = traffic
        .call(0, || async {
            Err::<(), _>(failed(Failure::Content, "prompt is too long"))
        })
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Content);
    assert_eq!(chain(&error), ["prompt is too long"]);
    assert_eq!(traffic.statistics().attempts, 1);
    traffic.call(0, served).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_terminal_failure_ends_all_that_wait_and_all_that_follow() {
    let traffic = traffic(at_once(2));
    let log = Log::start();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let traffic = Arc::clone(&traffic);
        calls.spawn(async move {
            traffic
                .call(0, || async {
                    sleep(SERVICE).await;
                    match number {
                        0 => Err(failed(
                            Failure::Terminal,
                            "401: `api_key_env` names no valid key",
                        )),
                        1 => Err(failed(Failure::Transient, "connection reset")),
                        _ => Ok(()),
                    }
                })
                .await
        });
    }
    let errors: Vec<AttemptError> = calls
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap_err)
        .collect();
    assert_eq!(log.now(), 200);
    assert_eq!(errors.len(), 20);
    for error in &errors {
        assert_eq!(error.failure, Failure::Terminal);
        assert_eq!(chain(error), ["401: `api_key_env` names no valid key"]);
    }
    let late = traffic.call(0, served).await.unwrap_err();
    assert_eq!(chain(&late), ["401: `api_key_env` names no valid key"]);
    assert_eq!(traffic.statistics().attempts, 2, "nothing is sent any more");
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_flight_survives_a_terminal_failure_of_another_call() {
    let traffic = traffic(at_once(2));
    let paid = {
        let traffic = Arc::clone(&traffic);
        tokio::spawn(async move { traffic.call(0, served).await })
    };
    tokio::task::yield_now().await;
    traffic
        .call(0, || async {
            Err::<(), _>(failed(Failure::Terminal, "quota is used up"))
        })
        .await
        .unwrap_err();
    assert_eq!(paid.await.unwrap().unwrap().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_asked_again_after_the_request_deadline() {
    let traffic = traffic(TrafficSettings {
        request_deadline: Duration::from_secs(10),
        max_attempts: count(2),
        base_delay: Duration::ZERO,
        ..TrafficSettings::default()
    });
    let log = Log::start();
    let error = traffic
        .call(0, || {
            log.note();
            std::future::pending::<Result<(), AttemptError>>()
        })
        .await
        .unwrap_err();
    assert_eq!(log.milliseconds(), [0, 10_000]);
    assert_eq!(log.now(), 20_000);
    assert_eq!(
        chain(&error),
        ["gave up after 2 attempts", "no answer within 10 s"]
    );
}

#[tokio::test(start_paused = true)]
async fn no_pause_is_begun_that_ends_past_the_deadline_of_the_call() {
    let traffic = traffic(TrafficSettings {
        call_deadline: Duration::from_secs(20),
        ..TrafficSettings::default()
    });
    let log = Log::start();
    let error = traffic
        .call(0, || async {
            log.note();
            Err::<(), _>(overloaded(Some(15)))
        })
        .await
        .unwrap_err();
    assert_eq!(log.milliseconds(), [0, 15_000]);
    assert_eq!(log.now(), 15_000);
    assert_eq!(error.failure, Failure::Transient);
    assert_eq!(
        chain(&error),
        [
            "gave up after 2 attempts: no time is left for another within the 20 s of `evaluations.case_timeout`",
            "429 Too Many Requests"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_call_cuts_an_attempt() {
    let traffic = traffic(TrafficSettings {
        call_deadline: Duration::from_secs(20),
        ..TrafficSettings::default()
    });
    let log = Log::start();
    let error = traffic
        .call(0, || async {
            log.note();
            match log.milliseconds().len() {
                1 => Err(overloaded(Some(15))),
                _ => std::future::pending::<Result<(), AttemptError>>().await,
            }
        })
        .await
        .unwrap_err();
    assert_eq!(log.now(), 20_000);
    assert_eq!(
        chain(&error),
        [
            "gave up after 2 attempts: no time is left for another within the 20 s of `evaluations.case_timeout`",
            "no answer within 5 s"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn waiting_in_the_queue_does_not_count_against_the_call() {
    let traffic = traffic(TrafficSettings {
        call_deadline: Duration::from_secs(2),
        ..at_once(1)
    });
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let traffic = Arc::clone(&traffic);
        calls.spawn(async move { traffic.call(0, served).await });
    }
    assert!(calls.join_all().await.iter().all(Result::is_ok));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_beyond_the_clock_s_reach_is_none() {
    let traffic = traffic(TrafficSettings {
        request_deadline: Duration::MAX,
        call_deadline: Duration::MAX,
        retry_after_cap: Duration::MAX,
        ..TrafficSettings::default()
    });
    let delivered = traffic.call(0, served).await.unwrap();
    assert_eq!(delivered.attempts, 1);
    let error = traffic
        .call(0, || async {
            Err::<(), _>(AttemptError {
                retry_after: Some(Duration::MAX),
                ..overloaded(None)
            })
        })
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Transient);
}

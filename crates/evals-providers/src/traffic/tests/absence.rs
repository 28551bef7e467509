//! A server that is away: it starts, restarts, or loads its model.

use tokio::task::JoinSet;

use super::*;

fn away() -> AttemptError {
    AttemptError {
        away: true,
        contact: Contact::Silent,
        ..failed(Failure::Transient, "connection refused")
    }
}

/// The failure of a server that says that it loads its model.
fn loading() -> AttemptError {
    AttemptError {
        contact: Contact::Heard,
        ..away()
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_comes_back_costs_no_call() {
    let traffic = traffic(at_once(8));
    traffic.call(0, served).await.unwrap();
    let log = Log::start();
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let (traffic, log) = (Arc::clone(&traffic), log.clone());
        calls.spawn(async move {
            let attempt = || async {
                match log.now() {
                    ..600_000 => Err(away()),
                    _ => served().await,
                }
            };
            traffic.call(0, attempt).await.is_ok()
        });
    }
    assert!(calls.join_all().await.into_iter().all(|ok| ok));
    assert_eq!(
        traffic.statistics().overloads,
        0,
        "nothing was too much for it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_away_ends_everything() {
    let traffic = traffic(TrafficSettings::default());
    traffic.call(0, served).await.unwrap();
    let log = Log::start();
    let ask = || traffic.call(0, || async { Err::<(), _>(away()) });
    // The first is given up, because no further attempt of it would be in time.
    let error = ask().await.unwrap_err();
    assert_eq!(error.failure, Failure::Transient);
    sleep(Duration::from_mins(1)).await;
    let error = ask().await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    let [message, cause] = chain(&error).try_into().unwrap();
    assert!(
        message.starts_with("the server has been unreachable for 9"),
        "{message}"
    );
    assert_eq!(cause, "connection refused");
    assert!(log.now() < 1_000_000);
    assert!(traffic.call(0, served).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_never_there_is_given_up_soon_and_for_good() {
    let traffic = traffic(TrafficSettings::default());
    let error = traffic
        .call(0, || async { Err::<(), _>(away()) })
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert_eq!(
        chain(&error),
        ["gave up after 6 attempts", "connection refused"]
    );
    let log = Log::start();
    assert!(traffic.call(0, served).await.is_err());
    assert_eq!(log.now(), 0, "no further call is sent");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_from_the_beginning_is_given_up() {
    let settings = TrafficSettings {
        request_deadline: Duration::from_secs(3),
        ..TrafficSettings::default()
    };
    let traffic = traffic(settings);
    let error = traffic
        .call(0, std::future::pending::<Result<(), AttemptError>>)
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Terminal, "{:?}", chain(&error));
}

/// A refusal shows that somebody is there.
#[tokio::test(start_paused = true)]
async fn a_server_that_refused_something_costs_the_call_alone() {
    let traffic = traffic(TrafficSettings::default());
    let refused = || async { Err::<(), _>(failed(Failure::Content, "too long")) };
    assert!(traffic.call(0, refused).await.is_err());
    let error = traffic
        .call(0, || async { Err::<(), _>(away()) })
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Transient);
    assert!(traffic.call(0, served).await.is_ok());
}

/// So does a server that loads its model, or that accepts a connection and closes it: another question may end better.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_heard_of_costs_the_call_alone() {
    for failure in [loading, || failed(Failure::Transient, "connection closed")] {
        let traffic = traffic(TrafficSettings::default());
        let error = traffic
            .call(0, || async { Err::<(), _>(failure()) })
            .await
            .unwrap_err();
        assert_eq!(error.failure, Failure::Transient);
        assert!(traffic.call(0, served).await.is_ok());
    }
}

/// The deadline of a call may leave its attempt less time than the server has.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_cut_short_says_nothing_about_the_server() {
    let settings = TrafficSettings {
        call_deadline: Duration::from_secs(2),
        ..TrafficSettings::default()
    };
    let traffic = traffic(settings);
    let error = traffic
        .call(0, std::future::pending::<Result<(), AttemptError>>)
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Transient, "{:?}", chain(&error));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_every_call_is_given_up() {
    let traffic = traffic(TrafficSettings::default());
    let broken = || async { Err::<(), _>(failed(Failure::Transient, "answered 500")) };
    for _ in 0..4 {
        let error = traffic.call(0, broken).await.unwrap_err();
        assert_eq!(error.failure, Failure::Transient);
    }
    let error = traffic.call(0, broken).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert_eq!(
        chain(&error),
        [
            "5 calls failed at every attempt, and none succeeded",
            "gave up after 6 attempts",
            "answered 500"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_succeeded_once_is_not_given_up() {
    let traffic = traffic(TrafficSettings::default());
    traffic.call(0, served).await.unwrap();
    let broken = || async { Err::<(), _>(failed(Failure::Transient, "answered 500")) };
    for _ in 0..8 {
        let error = traffic.call(0, broken).await.unwrap_err();
        assert_eq!(error.failure, Failure::Transient);
    }
}

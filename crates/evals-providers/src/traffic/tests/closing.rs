//! Traffic that is closed while calls are under way.

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::*;

#[tokio::test(start_paused = true)]
async fn closed_traffic_ends_what_was_sent_and_sends_nothing_more() {
    let traffic = traffic(at_once(2));
    let log = Log::start();
    let mut calls = JoinSet::new();
    for _ in 0..5 {
        let (traffic, log) = (Arc::clone(&traffic), log.clone());
        calls.spawn(async move {
            let attempt = || async {
                log.note();
                served().await
            };
            traffic.call(0, attempt).await
        });
    }
    sleep(SERVICE / 2).await;
    traffic.close();
    assert_eq!(traffic.in_flight(), 2);
    for _ in 0..2 {
        calls.join_next().await.unwrap().unwrap().unwrap();
    }
    assert_eq!(traffic.in_flight(), 0);
    let third = timeout(Duration::from_hours(1), calls.join_next()).await;
    assert!(third.is_err(), "a call was sent, or ended, after closing");
    assert_eq!(log.milliseconds(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_closing_is_not_followed_by_another_attempt() {
    let traffic = traffic(at_once(2));
    let log = Log::start();
    let attempt = || async {
        log.note();
        sleep(SERVICE).await;
        Err::<(), _>(failed(Failure::Transient, "try again"))
    };
    let closing = async {
        sleep(SERVICE / 2).await;
        traffic.close();
    };
    // Shorter than the longest that a call may take.
    let call = timeout(Duration::from_mins(10), traffic.call(0, attempt));
    let (ended, ()) = tokio::join!(call, closing);
    assert!(ended.is_err());
    assert_eq!(log.milliseconds(), [0]);
}

//! A refusal ends the calls of the callers that it concerns, and no others.

use super::*;
use crate::settings::{ApiKey, BaseUrl, ServerSettings};
use crate::traffic::{Lane, Reach};

/// The way of a model's calls, with a key and a timeout of so many seconds.
fn lane(traffic: &Arc<Traffic>, model: &str, key: &str, timeout: u64) -> Lane {
    let server = ServerSettings {
        api_key: Some(ApiKey::new(key, "KEY").unwrap()),
        timeout: Duration::from_secs(timeout),
        ..ServerSettings::new(BaseUrl::parse(ADDRESS).unwrap())
    };
    Lane::new(Arc::clone(traffic), &server, model)
}

async fn refused(lane: &Lane, reach: Reach) {
    let refusal = || async {
        Err::<(), _>(AttemptError {
            reach,
            ..failed(Failure::Terminal, "no")
        })
    };
    lane.call(0, refusal).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_model_leaves_the_others_alone() {
    let traffic = traffic(TrafficSettings::default());
    let [first, other] = ["a", "b"].map(|model| lane(&traffic, model, "one", 300));
    refused(&first, Reach::Model).await;
    assert!(first.call(0, served).await.is_err());
    assert!(other.call(0, served).await.is_ok());
    refused(&other, Reach::Account).await;
    assert!(
        lane(&traffic, "c", "one", 300)
            .call(0, served)
            .await
            .is_err()
    );
    assert!(
        lane(&traffic, "c", "two", 300)
            .call(0, served)
            .await
            .is_ok()
    );
}

#[tokio::test(start_paused = true)]
async fn each_model_has_its_own_timeout() {
    let traffic = traffic(TrafficSettings {
        max_attempts: count(1),
        ..TrafficSettings::default()
    });
    // A second on top is for the HTTP client, whose message says more.
    for seconds in [10, 600] {
        let log = Log::start();
        let lane = lane(&traffic, "a", "one", seconds);
        let hang = std::future::pending::<Result<(), AttemptError>>;
        lane.call(0, hang).await.unwrap_err();
        assert_eq!(log.now(), u128::from(seconds + 1) * 1_000);
    }
    let statistics = traffic.statistics();
    assert_eq!((statistics.unanswered, statistics.overloads), (2, 2));
}

fn unknown(status: u16) -> AttemptError {
    AttemptError {
        unknown_status: Some(status),
        ..failed(Failure::Content, "418 I'm a teapot")
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_without_exception_is_refused_for_good() {
    let traffic = traffic(TrafficSettings::default());
    let ask = |status| traffic.call(0, move || async move { Err::<(), _>(unknown(status)) });
    for status in [418, 451, 418, 418, 418, 418] {
        assert_eq!(ask(status).await.unwrap_err().failure, Failure::Content);
    }
    let error = ask(418).await.unwrap_err();
    assert_eq!(error.failure, Failure::Terminal);
    assert_eq!(
        chain(&error),
        [
            "the server refused 5 calls in a row in the same way and answered none",
            "418 I'm a teapot"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn one_answer_shows_that_not_everything_is_refused() {
    let traffic = traffic(TrafficSettings::default());
    traffic.call(0, served).await.unwrap();
    for _ in 0..20 {
        let refused = traffic
            .call(0, || async { Err::<(), _>(unknown(418)) })
            .await;
        assert_eq!(refused.unwrap_err().failure, Failure::Content);
    }
}

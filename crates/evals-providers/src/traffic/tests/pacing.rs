//! How fast attempts are sent under limits by the minute.

use tokio::task::JoinSet;

use super::*;

/// When calls of that many tokens are sent, in milliseconds.
async fn sent(settings: TrafficSettings, tokens: &[u64]) -> Vec<u128> {
    let traffic = traffic(settings);
    let log = Log::start();
    let mut calls = JoinSet::new();
    for tokens in tokens.iter().copied() {
        let (traffic, log) = (Arc::clone(&traffic), log.clone());
        calls.spawn(async move {
            traffic
                .call(tokens, || {
                    log.note();
                    served()
                })
                .await
        });
        tokio::task::yield_now().await;
    }
    assert!(calls.join_all().await.iter().all(Result::is_ok));
    log.milliseconds()
}

#[tokio::test(start_paused = true)]
async fn sixty_requests_a_minute_are_one_a_second() {
    let settings = TrafficSettings {
        requests_per_minute: Some(count(60)),
        ..TrafficSettings::default()
    };
    assert_eq!(sent(settings, &[0; 4]).await, [0, 1_000, 2_000, 3_000]);
}

#[tokio::test(start_paused = true)]
async fn fewer_than_one_a_second_are_spread_evenly() {
    let settings = TrafficSettings {
        requests_per_minute: Some(count(6)),
        ..TrafficSettings::default()
    };
    assert_eq!(sent(settings, &[0; 3]).await, [0, 10_000, 20_000]);
}

#[tokio::test(start_paused = true)]
async fn a_second_s_worth_may_be_sent_together() {
    let settings = TrafficSettings {
        requests_per_minute: Some(count(240)),
        ..TrafficSettings::default()
    };
    assert_eq!(sent(settings, &[0; 7]).await, [0, 0, 0, 0, 250, 500, 750]);
}

#[tokio::test(start_paused = true)]
async fn a_call_pays_for_all_its_tokens() {
    let settings = TrafficSettings {
        tokens_per_minute: Some(count(60_000)),
        ..TrafficSettings::default()
    };
    // A thousand a second: 500 at once, another 500 too, 3,000 take three seconds, 250 a quarter.
    assert_eq!(
        sent(settings, &[500, 500, 3_000, 250, 0]).await,
        [0, 0, 3_000, 3_250, 3_250]
    );
}

#[tokio::test(start_paused = true)]
async fn no_minute_sees_more_than_the_limit_and_a_second_s_worth() {
    let settings = TrafficSettings {
        requests_per_minute: Some(count(300)),
        ..at_once(64)
    };
    let moments = sent(settings, &[0; 1_000]).await;
    for start in &moments {
        let minute = *start..start + 60_000;
        let inside = moments.iter().filter(|moment| minute.contains(moment));
        assert!(inside.count() <= 305);
    }
    // 5 at once and 995 at 5 a second.
    assert_eq!(moments.last(), Some(&199_000));
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_paced_like_any_attempt() {
    let traffic = traffic(TrafficSettings {
        requests_per_minute: Some(count(6)),
        max_attempts: count(3),
        base_delay: Duration::ZERO,
        ..TrafficSettings::default()
    });
    let log = Log::start();
    traffic
        .call(0, || async {
            log.note();
            Err::<(), _>(failed(Failure::Transient, "reset"))
        })
        .await
        .unwrap_err();
    assert_eq!(log.milliseconds(), [0, 10_000, 20_000]);
}

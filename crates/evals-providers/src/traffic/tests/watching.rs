//! The line that reports that nothing moves.

use super::*;

fn watched(settings: TrafficSettings) -> (Arc<Traffic>, Arc<Mutex<Vec<String>>>) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let reported = Arc::clone(&lines);
    let traffic = Traffic::new(ADDRESS, settings).with_watch(Arc::new(move |line| {
        reported.lock().unwrap().push(line.to_owned());
    }));
    (Arc::new(traffic), lines)
}

fn hang(traffic: &Arc<Traffic>) -> tokio::task::JoinHandle<()> {
    let traffic = Arc::clone(traffic);
    tokio::spawn(async move {
        drop(
            traffic
                .call(0, std::future::pending::<Result<(), AttemptError>>)
                .await,
        );
    })
}

#[tokio::test(start_paused = true)]
async fn tells_each_minute_that_nothing_moves() {
    let (traffic, lines) = watched(at_once(2));
    let calls = [hang(&traffic), hang(&traffic), hang(&traffic)];
    sleep(Duration::from_millis(59_900)).await;
    assert!(lines.lock().unwrap().is_empty());
    sleep(Duration::from_mins(2)).await;
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "`http://localhost:11434` has not answered for 60 s: 2 sent, 1 waiting, the oldest for 60 s",
            "`http://localhost:11434` has not answered for 120 s: 2 sent, 1 waiting, the oldest for 120 s",
        ]
    );
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_any_call_starts_the_minute_anew() {
    let (traffic, lines) = watched(at_once(2));
    let call = hang(&traffic);
    sleep(Duration::from_secs(40)).await;
    traffic.call(0, served).await.unwrap();
    sleep(Duration::from_secs(59)).await;
    assert!(lines.lock().unwrap().is_empty());
    sleep(Duration::from_secs(2)).await;
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "`http://localhost:11434` has not answered for 60 s: 1 sent, 0 waiting, the oldest for 100 s"
        ]
    );
    call.abort();
}

#[tokio::test(start_paused = true)]
async fn a_time_without_calls_is_not_held_against_the_next() {
    let (traffic, lines) = watched(at_once(2));
    sleep(Duration::from_mins(10)).await;
    traffic.call(0, served).await.unwrap();
    sleep(Duration::from_mins(10)).await;
    let call = hang(&traffic);
    sleep(Duration::from_secs(59)).await;
    assert!(lines.lock().unwrap().is_empty());
    call.abort();
}

//! How many calls at once the limit allows, up and down.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;

use super::*;

/// A server that counts how many calls it has at once and refuses those beyond its limit.
#[derive(Debug)]
struct Server {
    bears: usize,
    open: AtomicUsize,
    most: AtomicUsize,
    answered: AtomicUsize,
}

impl Server {
    fn bearing(bears: usize) -> Arc<Self> {
        Arc::new(Self {
            bears,
            open: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
        })
    }

    async fn serve(&self) -> Result<(), AttemptError> {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        let answer = if open > self.bears {
            sleep(Duration::from_millis(5)).await;
            Err(overloaded(None))
        } else {
            self.answered.fetch_add(1, Ordering::SeqCst);
            served().await
        };
        self.open.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

async fn call_many(traffic: &Arc<Traffic>, server: &Arc<Server>, calls: usize) -> usize {
    let mut set = JoinSet::new();
    for _ in 0..calls {
        let (traffic, server) = (Arc::clone(traffic), Arc::clone(server));
        set.spawn(async move { traffic.call(0, || server.serve()).await.is_ok() });
    }
    set.join_all().await.into_iter().filter(|ok| *ok).count()
}

#[tokio::test(start_paused = true)]
async fn a_given_concurrency_is_used_from_the_first_call_on() {
    let (traffic, server) = (traffic(at_once(32)), Server::bearing(usize::MAX));
    let log = Log::start();
    assert_eq!(call_many(&traffic, &server, 1_000).await, 1_000);
    // 31 full rounds of 32 and one of 8, each of 0.2 s.
    assert_eq!(log.now(), 6_400);
    assert_eq!(server.most.load(Ordering::SeqCst), 32);
}

#[tokio::test(start_paused = true)]
async fn without_one_it_grows_by_one_a_round() {
    let settings = TrafficSettings {
        start_concurrency: NonZeroUsize::new(4).unwrap(),
        ..TrafficSettings::default()
    };
    let (traffic, server) = (traffic(settings), Server::bearing(usize::MAX));
    // Rounds of 4, 5, 6 and 7 calls, each answered together.
    assert_eq!(call_many(&traffic, &server, 4 + 5 + 6 + 7).await, 22);
    assert_eq!(server.most.load(Ordering::SeqCst), 7);
    let log = Log::start();
    call_many(&traffic, &server, 10_000).await;
    assert_eq!(
        server.most.load(Ordering::SeqCst),
        TrafficSettings::GROWN_CONCURRENCY.get()
    );
    assert!(log.now() < 50_000, "{}", log.now());
}

#[tokio::test(start_paused = true)]
async fn ollama_is_asked_as_much_at_once_as_at_the_beginning() {
    let server = Server::bearing(usize::MAX);
    call_many(&traffic(TrafficSettings::ollama()), &server, 1_000).await;
    assert_eq!(server.most.load(Ordering::SeqCst), 4);
    let set = TrafficSettings {
        max_concurrency: NonZeroUsize::new(16),
        ..TrafficSettings::ollama()
    };
    call_many(&traffic(set), &server, 1_000).await;
    assert_eq!(server.most.load(Ordering::SeqCst), 16);
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_overloads_halves_the_concurrency_once() {
    let traffic = traffic(TrafficSettings {
        max_attempts: count(1),
        ..at_once(32)
    });
    assert_eq!(call_many(&traffic, &Server::bearing(0), 32).await, 0);
    let statistics = traffic.statistics();
    assert_eq!((statistics.overloads, statistics.limit), (32, 16));
}

#[tokio::test(start_paused = true)]
async fn a_lasting_storm_ends_at_one_call_at_a_time() {
    let traffic = traffic(at_once(32));
    let server = Server::bearing(0);
    assert_eq!(call_many(&traffic, &server, 100).await, 0);
    assert_eq!(traffic.statistics().limit, 1);
    // Pauses soon grow to 15 s on average, and each call is given up 900 s after its first attempt.
    let attempts = traffic.statistics().attempts;
    assert!((100..250).contains(&attempts), "{attempts}");
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_a_minute_costs_no_call() {
    let traffic = traffic(at_once(32));
    let log = Log::start();
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let (traffic, log) = (Arc::clone(&traffic), log.clone());
        calls.spawn(async move {
            let attempt = || async {
                match log.now() {
                    ..60_000 => Err(overloaded(None)),
                    _ => served().await,
                }
            };
            traffic.call(0, attempt).await.is_ok()
        });
    }
    assert!(calls.join_all().await.into_iter().all(|ok| ok));
    // Five halvings from 32 to 1, then some ten probes with growing pauses.
    let overloads = traffic.statistics().overloads;
    assert!((12..30).contains(&overloads), "{overloads}");
}

#[tokio::test(start_paused = true)]
async fn settles_at_what_the_server_bears() {
    let (traffic, server) = (traffic(at_once(64)), Server::bearing(10));
    assert_eq!(call_many(&traffic, &server, 2_000).await, 2_000);
    assert_eq!(
        server.answered.load(Ordering::SeqCst),
        2_000,
        "no call is answered twice"
    );
    let limit = traffic.statistics().limit;
    assert!((5..=11).contains(&limit), "{limit}");
    let overloads = traffic.statistics().overloads;
    // One probe too many in each cycle of some 50 calls; the 54 of the first round come on top.
    assert!(overloads < 54 + 2_000 / 20, "{overloads}");
}

#[tokio::test(start_paused = true)]
async fn climbs_back_after_an_overload() {
    let traffic = traffic(TrafficSettings {
        max_attempts: count(1),
        ..at_once(8)
    });
    call_many(&traffic, &Server::bearing(0), 1).await;
    assert_eq!(traffic.statistics().limit, 4);
    let calm = Server::bearing(usize::MAX);
    call_many(&traffic, &calm, 4 + 5 + 6 + 7).await;
    assert_eq!(traffic.statistics().limit, 8);
}

#[tokio::test(start_paused = true)]
async fn calls_are_sent_in_the_order_in_which_they_came() {
    let traffic = traffic(at_once(3));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut calls = JoinSet::new();
    for number in 0..50 {
        let (traffic, order) = (Arc::clone(&traffic), Arc::clone(&order));
        calls.spawn(async move {
            traffic
                .call(0, || {
                    order.lock().unwrap().push(number);
                    served()
                })
                .await
        });
        tokio::task::yield_now().await;
    }
    calls.join_all().await;
    assert_eq!(*order.lock().unwrap(), (0..50).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn nobody_holds_a_place_while_pausing() {
    let traffic = traffic(TrafficSettings {
        base_delay: Duration::from_secs(30),
        ..at_once(1)
    });
    let log = Log::start();
    let pausing = {
        let traffic = Arc::clone(&traffic);
        tokio::spawn(async move {
            let mut answers = vec![Ok(()), Err(failed(Failure::Transient, "reset"))];
            traffic
                .call(0, || {
                    let answer = answers.pop().unwrap();
                    async { answer }
                })
                .await
        })
    };
    tokio::task::yield_now().await;
    traffic.call(0, served).await.unwrap();
    assert_eq!(log.now(), 200);
    assert_eq!(pausing.await.unwrap().unwrap().attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_frees_its_place() {
    let traffic = traffic(at_once(1));
    let hang = |traffic: Arc<Traffic>| {
        tokio::spawn(async move {
            traffic
                .call(0, std::future::pending::<Result<(), AttemptError>>)
                .await
        })
    };
    let sent = hang(Arc::clone(&traffic));
    let first_in_queue = hang(Arc::clone(&traffic));
    let second_in_queue = hang(Arc::clone(&traffic));
    sleep(Duration::from_secs(1)).await;
    first_in_queue.abort();
    sent.abort();
    second_in_queue.abort();
    let log = Log::start();
    traffic.call(0, served).await.unwrap();
    assert_eq!(log.now(), 200);
}

#[tokio::test(start_paused = true)]
async fn calls_dropped_at_random_leave_nothing_behind() {
    let mut random = fastrand::Rng::with_seed(11);
    let (traffic, server) = (traffic(at_once(4)), Server::bearing(3));
    for _ in 0..200 {
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let (traffic, server) = (Arc::clone(&traffic), Arc::clone(&server));
                tokio::spawn(async move { traffic.call(0, || server.serve()).await })
            })
            .collect();
        sleep(Duration::from_millis(random.u64(0..400))).await;
        calls.iter().for_each(tokio::task::JoinHandle::abort);
        for call in calls {
            drop(call.await);
        }
        // The dropped calls left the server without saying goodbye.
        server.open.store(0, Ordering::SeqCst);
        assert_eq!(traffic.gate.open(), 0);
    }
    traffic.call(0, served).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_from_many_threads_all_come_through() {
    let settings = TrafficSettings {
        base_delay: Duration::ZERO,
        ..at_once(7)
    };
    let (traffic, server) = (traffic(settings), Server::bearing(usize::MAX));
    let mut calls = JoinSet::new();
    for number in 0..10_000_u32 {
        let (traffic, server) = (Arc::clone(&traffic), Arc::clone(&server));
        calls.spawn(async move {
            let mut failures = number % 3;
            let attempt = || {
                let answer = match failures {
                    0 => Ok(()),
                    _ => Err(failed(Failure::Transient, "connection reset")),
                };
                failures = failures.saturating_sub(1);
                let server = &server;
                async move {
                    let open = server.open.fetch_add(1, Ordering::SeqCst) + 1;
                    server.most.fetch_max(open, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    server.open.fetch_sub(1, Ordering::SeqCst);
                    answer
                }
            };
            traffic.call(0, attempt).await.unwrap().attempts
        });
    }
    // A wake-up that got lost would leave calls waiting for ever.
    let attempts = tokio::time::timeout(Duration::from_mins(2), calls.join_all());
    // 3,334 calls need one attempt, 3,333 two and 3,333 three.
    assert_eq!(attempts.await.unwrap().into_iter().sum::<u32>(), 19_999);
    assert_eq!(traffic.statistics().attempts, 19_999);
    assert_eq!(server.most.load(Ordering::SeqCst), 7);
    assert_eq!(traffic.gate.open(), 0);
}

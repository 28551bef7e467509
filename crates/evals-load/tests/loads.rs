//! Both loads against a system whose behaviour is known, on a paused clock.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use evals_load::{ClosedLoop, OpenLoop, Pace, Served, ThreadPace, TimerPace};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

const SERVICE: Duration = Duration::from_millis(1);
const STALL: Duration = Duration::from_secs(1);

/// A system that serves one request after the other in 1 ms, and stalls once, 5 s after its start, for 1 s.
#[derive(Debug, Clone)]
struct Stalling {
    started: Instant,
    queue: Arc<Mutex<()>>,
}

impl Stalling {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            queue: Arc::default(),
        }
    }

    async fn serve(self) -> Result<(), &'static str> {
        let _turn = self.queue.lock().await;
        let stall = self.started + Duration::from_secs(5);
        let now = Instant::now();
        if now >= stall && now < stall + STALL {
            sleep_until(stall + STALL).await;
        }
        sleep(SERVICE).await;
        Ok(())
    }
}

fn p99(served: &Served) -> f64 {
    served.percentiles().p99.expect("there are enough requests")
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_in_the_open_loops_latencies_and_not_in_the_closed_loops() {
    let system = Stalling::start();
    let load = ClosedLoop {
        time: Duration::from_secs(10),
        ..ClosedLoop::default()
    };
    let closed = load.run(move |_| system.clone().serve()).await.unwrap();
    let system = Stalling::start();
    let load = OpenLoop::lasting(100.0, Duration::from_secs(10));
    let open = load
        .run(TimerPace, move |_| system.clone().serve())
        .await
        .unwrap();
    assert!(p99(&closed) < 0.002, "one of 9,000 requests stalled");
    assert_eq!(open.requests(), 1000);
    // The 100 requests that were due during the stall waited between 10 ms and 1 s for its end, and then for each other.
    assert!(p99(&open) > 0.85, "{}", p99(&open));
    let slow = open.latencies.iter().filter(|it| **it > 0.05).count();
    assert!((100..=110).contains(&slow), "{slow}");
}

#[tokio::test(start_paused = true)]
async fn callers_share_what_a_system_can_serve() {
    let parallel = async |callers: usize| {
        let load = ClosedLoop {
            callers: NonZeroUsize::new(callers).unwrap(),
            time: Duration::from_secs(1),
            ..ClosedLoop::default()
        };
        let served = load.run(|_| async {
            sleep(Duration::from_millis(10)).await;
            Ok::<_, &str>(())
        });
        served.await.unwrap().per_second().unwrap()
    };
    assert!((parallel(1).await - 100.0).abs() < 1e-6);
    assert!((parallel(8).await - 800.0).abs() < 1e-6);
    let system = Stalling::start();
    let load = ClosedLoop {
        callers: NonZeroUsize::new(8).unwrap(),
        ..ClosedLoop::default()
    };
    let served = load.run(move |_| system.clone().serve()).await.unwrap();
    let per_second = served.per_second().unwrap();
    assert!(
        (per_second - 1000.0).abs() < 1e-6,
        "one after the other: {per_second}"
    );
    assert!((p99(&served) - 0.008).abs() < 1e-6, "each waits for seven");
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_sends_as_many_requests_as_it_has_to_and_no_more_than_it_may() {
    let count = async |load: ClosedLoop| {
        let served = load.run(|_| async {
            sleep(Duration::from_secs(1)).await;
            Ok::<_, &str>(())
        });
        served.await.unwrap().requests()
    };
    let short = ClosedLoop {
        time: Duration::from_millis(1),
        ..ClosedLoop::default()
    };
    assert_eq!(count(short).await, 1);
    assert_eq!(count(ClosedLoop { least: 20, ..short }).await, 20);
    let long = ClosedLoop {
        time: Duration::from_secs(100),
        most: 7,
        ..short
    };
    assert_eq!(count(long).await, 7);
}

#[tokio::test(start_paused = true)]
async fn more_requests_than_a_system_serves_wait_longer_and_longer() {
    let load = OpenLoop {
        in_flight: NonZeroUsize::new(2).unwrap(),
        ..OpenLoop::lasting(100.0, Duration::from_secs(1))
    };
    let served = load.run(TimerPace, |_| async {
        sleep(Duration::from_millis(40)).await;
        Ok::<_, &str>(())
    });
    let served = served.await.unwrap();
    // Two at once in 40 ms are 50 requests per second: 100 take 2 s after the first two, which were due 10 ms apart. The last one was due
    // after 0.99 s.
    assert!((served.seconds - 2.01).abs() < 1e-3, "{}", served.seconds);
    let longest = served.latencies.iter().copied().fold(0.0, f64::max);
    assert!((longest - 1.02).abs() < 1e-3, "{longest}");
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_for_a_turn_need_no_memory() {
    let load = OpenLoop {
        in_flight: NonZeroUsize::new(2).unwrap(),
        ..OpenLoop::lasting(1_000.0, Duration::from_secs(1))
    };
    let unfinished = Arc::new(());
    let most = RefCell::new(0);
    let call = |_| {
        let request = Arc::clone(&unfinished);
        let mut most = most.borrow_mut();
        *most = Arc::strong_count(&unfinished).max(*most);
        async move {
            sleep(Duration::from_millis(40)).await;
            drop(request);
            Ok::<_, &str>(())
        }
    };
    load.run(TimerPace, call).await.unwrap();
    // The two requests and the `Arc` that counts them.
    assert_eq!(most.into_inner(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_ends_a_load() {
    let fails = |number: usize| async move {
        sleep(SERVICE).await;
        if number == 3 { Err("down") } else { Ok(()) }
    };
    let began = Instant::now();
    assert_eq!(ClosedLoop::default().run(fails).await, Err("down"));
    let load = OpenLoop::lasting(1000.0, Duration::from_secs(100));
    assert_eq!(load.run(TimerPace, fails).await, Err("down"));
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn requests_are_numbered_in_the_order_in_which_they_are_due() {
    let asked = RefCell::new(Vec::new());
    let load = OpenLoop::lasting(10.0, Duration::from_secs(1));
    let record = |number| {
        asked.borrow_mut().push(number);
        async { Ok::<_, &str>(()) }
    };
    load.run(TimerPace, record).await.unwrap();
    assert_eq!(asked.into_inner(), (0..10).collect::<Vec<_>>());
}

/// On the real clock: never early, and done at once if the time has passed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_never_early() {
    for wait in [0, 1, 5] {
        let due = Instant::now() + Duration::from_millis(wait);
        ThreadPace.wait_until(due).await;
        assert!(Instant::now() >= due);
    }
    ThreadPace.wait_until(Instant::now()).await;
}

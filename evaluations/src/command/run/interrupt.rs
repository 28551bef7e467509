//! Ending a run from outside without paying twice: calls that were sent are waited for, others are never sent.

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use anyhow::Result;
use evals::StopSignal;
use evals_providers::Traffic;
use evals_stores::store::Writes;
use thiserror::Error;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::exit::{self, Exit};
use crate::printer::Printer;
use crate::quantity;

/// The longest wait for calls that were sent. Docker kills 10 s after its SIGTERM unless it is told otherwise, and GitHub Actions
/// sends a second signal after 7.5 s: neither loses more than the calls in flight.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often calls and writes are looked after.
const INTERVAL: Duration = Duration::from_millis(10);
/// What a case is given to come to its end once its last reply is there.
const SETTLING: Duration = Duration::from_millis(200);

/// The first signal has nothing further launched and waits for calls in flight. Another one while they are waited for drops them.
/// The next one after that wait, however it ended, ends the process at once. Clones are the same interruption.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interruption(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    noticed: CancellationToken,
    dropping: CancellationToken,
    stop: StopSignal,
    traffic: Mutex<Vec<Arc<Traffic>>>,
    writes: Mutex<Vec<Writes>>,
}

/// Something was given up because the user interrupted it.
#[derive(Debug, Clone, Copy, Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

impl Interruption {
    /// Listens for signals from now on. Needs a runtime.
    pub(crate) fn listen(printer: &Printer) -> io::Result<Self> {
        let interruption = Self::default();
        let signals = signals::Signals::listen()?;
        let attending = interruption.clone().attend(signals, printer.clone());
        tokio::spawn(attending);
        Ok(interruption)
    }

    /// Whether a signal came.
    pub(crate) fn is_noticed(&self) -> bool {
        self.0.noticed.is_cancelled()
    }

    /// Set as soon as a signal comes: no case is started any more.
    pub(crate) fn stop(&self) -> StopSignal {
        self.0.stop.clone()
    }

    /// Cancelled when nothing is waited for any more.
    pub(crate) fn dropping(&self) -> CancellationToken {
        self.0.dropping.clone()
    }

    /// Closes `traffic` when a signal comes, and waits for what it sent.
    pub(crate) fn mind(&self, traffic: &Arc<Traffic>) {
        let mut minded = lock(&self.0.traffic);
        minded.push(Arc::clone(traffic));
        // Under the lock, so that a signal that comes now finds it in the list.
        if self.is_noticed() {
            traffic.close();
        }
    }

    /// Waits for `writes` before the process ends.
    pub(crate) fn mind_writes(&self, writes: &Writes) {
        lock(&self.0.writes).push(writes.clone());
    }

    /// Gives `work` up when nothing is waited for any more.
    pub(crate) async fn guard<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.0.dropping.cancelled() => Err(Interrupted.into()),
            done = work => done,
        }
    }

    /// Waits until everything that arrived is stored.
    pub(crate) async fn written(&self) {
        let written = async {
            while self.writing() > 0 {
                sleep(INTERVAL).await;
            }
        };
        // Whoever still writes then waits for a lock, and says so.
        let _ = timeout(PATIENCE, written).await;
    }

    async fn attend(self, mut signals: signals::Signals, printer: Printer) {
        signals.next().await;
        self.notice();
        let calls = self.in_flight();
        if calls > 0 {
            printer.note(&format!(
                "interrupted; waiting up to {} s for {} in flight; interrupt again to drop {}",
                PATIENCE.as_secs(),
                quantity::of(calls, "call"),
                if calls == 1 { "it" } else { "them" }
            ));
        }
        tokio::select! {
            biased;
            () = signals.next() => {}
            () = self.settled() => {}
            () = sleep(PATIENCE) => {}
        }
        let dropped = self.in_flight();
        if dropped > 0 {
            printer.note(&format!(
                "dropped {} without a reply, which a server may charge for",
                quantity::of(dropped, "call")
            ));
        }
        self.0.dropping.cancel();
        signals.next().await;
        exit::at_once(Exit::Interrupted);
    }

    fn notice(&self) {
        self.0.noticed.cancel();
        self.0.stop.interrupt();
        for traffic in lock(&self.0.traffic).iter() {
            traffic.close();
        }
    }

    /// Waits until what was sent has come to its end and is stored, and its cases had time to take it.
    ///
    /// A reply may have arrived just before the signal: its case is given that time as well.
    async fn settled(&self) {
        loop {
            while self.is_busy() {
                sleep(INTERVAL).await;
            }
            sleep(SETTLING).await;
            if !self.is_busy() {
                return;
            }
        }
    }

    fn is_busy(&self) -> bool {
        self.in_flight() + self.writing() > 0
    }

    fn in_flight(&self) -> usize {
        let traffic = lock(&self.0.traffic);
        traffic.iter().map(|it| it.in_flight()).sum()
    }

    fn writing(&self) -> usize {
        lock(&self.0.writes).iter().map(Writes::under_way).sum()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod signals {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::{Poll, io, poll_fn};

    /// Ctrl-C, the end of a terminal, and what `timeout`, a CI system or a container sends to end a process.
    pub(super) struct Signals(Vec<Signal>);

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            let ignored = ignored();
            let kinds = [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
            ];
            let kinds = kinds.into_iter();
            // `nohup`, and a shell that puts a command into the background, do not want it to end.
            let bit = |kind: &SignalKind| 1_u64 << (kind.as_raw_value() - 1);
            let heeded = kinds.filter(|kind| ignored & bit(kind) == 0);
            heeded.map(signal).collect::<io::Result<_>>().map(Self)
        }

        pub(super) async fn next(&mut self) {
            poll_fn(|context| {
                let mut received = false;
                for signal in &mut self.0 {
                    received |= matches!(signal.poll_recv(context), Poll::Ready(Some(())));
                }
                if received {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// The signals that whoever started this process has it ignore, bit 0 for signal 1.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or_default()
    }

    /// Where the system does not tell, a process without a terminal for its output is taken to be started by `nohup`.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn ignored() -> u64 {
        use std::io::IsTerminal as _;

        let is_attached = io::stdout().is_terminal() || io::stderr().is_terminal();
        u64::from(!is_attached)
    }
}

#[cfg(not(unix))]
mod signals {
    use super::io;

    /// Ctrl-C.
    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;
    use crate::command::Session;
    use crate::command::run::interruptible;
    use crate::directories::Directories;

    #[test]
    fn what_cannot_be_stopped_is_not_waited_for() {
        let cli = Cli::try_parse_from(["evaluations", "runs"]).unwrap();
        let printer = Printer::new(&cli.output);
        let session = Session {
            printer: &printer,
            directories: Directories::from_env().unwrap(),
        };
        let began = Instant::now();
        let exit = interruptible(&session, async |interruption| {
            let interrupted = interruption.clone();
            tokio::spawn(async move {
                interrupted.notice();
                interrupted.0.dropping.cancel();
            });
            // As the digest of a large file, or the questions of a large dataset.
            let reading = tokio::task::spawn_blocking(|| {
                std::thread::sleep(Duration::from_mins(1));
            });
            interruption.guard(async { Ok(reading.await?) }).await?;
            Ok(Exit::Done)
        });
        assert_eq!(exit.unwrap(), Exit::Interrupted);
        assert!(began.elapsed() < Duration::from_secs(30), "it waited");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_that_arrived_just_before_the_signal_has_time_to_be_recorded() {
        let interruption = Interruption::default();
        let began = tokio::time::Instant::now();
        interruption.notice();
        interruption.settled().await;
        assert!(began.elapsed() >= SETTLING, "it gave up at once");
        assert!(began.elapsed() < PATIENCE, "nothing was in flight");
    }

    #[tokio::test]
    async fn traffic_that_is_opened_after_the_signal_is_closed() {
        let interruption = Interruption::default();
        let settings = evals_providers::TrafficSettings::default;
        let before = Arc::new(Traffic::new("before", settings()));
        interruption.mind(&before);
        interruption.notice();
        let after = Arc::new(Traffic::new("after", settings()));
        interruption.mind(&after);
        for traffic in [before, after] {
            let call = traffic.call(0, || async { Ok(()) });
            let sent = timeout(Duration::from_millis(50), call).await;
            assert!(sent.is_err(), "`{}` sent a call", traffic.provider());
        }
        assert!(interruption.stop().is_set());
    }
}

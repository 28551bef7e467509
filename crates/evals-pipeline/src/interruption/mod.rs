//! Interrupts a run without paying twice: sends no further calls to servers and commands, and waits for those in flight.

mod open_batches;
mod signals;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use evals::StopSignal;
use evals_messages::quantity;
use evals_providers::Traffic;
use evals_stores::store::Writes;
use evals_targets::process::RequestGate;
use evals_terminal::{Printer, StdoutError};
use thiserror::Error;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) use self::open_batches::OpenBatches;
use self::signals::Signals;
use crate::exit::{self, Exit};
use crate::spending::BudgetSpent;

/// The longest wait for calls that were sent. By default Docker kills 10 s after its SIGTERM, and GitHub Actions sends a
/// second signal after 7.5 s: neither loses more than the calls in flight.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval between two checks of calls and writes.
const INTERVAL: Duration = Duration::from_millis(10);
/// The time for a case to finish after its last reply.
const SETTLING: Duration = Duration::from_millis(200);
/// Stack of each thread. The storage engine recurses once for each level of a filter; unused stack takes no memory.
const STACK_BYTES: usize = 8 << 20;

/// The state of an interruption, shared by its clones.
///
/// The first signal stops new work and waits for the calls in flight. A second signal during that wait drops them. A signal after
/// the wait ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    interrupted: CancellationToken,
    abort: CancellationToken,
    stop: StopSignal,
    further_stops: Mutex<Vec<StopSignal>>,
    traffic: Mutex<Vec<Arc<Traffic>>>,
    commands: Mutex<Vec<RequestGate>>,
    writes: Mutex<Vec<Writes>>,
    batches: Mutex<Vec<OpenBatches>>,
}

/// The user interrupted the work.
#[derive(Debug, Clone, Copy, Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Runs `work` on a new runtime; signals interrupt it.
pub fn interruptible(
    printer: &Printer,
    work: impl AsyncFnOnce(&Interruption) -> Result<Exit>,
) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .context("cannot start worker threads")?;
    let (exit, is_interrupted) = runtime.block_on(async {
        let listening = Interruption::listen(printer);
        let interruption = listening.context("cannot listen for signals")?;
        let exit = match work(&interruption).await {
            Err(error) if error.is::<Interrupted>() => {
                printer.note("interrupted");
                Ok(Exit::Interrupted)
            }
            Err(error)
                if error
                    .chain()
                    .any(<dyn std::error::Error>::is::<BudgetSpent>) =>
            {
                printer.failure(&format!("{}", error.root_cause()));
                Ok(Exit::CheckFailed)
            }
            // The terminal was closed, so nobody can read the result.
            Err(error) if interruption.is_interrupted() && error.is::<StdoutError>() => {
                Ok(Exit::Interrupted)
            }
            exit => exit,
        };
        interruption.wait_for_writes().await;
        let is_interrupted = interruption.is_interrupted();
        if is_interrupted {
            interruption.note_batches(printer);
        }
        anyhow::Ok((exit, is_interrupted))
    })?;
    if is_interrupted {
        evals_targets::process::kill_all();
        // Threads that still read files cannot be stopped, and nobody needs their result.
        runtime.shutdown_background();
    }
    exit
}

impl Interruption {
    /// Listens for signals from now on. Needs a runtime.
    pub(crate) fn listen(printer: &Printer) -> io::Result<Self> {
        let interruption = Self::default();
        let signals = Signals::listen()?;
        let attending = interruption.clone().attend(signals, printer.clone());
        tokio::spawn(attending);
        Ok(interruption)
    }

    /// Whether a signal came.
    pub fn is_interrupted(&self) -> bool {
        self.0.interrupted.is_cancelled()
    }

    /// Set by the first signal: no further case starts.
    pub(crate) fn stop(&self) -> StopSignal {
        self.0.stop.clone()
    }

    /// A signal of its own for one of several runs: a failure that ends that run leaves the others alone. The first interrupt sets it.
    pub(crate) fn further_stop(&self) -> StopSignal {
        let stop = StopSignal::new();
        let mut stops = lock(&self.0.further_stops);
        stops.push(stop.clone());
        // Under the lock, so that a signal that comes now finds it in the list.
        if self.is_interrupted() {
            stop.interrupt();
        }
        stop
    }

    /// Cancelled when the wait for calls in flight is over.
    pub fn abort_token(&self) -> CancellationToken {
        self.0.abort.clone()
    }

    /// Closes `traffic` on a signal, and waits for its calls in flight.
    pub(crate) fn track_traffic(&self, traffic: &Arc<Traffic>) {
        let mut tracked = lock(&self.0.traffic);
        tracked.push(Arc::clone(traffic));
        // Under the lock, so that a signal that comes now finds it in the list.
        if self.is_interrupted() {
            traffic.close();
        }
    }

    /// Closes the gate of commands on a signal, and waits for their requests in flight.
    pub(crate) fn track_commands(&self, gate: &RequestGate) {
        let mut tracked = lock(&self.0.commands);
        tracked.push(gate.clone());
        // Under the lock, so that a signal that comes now finds it in the list.
        if self.is_interrupted() {
            gate.close();
        }
    }

    /// Says after an interrupted command that `batches` go on at their servers.
    pub(crate) fn track_batches(&self, batches: &OpenBatches) {
        lock(&self.0.batches).push(batches.clone());
    }

    /// How many calls are under way at servers and commands.
    pub(crate) fn calls_under_way(&self) -> usize {
        self.in_flight()
    }

    /// Waits for `writes` before the process ends.
    pub(crate) fn track_writes(&self, writes: &Writes) {
        lock(&self.0.writes).push(writes.clone());
    }

    /// Runs `work` until the wait for calls in flight is over, then fails with [`Interrupted`].
    pub async fn guard<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.0.abort.cancelled() => Err(Interrupted.into()),
            done = work => done,
        }
    }

    /// Waits until every reply that arrived is stored.
    pub(crate) async fn wait_for_writes(&self) {
        let written = async {
            while self.writing() > 0 {
                sleep(INTERVAL).await;
            }
        };
        // A write that takes longer waits for a lock, and a note has said so.
        let _ = timeout(PATIENCE, written).await;
    }

    async fn attend(self, mut signals: Signals, printer: Printer) {
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
        let dropped = self.sent_to_servers();
        if dropped > 0 {
            printer.note(&format!(
                "dropped {} without a reply; the server may still charge for {}",
                quantity::of(dropped, "call"),
                if dropped == 1 { "it" } else { "them" }
            ));
        }
        let killed = self.sent_to_commands();
        if killed > 0 {
            printer.note(&format!(
                "dropped {} to commands without a reply, and killed the processes that had {}",
                quantity::of(killed, "request"),
                if killed == 1 { "it" } else { "them" }
            ));
        }
        // The notes on them come last, because a report may follow and would hide them.
        for batches in lock(&self.0.batches).iter() {
            batches.hide();
        }
        self.0.abort.cancel();
        signals.next().await;
        self.note_batches(&printer);
        exit::at_once(Exit::Interrupted);
    }

    /// Says which batches go on at their servers.
    fn note_batches(&self, printer: &Printer) {
        let batches = lock(&self.0.batches);
        for farewell in batches.iter().filter_map(OpenBatches::farewell) {
            printer.note(&farewell);
        }
    }

    fn notice(&self) {
        self.0.interrupted.cancel();
        self.0.stop.interrupt();
        for stop in lock(&self.0.further_stops).iter() {
            stop.interrupt();
        }
        for traffic in lock(&self.0.traffic).iter() {
            traffic.close();
        }
        for gate in lock(&self.0.commands).iter() {
            gate.close();
        }
    }

    /// Waits until all calls have ended, their replies are stored, and their cases had time to finish.
    ///
    /// A reply may have arrived just before the signal, so it always waits at least [`SETTLING`].
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
        self.sent_to_servers() + self.sent_to_commands()
    }

    fn sent_to_commands(&self) -> usize {
        let commands = lock(&self.0.commands);
        commands.iter().map(RequestGate::in_flight).sum()
    }

    fn sent_to_servers(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use evals_terminal::OutputArgs;

    #[test]
    fn an_interrupted_command_does_not_wait_for_blocking_threads() {
        let printer = Printer::new(&OutputArgs {
            quiet: true,
            verbose: false,
            no_progress: true,
            color: clap::ColorChoice::Never,
        });
        let began = Instant::now();
        let exit = interruptible(&printer, async |interruption| {
            let interrupted = interruption.clone();
            tokio::spawn(async move {
                interrupted.notice();
                interrupted.0.abort.cancel();
            });
            // Like hashing a large file or reading the questions of a large dataset.
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
    async fn a_reply_that_arrived_just_before_the_signal_is_recorded() {
        let interruption = Interruption::default();
        let began = tokio::time::Instant::now();
        interruption.notice();
        interruption.settled().await;
        assert!(began.elapsed() >= SETTLING, "it gave up at once");
        assert!(began.elapsed() < PATIENCE, "nothing was in flight");
    }

    #[tokio::test]
    async fn traffic_opened_after_the_signal_is_closed() {
        let interruption = Interruption::default();
        let settings = evals_providers::TrafficSettings::default;
        let before = Arc::new(Traffic::new("before", settings()));
        interruption.track_traffic(&before);
        interruption.notice();
        let after = Arc::new(Traffic::new("after", settings()));
        interruption.track_traffic(&after);
        for traffic in [before, after] {
            let call = traffic.call(0, || async { Ok(()) });
            let sent = timeout(Duration::from_millis(50), call).await;
            assert!(sent.is_err(), "`{}` sent a call", traffic.provider());
        }
        assert!(interruption.stop().is_set());
    }
}

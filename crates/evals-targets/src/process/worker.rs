//! One process of a command: its pipes, its end, and the requests that it has.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::command::Group;
use super::fault::{self, WorkerError, WorkerFault};
use super::health::Health;
use super::ledger::Ledger;
use super::lines::{Lines, Next, Tail};
use super::protocol::random;
use super::{Protocol, WorkerCommand};

/// How long a process may go on without its stdout, and how long its pipes are read after its end.
const SETTLING: Duration = Duration::from_secs(1);

/// How long a guarded reply waits for a second line, which would be a fault.
const QUIET: Duration = Duration::from_millis(5);

/// One running process. Dropping it kills the process and its children.
#[derive(Debug)]
pub(super) struct Worker {
    id: String,
    shared: Arc<WorkerProcess>,
    /// Lines for its stdin; `None` once it is closing.
    stdin: Option<mpsc::UnboundedSender<Vec<u8>>>,
    attending: JoinHandle<()>,
}

/// A request that a worker has.
#[derive(Debug)]
pub(super) struct OpenRequest {
    shared: Arc<WorkerProcess>,
    id: String,
    at: Instant,
    reply: oneshot::Receiver<Result<Value, WorkerError>>,
}

#[derive(Debug)]
struct WorkerProcess {
    command: WorkerCommand,
    group: Group,
    tail: Tail,
    health: Arc<Health>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    ledger: Ledger,
    /// Why the process was or will be killed.
    fault: Option<WorkerFault>,
    /// Whether the fault was found while nobody waited, so that the next one who asks is to hear of it.
    is_owed: bool,
    /// A line that the process did not finish.
    half: Option<Vec<u8>>,
    /// Whether it takes no further request.
    is_over: bool,
}

impl Worker {
    /// Starts a process. Needs a tokio runtime.
    pub(super) fn start(
        command: &WorkerCommand,
        protocol: Arc<dyn Protocol>,
        line_limit: usize,
        health: &Arc<Health>,
    ) -> Result<Self, WorkerError> {
        let cannot_start = |error: &io::Error| {
            let fault = WorkerFault::CannotStart(format!("cannot be started: {error}"));
            WorkerError::new(command.line(), fault, Vec::new())
        };
        let mut child = command.process().spawn().map_err(|e| cannot_start(&e))?;
        let leader = child.id().expect("a process that was not waited for");
        let shared = Arc::new(WorkerProcess {
            command: command.clone(),
            group: Group::led_by(leader),
            tail: Tail::default(),
            health: Arc::clone(health),
            state: Mutex::new(State {
                ledger: Ledger::new(protocol),
                fault: None,
                is_owed: false,
                half: None,
                is_over: false,
            }),
        });
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let (sender, lines) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, lines));
        let attending = tokio::spawn(Arc::clone(&shared).attend(child, line_limit));
        Ok(Self {
            id: random(),
            shared,
            stdin: Some(sender),
            attending,
        })
    }

    /// An id that no other process has, in whatever run.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// How many requests it has; `None` if it takes no further one.
    pub(super) fn load(&self) -> Option<usize> {
        let state = self.shared.state();
        (!state.is_over).then(|| state.ledger.open())
    }

    /// Sends a request under an id that the process has not seen; `None` if it takes no further request.
    pub(super) fn ask(&self, id: &str, request: &Map<String, Value>) -> Option<OpenRequest> {
        let (asker, reply) = oneshot::channel();
        let mut state = self.shared.state();
        if state.is_over {
            return None;
        }
        let id = state.ledger.open_request(id, asker);
        drop(state);
        let mut line = Map::new();
        line.insert("id".to_owned(), Value::String(id.clone()));
        line.extend(
            request
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let mut line = Value::Object(line).to_string().into_bytes();
        line.push(b'\n');
        if let Some(stdin) = &self.stdin {
            // It fails where the process ended in this moment, which closes the request too.
            let _ = stdin.send(line);
        }
        Some(OpenRequest {
            shared: Arc::clone(&self.shared),
            id,
            at: Instant::now(),
            reply,
        })
    }

    /// The fault of a process that was found while it had no request, for the one who asks next.
    pub(super) fn take_owed(&self) -> Option<WorkerError> {
        let mut state = self.shared.state();
        if !std::mem::take(&mut state.is_owed) {
            return None;
        }
        let fault = state.fault.clone()?;
        drop(state);
        Some(self.shared.failed(fault))
    }

    /// Closes its stdin, waits a little for its end, and kills what is left.
    pub(super) async fn close(mut self, patience: Duration) {
        self.stdin = None;
        self.shared.state().is_over = true;
        if timeout(patience, &mut self.attending).await.is_err() {
            self.shared.group.kill();
            // A process that cannot be killed waits for a device; nobody can do more.
            let _ = timeout(patience, &mut self.attending).await;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.group.kill();
    }
}

impl OpenRequest {
    /// Waits for the reply. Returns `None` if it does not arrive within the limit. The limit starts again when the process says that it is
    /// ready.
    pub(super) async fn replied(&mut self, limit: Duration) -> Option<Result<Value, WorkerError>> {
        let mut since = self.at;
        loop {
            let left = limit.saturating_sub(since.elapsed());
            if let Ok(replied) = timeout(left, &mut self.reply).await {
                // The error means that the runtime is ending, and with it what attended the process.
                return replied.ok();
            }
            let ready = self.shared.state().ledger.ready();
            since = ready.filter(|ready| *ready > since)?;
        }
    }

    /// The time since the request was sent.
    pub(super) fn elapsed(&self) -> Duration {
        self.at.elapsed()
    }

    /// How long the request waited until the process said that it is ready. Zero if it was ready before, or does not say.
    pub(super) fn starting(&self) -> Duration {
        let ready = self.shared.state().ledger.ready();
        ready.map_or(Duration::ZERO, |ready| {
            ready.saturating_duration_since(self.at)
        })
    }

    /// The error of a request that had no reply in time. Kills the process if it hangs.
    pub(super) fn timed_out(self, limit: Duration) -> WorkerError {
        let is_silent = !self.shared.state().ledger.has_lines();
        let error = self
            .shared
            .error(WorkerFault::TimedOut { limit, is_silent });
        let error = self.shared.health.failed(error);
        drop(self);
        error
    }
}

/// A request that nobody waits for any more: the process is killed if it gave no reply since it has the request, because nobody
/// knows what it is doing.
impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let hangs = state.ledger.abandon(&self.id);
        if hangs == Some(true) {
            state.is_over = true;
            let id = state.ledger.shown(&self.id);
            state.fault.get_or_insert(WorkerFault::Hung { id });
            drop(state);
            self.shared.group.kill();
        }
    }
}

impl WorkerProcess {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, fault: WorkerFault) -> WorkerError {
        let state = self.state();
        let stderr = self.tail.lines(|line| state.ledger.shown(line));
        drop(state);
        WorkerError::new(self.command.line(), fault, stderr)
    }

    fn failed(&self, fault: WorkerFault) -> WorkerError {
        self.health.failed(self.error(fault))
    }

    /// Kills the process for a fault.
    fn condemn(&self, fault: WorkerFault) {
        let mut state = self.state();
        if state.fault.is_none() {
            state.is_owed = state.ledger.open() == 0 && !state.is_over;
            state.fault = Some(fault);
        }
        state.is_over = true;
        drop(state);
        self.group.kill();
    }

    /// Follows the process to its end, then fails the requests that it still has.
    async fn attend(self: Arc<Self>, mut child: Child, line_limit: usize) {
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let stderr = child.stderr.take().expect("stderr is a pipe");
        let mut reading = tokio::spawn(Arc::clone(&self).read(stdout, line_limit));
        let following = Arc::clone(&self);
        let mut following = tokio::spawn(async move { following.tail.follow(stderr).await });
        let mut has_read = false;
        let status = tokio::select! {
            status = child.wait() => status,
            _ = &mut reading => {
                has_read = true;
                if let Ok(status) = timeout(SETTLING, child.wait()).await {
                    status
                } else {
                    self.close_without_stdout();
                    child.wait().await
                }
            }
        };
        // Children that the process left behind go with it, and with them the last writers of its pipes.
        self.group.kill();
        let drained = async {
            if !has_read {
                let _ = (&mut reading).await;
            }
            let _ = (&mut following).await;
        };
        if timeout(SETTLING, drained).await.is_err() {
            reading.abort();
            following.abort();
        }
        self.finish(&status);
    }

    /// Kills a process that cannot reply any more. That is no fault while it has no request.
    fn close_without_stdout(&self) {
        let mut state = self.state();
        let half = state.half();
        state.is_over = true;
        if state.ledger.open() > 0 {
            state
                .fault
                .get_or_insert(WorkerFault::ClosedStdout { half });
        }
        drop(state);
        self.group.kill();
    }

    /// Reads replies until a fault or the end of stdout.
    async fn read(self: Arc<Self>, stdout: ChildStdout, line_limit: usize) {
        let mut lines = Lines::new(stdout, line_limit);
        loop {
            let holds = self.state().ledger.holds();
            // A line that has begun is a further line, however long its end takes.
            if holds && timeout(QUIET, lines.more()).await.is_err() {
                let mut state = self.state();
                if state.fault.is_none() {
                    self.settle(&mut state);
                }
            }
            match lines.next().await {
                Ok(Next::Line(line)) => {
                    if let Err(fault) = self.receive(line, &mut lines) {
                        return self.condemn(fault);
                    }
                }
                Ok(Next::Rest(rest)) => return self.receive_rest(rest),
                Ok(Next::TooLong(start)) => {
                    return self.condemn(WorkerFault::Line(format!(
                        "wrote a line of more than {} MB: `{}`",
                        line_limit / 1_000_000,
                        fault::start(&fault::beginning(&start))
                    )));
                }
                Ok(Next::End) | Err(_) => return,
            }
        }
    }

    /// Receives a line and those that arrived with it.
    ///
    /// No request can open between them. An extra line without an id would otherwise pass for the reply to the next request.
    fn receive(&self, first: Vec<u8>, lines: &mut Lines<ChildStdout>) -> Result<(), WorkerFault> {
        let mut state = self.state();
        let mut replies = 0;
        let mut next = Some(first);
        let mut received = Ok(());
        while let Some(line) = next {
            match state.ledger.receive(&line) {
                Ok(is_reply) => replies += u32::from(is_reply),
                Err(fault) => {
                    received = Err(fault);
                    break;
                }
            }
            next = lines.arrived();
        }
        drop(state);
        for _ in 0..replies {
            self.health.replied();
        }
        received
    }

    /// Hands the held replies over.
    fn settle(&self, state: &mut State) {
        for _ in 0..state.ledger.settle() {
            self.health.replied();
        }
    }

    /// The bytes after the last line end are a reply if they are a whole object. Of other values nobody knows whether they are whole.
    fn receive_rest(&self, rest: Vec<u8>) {
        let mut state = self.state();
        let is_whole = serde_json::from_slice::<Map<String, Value>>(&rest).is_ok();
        let received = is_whole.then(|| state.ledger.receive(&rest));
        match received {
            Some(Ok(true)) => {
                drop(state);
                self.health.replied();
            }
            Some(Ok(false)) => {}
            Some(Err(_)) | None if rest.trim_ascii().is_empty() => {}
            Some(Err(_)) | None => state.half = Some(rest),
        }
    }

    fn finish(&self, status: &io::Result<ExitStatus>) {
        let mut state = self.state();
        state.is_over = true;
        if state.fault.is_none() && state.half.is_none() {
            self.settle(&mut state);
        }
        let fault = match &state.fault {
            Some(fault) => fault.clone(),
            None => state.end(status),
        };
        let askers = state.ledger.close();
        drop(state);
        if askers.is_empty() {
            return;
        }
        // Whoever waited too long for a process that hangs has counted the failure.
        let is_counted = fault.is_used_up() || matches!(fault, WorkerFault::Hung { .. });
        let error = if is_counted {
            self.error(fault)
        } else {
            self.failed(fault)
        };
        for asker in askers {
            let _ = asker.send(Err(error.clone()));
        }
    }
}

impl State {
    /// The beginning of a line that the process did not finish.
    fn half(&self) -> Option<String> {
        let half = self.half.as_deref();
        half.map(|half| self.ledger.shown(&fault::beginning(half)))
    }

    /// The fault of a process that ended by itself or was killed by somebody else.
    fn end(&self, status: &io::Result<ExitStatus>) -> WorkerFault {
        let replies = self.ledger.replies();
        let half = self.half();
        let code = status.as_ref().ok().and_then(ExitStatus::code);
        if replies == 0 && half.is_none() && is_no_command(code) {
            let status = ended(status);
            return WorkerFault::CannotStart(format!(
                "{status}: the shell cannot find or run the command"
            ));
        }
        WorkerFault::Ended {
            status: ended(status),
            replies,
            is_clean: code == Some(0) && half.is_none(),
            half,
        }
    }
}

/// Whether an exit status is the shell's for a command that is not there or cannot be run.
fn is_no_command(code: Option<i32>) -> bool {
    if cfg!(windows) {
        code == Some(9009)
    } else {
        matches!(code, Some(126 | 127))
    }
}

/// How a process ended, in words.
fn ended(status: &io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => match status.code() {
            Some(code) => format!("exited with status {code}"),
            None => by_signal(*status),
        },
        Err(error) => format!("ended without a status ({error})"),
    }
}

#[cfg(unix)]
fn by_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    let signal = status.signal();
    signal.map_or_else(
        || "ended without a status".to_owned(),
        |signal| format!("was killed by signal {signal}"),
    )
}

#[cfg(not(unix))]
fn by_signal(_status: ExitStatus) -> String {
    "ended without a status".to_owned()
}

/// Writes requests until the process reads no more or is to end.
async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        let written = async {
            stdin.write_all(&line).await?;
            stdin.flush().await
        };
        // A closed pipe shows in the end of the process, or in the reply that does not come.
        if written.await.is_err() {
            return;
        }
    }
}

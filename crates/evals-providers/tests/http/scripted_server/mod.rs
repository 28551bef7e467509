//! A server on loopback that speaks the protocols of OpenAI and Ollama, and misbehaves as its script says.
//!
//! It needs nothing but the standard library, tokio and `serde_json`, and runs on a thread of its own, so that tests of programs
//! can use it as well as tests of libraries. It gives up on everything after a while, so that no test hangs.

pub(crate) mod batches;
mod exchange;
pub(crate) mod reaction;
mod sound;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) use reaction::{Reaction, Saying};

/// Decides how a request is answered. The number says how often the very same request arrived before.
pub(crate) type Script = dyn Fn(&Received, usize) -> Reaction + Send + Sync;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    /// `Null` where there was none, or none that is JSON.
    pub(crate) body: Value,
    /// The body as it arrived.
    pub(crate) bytes: Vec<u8>,
}

/// The server. It stops when it is dropped.
pub(crate) struct ScriptedServer {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The requests that arrived, and the answers that were sent.
#[derive(Default)]
struct Ledger {
    received: Mutex<Vec<Received>>,
    arrivals: Mutex<BTreeMap<u64, usize>>,
    successes: Mutex<BTreeMap<u64, usize>>,
}

impl ScriptedServer {
    /// Starts a server on a free port.
    pub(crate) fn start(
        script: impl Fn(&Received, usize) -> Reaction + Send + Sync + 'static,
    ) -> ScriptedServer {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("a bound socket");
        let ledger = Arc::new(Ledger::default());
        let (stop, stopped) = oneshot::channel();
        let (script, shared): (Arc<Script>, _) = (Arc::new(script), ledger.clone());
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = accept(&listener, &script, &shared) => {}
                    _ = stopped => {}
                }
            });
            // Answers under way, hanging ones above all, end here.
            runtime.shutdown_background();
        });
        ScriptedServer {
            address,
            ledger,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A server that answers everything as it should, each conversation with `text`.
    pub(crate) fn saying(text: &str) -> ScriptedServer {
        let text = text.to_owned();
        Self::start(move |_, _| Reaction::Say(Saying::of(&text)))
    }

    /// The address of OpenAI's protocol.
    pub(crate) fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address of Ollama's protocol.
    pub(crate) fn ollama_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order in which they arrived.
    pub(crate) fn received(&self) -> Vec<Received> {
        lock(&self.ledger.received).clone()
    }

    /// The requests to one endpoint, by the end of its path.
    pub(crate) fn received_at(&self, endpoint: &str) -> Vec<Received> {
        let mut received = self.received();
        received.retain(|request| request.path.ends_with(endpoint));
        received
    }

    /// How often each request was answered as the protocol says ([`Reaction::Say`], [`Reaction::Sound`]), by [`Received::hash`].
    pub(crate) fn successes(&self) -> BTreeMap<u64, usize> {
        lock(&self.ledger.successes).clone()
    }
}

impl Received {
    /// Equal for equal requests, headers apart.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.method, &self.path, self.body.to_string()).hash(&mut hasher);
        hasher.finish()
    }
}

impl Ledger {
    /// Enters a request and says how often it arrived before.
    fn enter(&self, request: &Received) -> usize {
        lock(&self.received).push(request.clone());
        let mut arrivals = lock(&self.arrivals);
        let arrived = arrivals.entry(request.hash()).or_default();
        *arrived += 1;
        *arrived - 1
    }

    fn succeed(&self, request: &Received) {
        *lock(&self.successes).entry(request.hash()).or_default() += 1;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: &TcpListener, script: &Arc<Script>, ledger: &Arc<Ledger>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (script, ledger) = (script.clone(), ledger.clone());
        tokio::spawn(async move {
            // The server ignores a client that disconnects.
            let _ = exchange::serve(stream, &*script, &ledger).await;
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

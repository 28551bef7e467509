//! A server on loopback that speaks S3, and fails as its script says. It keeps the objects in memory, or forwards requests to a real
//! server.
//!
//! It closes idle connections, so that no test hangs.

mod exchange;
mod objects;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) use exchange::{Answer, Seen};
pub(crate) use objects::Objects;

/// The id of the access key that the server in memory accepts, with any secret.
pub(crate) const KEY: &str = "local-reader";
/// The secret that belongs to it.
pub(crate) const SECRET: &str = "correct-horse-battery-0451";

/// A failure of the server in place of the correct answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Answers with this status, and does nothing.
    Status(u16),
    /// Closes the connection, and does nothing.
    Drop,
    /// Executes the request, and closes the connection without an answer.
    Lose,
    /// Answers later.
    Delay(Duration),
    /// Lists no objects.
    EmptyList,
    /// Lists no objects, and promises another page.
    EndlessList,
}

type Script = Arc<dyn Fn(&Seen) -> Option<Fault> + Send + Sync>;

/// Where the objects are.
#[derive(Clone)]
pub(crate) enum Backend {
    Memory(Arc<Mutex<Objects>>),
    /// The address of a real server.
    Server(SocketAddr),
}

/// The server. It stops when it is dropped.
pub(crate) struct ObjectServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    backend: Backend,
    script: Mutex<Script>,
    seen: Mutex<Vec<String>>,
}

impl ObjectServer {
    /// A server with an empty bucket `bucket` in memory.
    pub(crate) fn in_memory() -> Self {
        Self::start(Backend::Memory(Arc::new(Mutex::new(Objects::new(true)))))
    }

    /// One that ignores `If-None-Match`.
    pub(crate) fn without_conditions() -> Self {
        Self::start(Backend::Memory(Arc::new(Mutex::new(Objects::new(false)))))
    }

    pub(crate) fn start(backend: Backend) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            backend,
            script: Mutex::new(Arc::new(|_| None)),
            seen: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = shared.clone();
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = accept(&listener, &serving) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Fails from now on as `script` says.
    pub(crate) fn fail(&self, script: impl Fn(&Seen) -> Option<Fault> + Send + Sync + 'static) {
        *lock(&self.shared.script) = Arc::new(script);
    }

    /// Answers all requests correctly from now on.
    pub(crate) fn recover(&self) {
        self.fail(|_| None);
    }

    /// The requests so far, each as method and path.
    pub(crate) fn requests(&self) -> Vec<String> {
        lock(&self.shared.seen).clone()
    }

    /// The keys of the objects in memory.
    pub(crate) fn keys(&self) -> Vec<String> {
        match &self.shared.backend {
            Backend::Memory(objects) => lock(objects).keys(),
            Backend::Server(_) => Vec::new(),
        }
    }

    /// Deletes every object in memory whose key contains `part`, without a request.
    pub(crate) fn delete(&self, part: &str) {
        if let Backend::Memory(objects) = &self.shared.backend {
            lock(objects).delete(part);
        }
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            // The client may disconnect.
            let _ = exchange::serve(stream, |seen| shared.clone().answer(seen)).await;
        });
    }
}

impl Shared {
    /// The answer to a request; `None` closes the connection.
    async fn answer(self: Arc<Self>, seen: Seen) -> Option<Answer> {
        lock(&self.seen).push(format!("{} {}", seen.method, seen.path));
        let script = lock(&self.script).clone();
        let fault = script(&seen);
        match fault {
            Some(Fault::Status(status)) => return Some(objects::refusal(status)),
            Some(Fault::Drop) => return None,
            Some(Fault::Delay(delay)) => tokio::time::sleep(delay).await,
            Some(Fault::EmptyList) => return Some(objects::empty_page(false)),
            Some(Fault::EndlessList) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                return Some(objects::empty_page(true));
            }
            Some(Fault::Lose) | None => {}
        }
        let answer = match &self.backend {
            Backend::Memory(objects) => lock(objects).answer(&seen),
            Backend::Server(address) => exchange::pass_on(*address, &seen).await.ok()?,
        };
        (!matches!(fault, Some(Fault::Lose))).then_some(answer)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

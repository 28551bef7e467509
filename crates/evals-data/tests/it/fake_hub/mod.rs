//! A fake hub on loopback: the parts of the protocol that datasets and models need, and failures on request.
//!
//! Each connection has a thread and serves one request. Every read and every wait has a time limit.

mod answer;
mod stored_file;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use evals_data::{Hub, HubSettings, Repository, RetryPolicy, Token};

use answer::Answer;
use stored_file::StoredFile;

pub(crate) const REPO: &str = "owner/name";
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The dataset repository that is served.
pub(crate) fn repository() -> Repository {
    Repository::dataset(REPO)
}

/// A failure of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A bare status.
    Status(u16),
    /// A status with an `X-Error-Code`.
    ErrorCode(u16, &'static str),
    /// Status 429 with that `Retry-After`.
    RateLimited(&'static str),
    /// The body ends before its stated length, as when a connection is cut.
    Cut,
    /// Silence in the middle of the body, longer than any test waits.
    Stall,
    /// The connection is reset in the middle of the body.
    Reset,
    /// An HTML page with status 200.
    ErrorPage,
    /// A shorter file with its correct length.
    Short,
    /// A file of the right length with other bytes.
    Altered,
    /// No answer for a while.
    Hang,
    /// A list whose next page is the first page.
    NextIsFirst,
    /// More bytes than any description.
    Huge,
    /// A redirect to `/round`.
    SentOn,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, StoredFile>,
    /// Revisions beside `main`, decoded.
    revisions: Vec<String>,
    faults: Vec<(String, Fault, usize)>,
    requests: Vec<String>,
    token: Option<String>,
    page_size: Option<usize>,
    /// Whether the repository is a model.
    is_model: bool,
    ranges: Vec<String>,
    ignores_ranges: bool,
    is_endless: bool,
}

/// The server; stops when dropped.
pub(crate) struct FakeHub {
    state: Arc<Mutex<State>>,
    stop: Arc<AtomicBool>,
    hub: SocketAddr,
    storage: SocketAddr,
}

impl FakeHub {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let stop = Arc::new(AtomicBool::new(false));
        // Large files come from another address, as from the real hub's storage.
        let storage = listen(&state, &stop, None);
        let hub = listen(&state, &stop, Some(storage));
        Self {
            state,
            stop,
            hub,
            storage,
        }
    }

    /// Starts a hub whose repository is a model.
    pub(crate) fn start_with_model() -> Self {
        let hub = Self::start();
        hub.state.lock().unwrap().is_model = true;
        hub
    }

    pub(crate) fn with(self, path: &str, bytes: Vec<u8>) -> Self {
        self.store(path, bytes, true)
    }

    pub(crate) fn with_small(self, path: &str, bytes: Vec<u8>) -> Self {
        self.store(path, bytes, false)
    }

    fn store(self, path: &str, bytes: Vec<u8>, large: bool) -> Self {
        self.state
            .lock()
            .unwrap()
            .files
            .insert(path.to_owned(), StoredFile { bytes, large });
        self
    }

    pub(crate) fn with_revision(self, revision: &str) -> Self {
        self.state
            .lock()
            .unwrap()
            .revisions
            .push(revision.to_owned());
        self
    }

    pub(crate) fn with_token(self, token: &str) -> Self {
        self.state.lock().unwrap().token = Some(token.to_owned());
        self
    }

    pub(crate) fn with_page_size(self, entries: usize) -> Self {
        self.state.lock().unwrap().page_size = Some(entries);
        self
    }

    /// Ignores ranges and always answers with the whole file, like some proxies.
    pub(crate) fn ignoring_ranges(self) -> Self {
        self.state.lock().unwrap().ignores_ranges = true;
        self
    }

    /// Gives a list of files that never ends.
    pub(crate) fn endless(self) -> Self {
        self.state.lock().unwrap().is_endless = true;
        self
    }

    /// The `Range` of every request that had one.
    pub(crate) fn ranges(&self) -> Vec<String> {
        self.state.lock().unwrap().ranges.clone()
    }

    /// Ends all failures.
    pub(crate) fn recover(&self) {
        self.state.lock().unwrap().faults.clear();
    }

    /// Makes the next `times` requests fail whose path contains `part`.
    pub(crate) fn fail(&self, part: &str, fault: Fault, times: usize) {
        self.state
            .lock()
            .unwrap()
            .faults
            .push((part.to_owned(), fault, times));
    }

    /// `GET /path` of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    /// How many requests had `part` in their path.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.requests()
            .iter()
            .filter(|request| request.contains(part))
            .count()
    }

    /// The value of `HF_ENDPOINT` for clients.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.hub)
    }

    pub(crate) fn settings(&self, cache: &Path) -> HubSettings {
        let mut settings = HubSettings::from_variables(|_| None);
        settings.endpoint = self.endpoint();
        settings.cache_dir = Some(cache.into());
        settings.read_timeout = Duration::from_millis(500);
        settings.retry = RetryPolicy {
            attempts: 3,
            base_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(20),
        };
        settings
    }

    pub(crate) fn client(&self, cache: &Path) -> Hub {
        Hub::new(self.settings(cache))
    }

    pub(crate) fn client_with_token(&self, cache: &Path, token: &str) -> Hub {
        Hub::new(HubSettings {
            token: Token::new(token),
            ..self.settings(cache)
        })
    }
}

impl Drop for FakeHub {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for address in [self.hub, self.storage] {
            // Wakes the listener so that it sees the flag.
            drop(TcpStream::connect(address));
        }
    }
}

fn listen(
    state: &Arc<Mutex<State>>,
    stop: &Arc<AtomicBool>,
    storage: Option<SocketAddr>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (state, stop) = (Arc::clone(state), Arc::clone(stop));
    thread::spawn(move || {
        for stream in listener.incoming() {
            if stop.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { return };
            let state = Arc::clone(&state);
            // A client may disconnect at any time.
            thread::spawn(move || drop(serve(stream, &state, storage)));
        }
    });
    address
}

struct Request {
    path: String,
    query: String,
    authorization: Option<String>,
    range: Option<String>,
}

fn serve(
    stream: TcpStream,
    state: &Mutex<State>,
    storage: Option<SocketAddr>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::with_capacity(1, stream);
    let mut first = String::new();
    reader.by_ref().take(8192).read_line(&mut first)?;
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let fault = state.lock().unwrap().record(path, &first);
    if fault == Some(Fault::Reset) {
        // Closing with unread input makes the system reset the connection.
        let mut stream = reader.into_inner();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nPAR1")?;
        return Ok(());
    }
    let (mut authorization, mut range) = (None, None);
    loop {
        let mut line = String::new();
        reader.by_ref().take(8192).read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(": ") {
            let value = Some(value.trim().to_owned());
            match name.to_lowercase().as_str() {
                "authorization" => authorization = value,
                "range" => range = value,
                _ => {}
            }
        }
    }
    let request = Request {
        path: path.to_owned(),
        query: query.to_owned(),
        authorization,
        range,
    };
    let answer = match storage {
        Some(storage) => state.lock().unwrap().answer(&request, storage),
        None => state.lock().unwrap().stored_part(&request),
    };
    answer.send(reader.into_inner(), fault)
}

impl State {
    /// Records the request, and takes its fault if there is one.
    fn record(&mut self, path: &str, first_line: &str) -> Option<Fault> {
        let method = first_line.split(' ').next().unwrap_or_default();
        self.requests.push(format!("{method} {path}"));
        let (_, fault, times) = self
            .faults
            .iter_mut()
            .find(|(part, _, times)| *times > 0 && path.contains(&**part))?;
        *times -= 1;
        Some(*fault)
    }

    fn answer(&self, request: &Request, storage: SocketAddr) -> Answer {
        if let Some(token) = &self.token
            && request.authorization.as_deref() != Some(&format!("Bearer {token}"))
        {
            return Answer::status(if request.authorization.is_some() {
                403
            } else {
                401
            });
        }
        let api = format!("/{}/", self.api());
        let page = if self.is_model { "" } else { "/datasets" };
        let resolve = format!("{page}/{REPO}/resolve/{COMMIT}/");
        if let Some(revision) = request.path.strip_prefix(&format!("{api}revision/")) {
            return self.revision(&revision.replace("%2F", "/"));
        }
        if request.path == format!("{api}tree/{COMMIT}") {
            return self.tree(&request.query);
        }
        if let Some(file) = request.path.strip_prefix(&resolve) {
            return self.resolve(file, storage);
        }
        Answer::status(404).header("X-Error-Code", "RepoNotFound")
    }

    /// The path of the repository's API.
    fn api(&self) -> String {
        let kind = if self.is_model { "models" } else { "datasets" };
        format!("api/{kind}/{REPO}")
    }

    fn revision(&self, revision: &str) -> Answer {
        if revision == "main"
            || revision == COMMIT
            || self.revisions.iter().any(|known| known == revision)
        {
            return Answer::ok(format!(
                r#"{{"id":"{REPO}","sha":"{COMMIT}","private":false}}"#
            ));
        }
        Answer::status(404).header("X-Error-Code", "RevisionNotFound")
    }

    /// One page of the list. The address of the next page is the real hub's, as a mirror may pass it on.
    fn tree(&self, query: &str) -> Answer {
        let from: usize = query
            .split_once("cursor=")
            .map_or(0, |(_, cursor)| cursor.parse().unwrap());
        let size = self.page_size.unwrap_or(self.files.len() + 1);
        let directory = r#"{"type":"directory","oid":"d0","path":"corpus","size":0}"#.to_owned();
        let files = self.files.iter().map(|(path, file)| file.entry(path));
        let entries: Vec<String> = std::iter::once(directory).chain(files).collect();
        let page = entries
            .iter()
            .skip(from)
            .take(size)
            .cloned()
            .collect::<Vec<_>>()
            .join(",");
        let answer = Answer::ok(format!("[{page}]"));
        if from + size >= entries.len() && !self.is_endless {
            return answer;
        }
        let next = format!(
            "https://huggingface.co/{}/tree/{COMMIT}?recursive=true&cursor={}",
            self.api(),
            from + size
        );
        answer.header("Link", format!("<{next}>; rel=\"next\""))
    }

    fn resolve(&self, path: &str, storage: SocketAddr) -> Answer {
        let Some(file) = self.files.get(path) else {
            return Answer::status(404).header("X-Error-Code", "EntryNotFound");
        };
        if file.large {
            let digest = file.sha256();
            return Answer {
                status: 302,
                headers: Vec::new(),
                body: Vec::new(),
            }
            .header("Location", format!("http://{storage}/stored/{digest}"))
            .header("X-Repo-Commit", COMMIT)
            .header("X-Linked-ETag", format!("\"{digest}\""))
            .header("X-Linked-Size", file.bytes.len().to_string());
        }
        Answer::ok(file.bytes.clone())
            .header("X-Repo-Commit", COMMIT)
            .header("ETag", format!("\"{}\"", file.oid()))
    }

    /// The requested range of a stored file, else all of it.
    fn stored_part(&mut self, request: &Request) -> Answer {
        let whole = self.stored(request);
        let Some(range) = &request.range else {
            return whole;
        };
        self.ranges.push(range.clone());
        let from: usize = range
            .strip_prefix("bytes=")
            .and_then(|range| range.strip_suffix('-'))
            .unwrap()
            .parse()
            .unwrap();
        let total = whole.body.len();
        if whole.status != 200 || self.ignores_ranges {
            return whole;
        }
        if from >= total {
            return Answer::status(416);
        }
        Answer {
            status: 206,
            headers: Vec::new(),
            body: whole.body[from..].to_vec(),
        }
        .header(
            "Content-Range",
            format!("bytes {from}-{}/{total}", total - 1),
        )
    }

    /// The storage's answer. Like the real storage, it refuses requests with the hub's token.
    fn stored(&self, request: &Request) -> Answer {
        if request.authorization.is_some() {
            return Answer::status(400);
        }
        let stored = self
            .files
            .values()
            .find(|file| request.path == format!("/stored/{}", file.sha256()));
        stored.map_or_else(
            || Answer::status(404),
            |file| Answer::ok(file.bytes.clone()),
        )
    }
}

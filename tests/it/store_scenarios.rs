//! Scenarios of an index in any object store: the tests run them against a server in memory and against real servers.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::object_server::{Fault, ObjectServer};
use crate::sandbox::{Ended, Sandbox, ended, json, wait_for};

/// The benchmark of the tests, without the store.
pub(crate) const RUN: &str = "sample --skip-qa --limit 20 --no-progress";

/// An empty place in an object store, a home, and the server in front of the store.
pub(crate) struct Place {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: ObjectServer,
    /// The address of the database.
    pub(crate) db: String,
    /// The variables that describe the store.
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) secret: String,
}

impl Place {
    /// A command that reaches the store.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.sandbox.command(line);
        let variables = self.environment.iter();
        command.envs(variables.map(|(name, value)| (*name, value.as_str())));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        ended(&mut self.command(&format!("{RUN} --db {} {line}", self.db)))
    }

    /// Runs the benchmark, which must succeed, and returns its notes.
    pub(crate) fn succeed(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    }

    /// Runs the benchmark, which must fail, and returns its messages.
    pub(crate) fn refuse(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        ended.stderr
    }

    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(&format!("{RUN} --db {} {line}", self.db));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    pub(crate) fn manifest(&self) -> Value {
        json(&self.sandbox.runs().pop().unwrap().join("manifest.json"))
    }

    /// Asserts that the newest run has the rankings of a run on a folder.
    fn assert_as_in_a_folder(&self, line: &str) {
        let of_store = rankings(&self.sandbox);
        self.sandbox.succeed(&format!("{RUN} --fresh {line}"));
        assert_eq!(rankings(&self.sandbox), of_store, "{line}");
    }

    /// Asserts that neither the output nor a file contains the secret.
    pub(crate) fn assert_no_secrets(&self, printed: &str) {
        assert!(!printed.contains(&self.secret), "{printed}");
        assert_absent(&self.sandbox.data(), self.secret.as_bytes());
    }
}

fn assert_absent(folder: &Path, secret: &[u8]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_absent(&path, secret);
            continue;
        }
        let content = fs::read(&path).unwrap();
        let is_there = content.windows(secret.len()).any(|window| window == secret);
        assert!(!is_there, "the secret is in {}", path.display());
    }
}

/// The rankings of the newest run.
fn rankings(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.runs().pop().unwrap().join("run.trec")).unwrap()
}

/// Delays requests that write a full-text index, and tells when the first one came. By then, the program has committed the rows.
fn delay_index(place: &Place, delay: Duration) -> Arc<AtomicBool> {
    let writing = Arc::new(AtomicBool::new(false));
    let notice = writing.clone();
    place.server.fail(move |seen| {
        let is_first = seen.writes("_indices/") && !notice.swap(true, Ordering::SeqCst);
        is_first.then_some(Fault::Delay(delay))
    });
    writing
}

pub(crate) fn results_are_those_of_a_folder(place: &Place) {
    for profile in ["bm25", "semantic", "hybrid"] {
        let line = format!("--profile {profile}");
        place.succeed(&line);
        assert_eq!(place.manifest()["index"]["uri"], place.db);
        place.assert_as_in_a_folder(&line);
    }
    let before = place.server.requests().len();
    let found = place.succeed("--fresh --skip-db -v");
    assert!(found.contains("index found: "), "{found}");
    let requests = place.server.requests().split_off(before);
    let is_read = |request: &String| request.starts_with("GET ") || request.starts_with("HEAD ");
    assert!(
        requests.iter().all(is_read),
        "a search writes nothing: {requests:?}"
    );
    place.assert_no_secrets(&found);
}

pub(crate) fn an_outage_is_survived(place: &Place, outage: Duration) {
    let first = OnceLock::new();
    place.server.fail(move |seen| {
        if !seen.writes(".lance/") && first.get().is_none() {
            return None;
        }
        let since = first.get_or_init(Instant::now).elapsed();
        (since < outage).then_some(Fault::Status(503))
    });
    let notes = place.succeed("--profile hybrid");
    assert!(notes.contains("the object store answered 503"), "{notes}");
    assert!(
        notes.contains("; repeating the request for up to 90 s"),
        "{notes}"
    );
    place.assert_as_in_a_folder("--profile hybrid");
}

/// The answers to commits get lost: the program must not commit twice.
pub(crate) fn lost_answers_make_no_document_twice(place: &Place) {
    let commits = AtomicUsize::new(0);
    place.server.fail(move |seen| {
        let is_commit = seen.writes("_versions/") && seen.path.contains(".manifest");
        let is_lost = is_commit && commits.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        is_lost.then_some(Fault::Lose)
    });
    let mut last = String::new();
    for _ in 0..6 {
        let ended = place.run("--profile hybrid");
        if ended.code == Some(0) {
            place.server.recover();
            place.assert_as_in_a_folder("--profile hybrid");
            return;
        }
        assert_eq!(ended.code, Some(2), "{ended:?}");
        last = ended.stderr;
    }
    panic!("the build never ended: {last}");
}

pub(crate) fn a_build_whose_store_went_away_resumes(place: &Place) {
    let is_gone = AtomicBool::new(false);
    place.server.fail(move |seen| {
        if seen.writes("_indices/") {
            is_gone.store(true, Ordering::SeqCst);
        }
        is_gone.load(Ordering::SeqCst).then_some(Fault::Drop)
    });
    let message = place.refuse("--profile bm25 --set store.retry_for=1");
    assert!(message.contains(&format!("of `{}`", place.db)), "{message}");
    assert!(
        message.contains("an unfinished run or index resumes"),
        "{message}"
    );
    place.server.recover();
    let notes = place.succeed("--profile bm25");
    assert!(
        notes.contains("were indexed before an interruption"),
        "{notes}"
    );
    place.assert_as_in_a_folder("--profile bm25");
}

pub(crate) fn a_killed_build_leaves_no_lock_and_resumes(place: &Place) {
    let writing = delay_index(place, Duration::from_mins(1));
    let mut child = place.start("--profile bm25");
    wait_for("the full-text index", || writing.load(Ordering::SeqCst));
    child.kill().unwrap();
    child.wait().unwrap();
    place.server.recover();
    let notes = place.succeed("--profile bm25");
    assert!(
        notes.contains("were indexed before an interruption"),
        "{notes}"
    );
    if cfg!(target_os = "linux") {
        assert!(!notes.contains("waiting for"), "{notes}");
    }
    place.assert_as_in_a_folder("--profile bm25");
}

pub(crate) fn of_two_writers_one_builds_and_one_waits(place: &Place) {
    let writing = delay_index(place, Duration::from_secs(4));
    let first = place.start("--profile hybrid --seed 1");
    wait_for("the full-text index", || writing.load(Ordering::SeqCst));
    let waited = place.succeed("--profile hybrid --seed 2");
    let expected = format!("waiting for process {}", first.id());
    assert!(waited.contains(&expected), "{waited}");
    let first = first.wait_with_output().unwrap();
    let notes = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(first.status.success(), "{notes}");
    let runs = place.sandbox.runs();
    let builds = runs
        .iter()
        .filter(|run| json(&run.join("manifest.json"))["index"]["build"].is_object());
    assert_eq!(builds.count(), 1);
    place.assert_as_in_a_folder("--profile hybrid --seed 1");
}

//! Downloads datasets from a fake hub on loopback: caching, refusals, and retries after every kind of failure.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::fake_hub::{FakeHub, Fault, REPO};
use crate::sandbox::{Ended, Sandbox, ended, wait_for};

/// The bundled sample dataset.
const ROWS: &[u8] = include_bytes!("../../datasets/sample.parquet");
const FILE: &str = "data/rows.parquet";
/// The host that serves the bytes of large files.
const STORAGE: &str = "/stored/";

/// A hub that has the dataset, and a sandbox with a manifest for it.
pub(crate) struct Setup {
    pub(crate) hub: FakeHub,
    pub(crate) sandbox: Sandbox,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self::with(FakeHub::start())
    }

    fn with(hub: FakeHub) -> Self {
        let sandbox = Sandbox::new();
        let manifest = format!(
            "name: mine\nsource: {{repo: {REPO}, files: data/*.parquet}}\n\
             documents: {{uri: document_id, text: document_extracted, deduplicate: true}}\n\
             questions: {{id: question_id, text: question, relevant: [document_id]}}\n"
        );
        sandbox.write("mine.yaml", manifest);
        Self {
            hub: hub.with(FILE, ROWS.to_vec()),
            sandbox,
        }
    }

    /// A command with a network that only reaches the hub.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.sandbox.command(line);
        command
            .env_remove("HF_HUB_OFFLINE")
            .env("HF_ENDPOINT", self.hub.endpoint())
            .env("HF_HOME", self.sandbox.work().join("hf"));
        command
    }

    pub(crate) fn download(&self) -> Ended {
        ended(&mut self.command("download ./mine.yaml"))
    }

    fn refused(&self) -> String {
        let ended = self.download();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
        assert_eq!(self.files("refs"), Vec::<PathBuf>::new());
        ended.stderr
    }

    /// The files in one folder of the repository's cache.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let cache = self.sandbox.work().join("hf/hub/datasets--owner--name");
        let entries = fs::read_dir(cache.join(folder)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Asserts that the cache holds the complete dataset and nothing else.
    fn assert_fetched(&self) {
        let blobs = self.files("blobs");
        assert_eq!(blobs.len(), 1, "{blobs:?}");
        assert!(fs::read(&blobs[0]).unwrap() == ROWS, "other bytes arrived");
        assert_eq!(self.files("refs").len(), 1);
    }
}

fn fetched(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("mine: 1 file, 0.1 MB, verified"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_downloaded_dataset_runs_offline() {
    let setup = Setup::new();
    fetched(&setup.download());
    setup.assert_fetched();
    let requests = setup.hub.count(STORAGE);
    fetched(&setup.download());
    assert_eq!(
        setup.hub.count(STORAGE),
        requests,
        "nothing is fetched twice"
    );
    let line = "run ./mine.yaml --skip-qa --profile bm25 --limit 25";
    let online = ended(&mut setup.command(line));
    assert_eq!(online.code, Some(0), "{}", online.stderr);
    let asked = setup.hub.requests().len();
    let offline = ended(setup.command(line).env("HF_HUB_OFFLINE", "1"));
    assert_eq!(offline.code, Some(0), "{}", offline.stderr);
    assert_eq!(setup.hub.requests().len(), asked, "offline asks nobody");
    let rankings: Vec<Vec<u8>> = (setup.sandbox.runs().iter())
        .map(|run| fs::read(run.join("run.trec")).unwrap())
        .collect();
    assert!(rankings.len() == 2 && rankings[0] == rankings[1]);
}

#[test]
fn a_run_downloads_missing_files() {
    let setup = Setup::new();
    let ran = ended(&mut setup.command("run ./mine.yaml --skip-qa --profile bm25 --limit 5"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    setup.assert_fetched();
}

#[test]
fn a_repository_that_does_not_exist_is_named() {
    let setup = Setup::new();
    let manifest = fs::read_to_string(setup.sandbox.work().join("mine.yaml")).unwrap();
    setup
        .sandbox
        .write("mine.yaml", manifest.replace(REPO, "owner/other"));
    assert_eq!(
        setup.refused(),
        "error: cannot get dataset `mine`\n  caused by: the hub has no dataset repository `owner/other`: check the name \
         (`source.repo`)\n"
    );
}

#[test]
fn a_private_repository_needs_a_token() {
    let setup = Setup::with(FakeHub::start().with_token("secret"));
    let message = setup.refused();
    assert!(
        message.contains(
            "the hub asks for a token to read `owner/name`: check the repository's name; if it is private, set `HF_TOKEN`"
        ),
        "{message}"
    );
    let other = ended(
        setup
            .command("download ./mine.yaml")
            .env("HF_TOKEN", "other"),
    );
    assert_eq!(other.code, Some(2));
    assert!(
        other.stderr.contains("refuses access to `owner/name`")
            && !other.stderr.contains("other\n"),
        "{}",
        other.stderr
    );
    let right = ended(
        setup
            .command("download ./mine.yaml --verbose")
            .env("HF_TOKEN", "secret"),
    );
    fetched(&right);
    assert!(!right.stderr.contains("secret"), "{}", right.stderr);
}

#[test]
fn a_rate_limit_is_waited_for_unless_it_is_too_long() {
    let setup = Setup::new();
    setup.hub.fail("/revision/", Fault::RateLimited("86400"), 1);
    let message = setup.refused();
    assert!(
        message.contains("the hub limits the rate of requests and asks to wait 86400 s"),
        "{message}"
    );
    for part in ["/revision/", "/tree/", STORAGE] {
        setup.hub.fail(part, Fault::RateLimited("1"), 1);
    }
    fetched(&setup.download());
    setup.assert_fetched();
}

#[test]
fn a_truncated_body_is_resumed() {
    let setup = Setup::new();
    setup.hub.fail(STORAGE, Fault::Cut, 1);
    fetched(&setup.download());
    setup.assert_fetched();
    assert_eq!(
        setup.hub.ranges(),
        [format!("bytes={}-", ROWS.len() / 2)],
        "what had arrived is not fetched again"
    );
}

#[test]
fn bytes_with_a_wrong_checksum_are_never_kept() {
    let setup = Setup::new();
    setup.hub.fail(STORAGE, Fault::Altered, usize::MAX);
    let message = setup.refused();
    assert!(
        message
            .contains("`data/rows.parquet` of `owner/name` did not arrive as the hub describes it")
            && message.contains("SHA-256 "),
        "{message}"
    );
    assert_eq!(setup.files("blobs"), Vec::<PathBuf>::new());
    setup.hub.recover();
    fetched(&setup.download());
    setup.assert_fetched();
}

#[test]
fn a_killed_download_is_resumed() {
    let setup = Setup::new();
    let half = ROWS.len() / 2;
    setup.hub.fail(STORAGE, Fault::Stall, 1);
    let mut command = setup.command("download ./mine.yaml");
    let mut killed = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for("half of the file", || {
        let blobs = setup.files("blobs");
        let arrived = blobs.first().and_then(|blob| blob.metadata().ok());
        arrived.is_some_and(|arrived| arrived.len() == half as u64)
    });
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(setup.files("refs"), Vec::<PathBuf>::new());
    fetched(&setup.download());
    setup.assert_fetched();
    assert_eq!(setup.hub.ranges(), [format!("bytes={half}-")]);
}

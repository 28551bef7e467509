//! Failures of the hub, and how downloads recover.

use std::error::Error;
use std::sync::Mutex;

use evals_data::{Damage, DownloadEvent, DownloadObserver, Greeting, HubError, HubFiles};

use crate::fake_hub::{FakeHub, Fault, repository};
use crate::tables::corpus;

const FILE: &str = "corpus/a.parquet";

/// Fetches from a hub on which some requests fail. Returns the result and how often `part` was requested.
async fn fetch(faults: &[(&str, Fault, usize)], part: &str) -> (Result<HubFiles, HubError>, usize) {
    let hub = FakeHub::start().with(FILE, corpus());
    for (part, fault, times) in faults {
        hub.fail(part, *fault, *times);
    }
    let cache = tempfile::tempdir().unwrap();
    let result = hub
        .client(cache.path())
        .fetch(&repository(), "main", &["corpus/*".to_owned()], &())
        .await;
    if let Ok(files) = &result {
        assert_eq!(
            std::fs::read(&files.files[0].local).unwrap(),
            corpus(),
            "what is given is the file"
        );
    } else {
        assert_eq!(
            files_in(cache.path(), "blobs"),
            0,
            "nothing is left in the cache"
        );
        assert_eq!(files_in(cache.path(), "refs"), 0);
    }
    (result, hub.count(part))
}

fn files_in(cache: &std::path::Path, folder: &str) -> usize {
    std::fs::read_dir(cache.join("datasets--owner--name").join(folder)).map_or(0, Iterator::count)
}

async fn passes(fault: Fault, part: &str) -> usize {
    let (result, tries) = fetch(&[(part, fault, 1)], part).await;
    result.unwrap();
    tries
}

async fn fails(fault: Fault, part: &str) -> (HubError, usize) {
    let (result, tries) = fetch(&[(part, fault, usize::MAX)], part).await;
    (result.unwrap_err(), tries)
}

/// The path of large files' bytes.
const STORAGE: &str = "/stored/";

#[tokio::test]
async fn temporary_failures_are_retried_at_every_step() {
    for part in ["/revision/", "/tree/", "/resolve/", STORAGE] {
        for fault in [
            Fault::Status(500),
            Fault::Status(503),
            Fault::RateLimited("0"),
            Fault::Hang,
            Fault::Reset,
        ] {
            assert_eq!(passes(fault, part).await, 2, "{fault:?} at {part}");
        }
    }
    assert_eq!(passes(Fault::Cut, STORAGE).await, 2);
}

#[tokio::test]
async fn a_pause_beyond_the_limit_ends_the_retries_and_is_reported() {
    for part in ["/revision/", "/tree/", STORAGE] {
        let (error, tries) = fails(Fault::RateLimited("86400"), part).await;
        assert_eq!(tries, 1, "{part}");
        assert_eq!(
            error.to_string(),
            "the hub limits the rate of requests and asks to wait 86400 s; wait, or set `HF_TOKEN`, which raises the \
             limit"
        );
    }
}

#[tokio::test]
async fn retries_end_with_the_last_failure() {
    let (error, tries) = fails(Fault::RateLimited("0"), "/revision/").await;
    assert_eq!(tries, 3);
    assert_eq!(
        error.to_string(),
        "the hub limits the rate of requests; wait, or set `HF_TOKEN`, which raises the limit"
    );
    let (error, tries) = fails(Fault::Status(503), "/tree/").await;
    assert_eq!(tries, 3);
    assert!(
        error.to_string().ends_with("answered with status 503"),
        "{error}"
    );
    let (error, tries) = fails(Fault::Hang, "/revision/").await;
    assert_eq!(tries, 3);
    assert!(matches!(error, HubError::Unreachable { .. }));
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    for (fault, part) in [
        (Fault::Status(401), "/revision/"),
        (Fault::Status(403), "/tree/"),
        (Fault::Status(404), "/resolve/"),
        (Fault::ErrorCode(404, "RepoNotFound"), "/revision/"),
        (Fault::Status(404), "/tree/"),
        (Fault::ErrorPage, "/tree/"),
        (Fault::ErrorPage, "/revision/"),
    ] {
        let (error, tries) = fails(fault, part).await;
        assert_eq!(tries, 1, "{fault:?} at {part}: {error}");
    }
    for (part, address) in [
        ("/resolve/", ".parquet`"),
        (
            "/tree/",
            "/tree/0123456789abcdef0123456789abcdef01234567?recursive=true`",
        ),
    ] {
        let (error, _) = fails(Fault::Status(404), part).await;
        let expected = format!(
            "{address} did not answer like the hub: status 404 (not found), although the hub says that `owner/name` has it; \
             check `HF_ENDPOINT`"
        );
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    let (error, _) = fails(Fault::ErrorPage, "/tree/").await;
    assert!(
        error.to_string().contains("did not answer like the hub"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_unlike_the_listed_one_is_fetched_once_more_and_never_kept() {
    for fault in [Fault::ErrorPage, Fault::Short, Fault::Altered] {
        assert_eq!(passes(fault, STORAGE).await, 2, "{fault:?}");
        let (error, tries) = fails(fault, STORAGE).await;
        assert_eq!(tries, 2, "{fault:?}");
        assert_eq!(
            error.to_string(),
            "`corpus/a.parquet` of `owner/name` did not arrive as the hub describes it"
        );
        match (fault, error) {
            (
                Fault::ErrorPage,
                HubError::Corrupt {
                    damage: Damage::Size { found, .. },
                    ..
                },
            ) => assert_eq!(found, 24),
            (
                Fault::Short,
                HubError::Corrupt {
                    damage: Damage::Size { expected, found },
                    ..
                },
            ) => {
                assert_eq!(found, expected / 2);
            }
            (
                Fault::Altered,
                HubError::Corrupt {
                    damage: Damage::Digest { .. },
                    ..
                },
            ) => {}
            (fault, error) => panic!("{fault:?}: {error:?}"),
        }
    }
}

#[tokio::test]
async fn a_small_file_without_digest_is_checked_by_size_and_format() {
    let hub = FakeHub::start().with_small(FILE, corpus());
    hub.fail("/resolve/", Fault::ErrorPage, usize::MAX);
    let cache = tempfile::tempdir().unwrap();
    let error = hub
        .client(cache.path())
        .fetch(&repository(), "main", &["corpus/*".to_owned()], &())
        .await
        .unwrap_err();
    assert!(
        error
            .source()
            .unwrap()
            .to_string()
            .starts_with("24 bytes instead of ")
    );
}

/// Records why requests are retried.
#[derive(Default)]
struct Reasons(Mutex<Vec<String>>);

impl DownloadObserver for Reasons {
    fn on_event(&self, event: &DownloadEvent<'_>) {
        if let DownloadEvent::Retrying { reason, .. } = event {
            self.0.lock().unwrap().push((*reason).to_owned());
        }
    }
}

#[tokio::test]
async fn a_greeting_tells_whether_the_hub_answers_and_accepts_the_token() {
    let cache = tempfile::tempdir().unwrap();
    let open = FakeHub::start();
    let greeting = open.client(cache.path()).greet().await;
    assert_eq!(greeting.unwrap(), Greeting::Reached);
    let hub = FakeHub::start().with_token("right");
    let of = |token: &str| hub.client_with_token(cache.path(), token);
    let (right, wrong) = (of("right"), of("wrong"));
    assert_eq!(right.greet().await.unwrap(), Greeting::Reached);
    assert_eq!(wrong.greet().await.unwrap(), Greeting::TokenRefused);
    let without = hub.client(cache.path()).greet().await;
    assert_eq!(without.unwrap(), Greeting::Reached, "as the real one does");
    assert_eq!(hub.count("/api/whoami-v2"), 3);
    drop(hub);
    assert!(matches!(
        right.greet().await,
        Err(HubError::NoConnection { .. })
    ));
}

#[tokio::test]
async fn with_cached_files_nobody_waits_for_a_connection() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let globs = [FILE.to_owned()];
    let fetched = client.fetch(&repository(), "main", &globs, &()).await;
    drop(hub);
    let reasons = Reasons::default();
    let cached = client.fetch(&repository(), "main", &globs, &reasons).await;
    assert_eq!(cached.unwrap().files, fetched.unwrap().files);
    assert_eq!(reasons.0.into_inner().unwrap().len(), 1, "two tries");
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_unreachable() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    drop(hub);
    let reasons = Reasons::default();
    let error = evals_data::Hub::new(settings)
        .fetch(&repository(), "main", &["*".to_owned()], &reasons)
        .await
        .unwrap_err();
    let reasons = reasons.0.into_inner().unwrap();
    assert_eq!(reasons.len(), 2, "three tries");
    for reason in reasons {
        assert!(
            reason.starts_with("no connection: Connection refused"),
            "{reason}"
        );
        assert!(
            !reason.contains("http://") && !reason.contains('\n'),
            "the event has the address: {reason}"
        );
    }
    let message = error.to_string();
    assert!(
        message.starts_with("cannot connect to `http://127.0.0.1:") && !message.contains("/api/"),
        "{message}"
    );
    let cause = error.source().unwrap();
    assert!(
        cause.to_string().starts_with("Connection refused") && cause.source().is_none(),
        "one cause, and not the layers of the client: {cause}"
    );
    assert!(error.is_transient());
}

//! The servers that `scripts/test-stores` started, each behind a proxy.

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::object_server::{Backend, ObjectServer};
use crate::sandbox::{Sandbox, ended};
use crate::store_scenarios::{Place, RUN};

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `make test-stores`"))
}

/// A prefix that no other test and no earlier run has.
fn prefix() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    format!("{}-{number}/db", now.as_millis())
}

/// The proxy of a server at `http://HOST:PORT/path`, and its own address with the path.
fn proxy(url: &str) -> (ObjectServer, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let server = ObjectServer::start(Backend::Server(host.parse().unwrap()));
    let url = format!("{}/{path}", server.url());
    (server, url.trim_end_matches('/').to_owned())
}

/// An empty place in the bucket of `SeaweedFS`.
pub(crate) fn s3() -> Place {
    let (server, url) = proxy(&variable("STORES_S3"));
    Place {
        sandbox: Sandbox::new(),
        server,
        db: format!("s3://bucket/{}", prefix()),
        environment: vec![
            ("AWS_ENDPOINT_URL", url),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", variable("STORES_S3_KEY")),
            ("AWS_SECRET_ACCESS_KEY", variable("STORES_S3_SECRET")),
        ],
        secret: variable("STORES_S3_SECRET"),
    }
}

/// An empty place in the container of Azurite.
pub(crate) fn azure() -> Place {
    let (server, url) = proxy(&variable("STORES_AZURE"));
    Place {
        sandbox: Sandbox::new(),
        server,
        db: format!("az://bucket/{}", prefix()),
        environment: vec![
            ("AZURE_ENDPOINT", url),
            (
                "AZURE_STORAGE_ACCOUNT_NAME",
                variable("STORES_AZURE_ACCOUNT"),
            ),
            ("AZURE_STORAGE_ACCOUNT_KEY", variable("STORES_AZURE_KEY")),
        ],
        secret: variable("STORES_AZURE_KEY"),
    }
}

pub(crate) fn wrong_keys_and_missing_buckets_are_named(place: &Place) {
    let refuse = |db: &str, name: &str, value: &str| {
        let line = format!("{RUN} --profile bm25 --db {db} --set store.retry_for=1");
        let ended = ended(place.command(&line).env(name, value));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        place.assert_no_secrets(&ended.stderr);
        ended.stderr
    };
    let missing = place.db.replace("//bucket/", "//no-such-bucket/");
    let message = refuse(&missing, "UNUSED", "");
    assert!(message.contains("no such bucket or container"), "{message}");
    for (name, wrong) in [
        ("AWS_SECRET_ACCESS_KEY", "another-secret"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "YW5vdGhlci1zZWNyZXQ="),
    ] {
        if place.environment.iter().any(|(set, _)| *set == name) {
            let message = refuse(&place.db, name, wrong);
            assert!(message.contains("denied access"), "{message}");
        }
    }
}

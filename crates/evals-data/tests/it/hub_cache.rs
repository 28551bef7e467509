//! The cache: its layout, offline use, and damaged entries.

use std::path::Path;

use evals_data::{
    Availability, Catalog, Collection, Hub, HubError, HubFiles, HubSettings, HubWarning, Manifest,
    Origin,
};

use crate::fake_hub::{COMMIT, FakeHub, Fault, REPO, repository};
use crate::tables::corpus;

const FILE: &str = "corpus/deep/a.parquet";

fn globs() -> Vec<String> {
    vec!["corpus/**/*.parquet".to_owned()]
}

async fn fetch(client: &Hub) -> Result<HubFiles, HubError> {
    client.fetch(&repository(), "main", &globs(), &()).await
}

fn offline(cache: &Path) -> Hub {
    let mut settings = HubSettings::from_variables(|_| None);
    settings.cache_dir = Some(cache.into());
    settings.offline = true;
    Hub::new(settings)
}

/// Fills a cache like other clients, without a list of the commit's files.
fn store(cache: &Path, files: &[(&str, &[u8])]) {
    let folder = cache.join("datasets--owner--name");
    for (name, bytes) in files {
        let path = folder.join("snapshots").join(COMMIT).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::create_dir_all(folder.join("refs")).unwrap();
    std::fs::write(folder.join("refs/main"), COMMIT).unwrap();
}

fn snapshot(cache: &Path) -> std::path::PathBuf {
    cache
        .join("datasets--owner--name/snapshots")
        .join(COMMIT)
        .join(FILE)
}

#[tokio::test]
async fn the_cache_has_the_layout_of_the_official_clients() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch(&hub.client(cache.path())).await.unwrap();
    assert_eq!(fetched.files[0].local, snapshot(cache.path()));
    #[cfg(unix)]
    assert_eq!(
        std::fs::read_link(snapshot(cache.path())).unwrap(),
        Path::new("../../../../blobs").join(&fetched.files[0].sha256)
    );
    // hf-hub itself finds the file there without the network.
    let official = hf_hub::Cache::new(cache.path().to_owned());
    let found = official.dataset(REPO.to_owned()).get(FILE).unwrap();
    assert_eq!(std::fs::read(found).unwrap(), corpus());
}

#[tokio::test]
async fn offline_reads_only_the_cache() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let online = fetch(&hub.client(cache.path())).await.unwrap();
    drop(hub);
    assert!(offline(cache.path()).is_cached(&repository(), "main", &globs()));
    assert_eq!(fetch(&offline(cache.path())).await.unwrap(), online);
    let by_commit = offline(cache.path())
        .fetch(&repository(), COMMIT, &globs(), &())
        .await
        .unwrap();
    assert_eq!(by_commit, online, "a commit needs no reference");
}

#[tokio::test]
async fn availability_needs_no_network() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let text = format!(
        "name: mine\nsource: {{repo: {REPO}, files: 'corpus/**/*.parquet'}}\n\
         documents: {{uri: _id, text: text}}\nquestions: {{text: text, relevant: _id}}\n"
    );
    let mine = Manifest::parse(&text, Origin::Memory).unwrap();
    assert_eq!(mine.availability(&client), Availability::Remote);
    assert!(hub.requests().is_empty());
    fetch(&client).await.unwrap();
    assert_eq!(mine.availability(&client), Availability::Cached);
    let own = text.replace(&format!("repo: {REPO}"), "path: tables");
    let own = Manifest::parse(&own, Origin::Memory).unwrap();
    assert_eq!(own.availability(&client), Availability::Local);
    let sample = Catalog::new::<&str>([]).find("sample").unwrap();
    assert_eq!(sample.availability(&client), Availability::Bundled);
}

#[tokio::test]
async fn offline_says_what_is_missing() {
    let cache = tempfile::tempdir().unwrap();
    let client = offline(cache.path());
    let message = |error: HubError| {
        error
            .to_string()
            .replace(&cache.path().display().to_string(), "CACHE")
    };
    assert_eq!(
        message(fetch(&client).await.unwrap_err()),
        "nothing is cached for `owner/name` at `main` in the hub cache `CACHE`; allow network access once (unset \
         `HF_HUB_OFFLINE`), or set `HF_HOME` to a cache that has it"
    );
    assert!(!client.is_cached(&repository(), "main", &globs()));

    store(
        cache.path(),
        &[("corpus/x-00000-of-00002.parquet", &corpus())],
    );
    let missing = client
        .fetch(&repository(), "main", &["other.parquet".to_owned()], &())
        .await
        .unwrap_err();
    assert!(
        message(missing).starts_with("no file matches `other.parquet` for `owner/name` at `main`")
    );
    let shard = client
        .fetch(&repository(), "main", &["corpus/*".to_owned()], &())
        .await
        .unwrap_err();
    assert!(
        message(shard).starts_with("`corpus/x-00001-of-00002.parquet` is missing for `owner/name`")
    );
}

#[tokio::test]
async fn a_damaged_entry_is_downloaded_again() {
    let whole = corpus();
    let mut altered = whole.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    for damaged in [
        &b"<html>busy</html>"[..],
        &whole[..whole.len() - 1],
        &altered,
    ] {
        let hub = FakeHub::start().with(FILE, whole.clone());
        let cache = tempfile::tempdir().unwrap();
        let client = hub.client(cache.path());
        fetch(&client).await.unwrap();
        std::fs::write(snapshot(cache.path()), damaged).unwrap();

        let again = fetch(&client).await.unwrap();
        assert!(
            matches!(&again.warnings[..], [HubWarning::Refetched { file, .. }] if file == FILE)
        );
        assert_eq!(std::fs::read(snapshot(cache.path())).unwrap(), whole);
        assert!(fetch(&client).await.unwrap().warnings.is_empty());
        assert_eq!(
            hub.count("/stored/"),
            2,
            "the first time, and for the damage"
        );
    }
}

#[tokio::test]
async fn a_damaged_entry_is_an_error_if_it_cannot_be_downloaded() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    fetch(&hub.client(cache.path())).await.unwrap();
    std::fs::write(snapshot(cache.path()), "<html>busy</html>").unwrap();
    let error = fetch(&offline(cache.path())).await.unwrap_err();
    assert!(matches!(error, HubError::DamagedCache { .. }));
    assert!(error.to_string().ends_with(
        "is damaged; delete it, or allow network access (unset `HF_HUB_OFFLINE`) to download it again"
    ));
}

/// A copied cache has no digests, so damage inside a file is found only when it is read.
#[tokio::test]
async fn damage_inside_a_cached_table_names_what_to_delete() {
    let hub = FakeHub::start().with_small(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let mut damaged = corpus();
    damaged[4..20].fill(0xff);
    store(cache.path(), &[(FILE, &damaged)]);
    let text = format!(
        "name: mine\nsource: {{repo: {REPO}, files: '{FILE}'}}\n\
         documents: {{uri: _id, text: text}}\nquestions: {{text: text, relevant: _id}}\n"
    );
    let manifest = Manifest::parse(&text, Origin::Memory).unwrap();
    let collection = Collection::resolve(&manifest, &offline(cache.path()), &())
        .await
        .unwrap();
    let read: Result<Vec<_>, _> = collection.documents().unwrap().collect();
    let message = read.unwrap_err().to_string();
    let place = snapshot(cache.path()).canonicalize().unwrap();
    assert_eq!(
        message,
        format!(
            "`{FILE}` is not readable parquet; delete `{}` to download it again",
            place.display()
        )
    );
    std::fs::remove_file(place).unwrap();
    let mended = fetch(&hub.client(cache.path())).await.unwrap();
    assert_eq!(std::fs::read(&mended.files[0].local).unwrap(), corpus());
}

#[tokio::test]
async fn the_cache_serves_with_a_warning_if_the_hub_is_out_of_reach() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    fetch(&client).await.unwrap();
    hub.fail("/revision/", Fault::Status(503), usize::MAX);
    let cached = fetch(&client).await.unwrap();
    let [warning @ HubWarning::ServedFromCache { commit, .. }] = &cached.warnings[..] else {
        panic!("{:?}", cached.warnings)
    };
    assert_eq!(commit, COMMIT);
    let text = warning.to_string();
    assert!(
        text.starts_with("the hub is out of reach (") && text.contains("answered with status 503"),
        "{text}"
    );
}

#[tokio::test]
async fn a_refusal_is_not_hidden_by_the_cache() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    fetch(&client).await.unwrap();
    hub.fail("/revision/", Fault::Status(403), 1);
    assert!(matches!(
        fetch(&client).await,
        Err(HubError::Forbidden { .. })
    ));
}

#[tokio::test]
async fn two_concurrent_fetches_download_a_file_once() {
    let hub = FakeHub::start().with(FILE, corpus());
    let cache = tempfile::tempdir().unwrap();
    let (first, second) = (hub.client(cache.path()), hub.client(cache.path()));
    let (first, second) = tokio::join!(fetch(&first), fetch(&second));
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!(hub.count("/stored/"), 1);
}

/// A cache without blobs, such as a copy that followed links; and a read-only cache.
#[cfg(unix)]
#[tokio::test]
async fn a_copied_or_read_only_cache_is_read_and_not_changed() {
    use std::os::unix::fs::PermissionsExt;

    let cache = tempfile::tempdir().unwrap();
    store(cache.path(), &[(FILE, &corpus())]);
    let locked = |mode| {
        std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    locked(0o555);
    let hub = FakeHub::start().with(FILE, corpus());
    let from_cache = fetch(&offline(cache.path())).await;
    let checked_online = fetch(&hub.client(cache.path())).await;
    locked(0o755);
    let (from_cache, checked_online) = (from_cache.unwrap(), checked_online.unwrap());
    assert_eq!(from_cache.files, checked_online.files);
    assert!(
        matches!(
            &from_cache.warnings[..],
            [
                HubWarning::UnlistedCommit { files: 1, .. },
                HubWarning::Unverified { files: 1, .. }
            ]
        ),
        "nobody said how many files there are"
    );
    assert!(from_cache.warnings[0].is_note());
    assert_eq!(
        from_cache.warnings[0].to_string(),
        format!(
            "using the cached files of `owner/name` at {COMMIT} (matching files: 1); without the hub it is unknown whether \
             they are complete"
        )
    );
    assert!(checked_online.warnings.is_empty());
    assert_eq!(hub.count("/stored/"), 0);
    let left: Vec<_> = std::fs::read_dir(cache.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["datasets--owner--name"]);
}

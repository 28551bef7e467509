//! Incomplete commits and incomplete files.

use std::path::Path;

use evals_data::{Hub, HubError, HubFiles, HubSettings, HubWarning};

use crate::fake_hub::{COMMIT, FakeHub, Fault, repository};
use crate::tables::{corpus, parquet};

const FIRST: &str = "corpus/0000.parquet";
const SECOND: &str = "corpus/0001.parquet";

fn second() -> Vec<u8> {
    parquet(&[("_id", &["d3"]), ("title", &[""]), ("text", &["third"])])
}

fn two_files() -> FakeHub {
    FakeHub::start()
        .with(FIRST, corpus())
        .with(SECOND, second())
}

async fn fetch(client: &Hub, revision: &str) -> Result<HubFiles, HubError> {
    client
        .fetch(
            &repository(),
            revision,
            &["corpus/*.parquet".to_owned()],
            &(),
        )
        .await
}

fn offline(cache: &Path) -> Hub {
    let mut settings = HubSettings::from_variables(|_| None);
    settings.cache_dir = Some(cache.into());
    settings.offline = true;
    Hub::new(settings)
}

#[tokio::test]
async fn half_a_commit_is_never_mistaken_for_the_whole() {
    for revision in ["main", COMMIT] {
        let hub = two_files();
        let resolve = format!("/resolve/{COMMIT}/{SECOND}");
        hub.fail(&resolve, Fault::Status(503), usize::MAX);
        let cache = tempfile::tempdir().unwrap();
        let client = hub.client(cache.path());

        let online = fetch(&client, revision).await.unwrap_err();
        assert!(
            matches!(online, HubError::Status { status: 503, .. }),
            "{revision}: {online}"
        );
        let first = cache.path().join("datasets--owner--name/snapshots");
        assert!(
            first.join(COMMIT).join(FIRST).exists(),
            "one file is there, and looks like a whole corpus"
        );

        hub.fail("/revision/", Fault::Status(503), usize::MAX);
        let unreachable = fetch(&client, revision).await.unwrap_err();
        assert!(
            unreachable.to_string().contains("/api/datasets/"),
            "what the hub refused is told: {unreachable}"
        );
        assert!(!offline(cache.path()).is_cached(
            &repository(),
            revision,
            &["corpus/*.parquet".to_owned()]
        ));
        let message = fetch(&offline(cache.path()), revision)
            .await
            .unwrap_err()
            .to_string();
        let missing = match revision {
            "main" => "nothing is cached for `owner/name`".to_owned(),
            _ => format!("`{SECOND}` is missing for `owner/name`"),
        };
        assert!(message.starts_with(&missing), "{message}");

        hub.recover();
        assert_eq!(fetch(&client, revision).await.unwrap().files.len(), 2);
        let whole = fetch(&offline(cache.path()), revision).await.unwrap();
        assert_eq!((whole.files.len(), whole.warnings.len()), (2, 0));
    }
}

#[tokio::test]
async fn a_branch_stays_at_its_last_complete_commit() {
    let hub = two_files();
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    fetch(&client, "main").await.unwrap();
    let snapshot = cache
        .path()
        .join("datasets--owner--name/snapshots")
        .join(COMMIT);
    std::fs::remove_file(snapshot.join(SECOND)).unwrap();
    let message = fetch(&offline(cache.path()), "main")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with(&format!("`{SECOND}` is missing")),
        "{message}"
    );
}

/// Other clients store no list. If the names show that the files are complete, there is no warning.
#[tokio::test]
async fn an_unlisted_commit_gives_a_warning_only_if_it_may_be_incomplete() {
    let of = |names: &[&str], glob: &str| {
        let cache = tempfile::tempdir().unwrap();
        let snapshot = cache
            .path()
            .join("datasets--owner--name/snapshots")
            .join(COMMIT);
        for name in names {
            let path = snapshot.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, corpus()).unwrap();
        }
        let glob = vec![glob.to_owned()];
        async move {
            let client = offline(cache.path());
            let files = client
                .fetch(&repository(), COMMIT, &glob, &())
                .await
                .unwrap();
            let is_about_the_list =
                |warning: &HubWarning| matches!(warning, HubWarning::UnlistedCommit { .. });
            let warnings = files.warnings.into_iter().filter(is_about_the_list);
            warnings.collect::<Vec<_>>()
        }
    };
    let shards = [
        "data/test-00000-of-00002.parquet",
        "data/test-00001-of-00002.parquet",
    ];
    assert_eq!(of(&shards, "data/*.parquet").await, []);
    assert_eq!(of(&["data/a.parquet"], "data/a.parquet").await, []);
    assert_eq!(
        of(&["data/0000.parquet"], "data/*.parquet").await,
        [HubWarning::UnlistedCommit {
            repo: repository(),
            commit: COMMIT.to_owned(),
            files: 1
        }]
    );
}

/// A file as Python stores it, a link to a blob that is named by its digest, with changed content.
#[cfg(unix)]
#[tokio::test]
async fn the_target_of_a_link_names_the_digest() {
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("datasets--owner--name");
    let digest = "0".repeat(64);
    std::fs::create_dir_all(folder.join("blobs")).unwrap();
    std::fs::create_dir_all(folder.join("snapshots").join(COMMIT).join("corpus")).unwrap();
    std::fs::write(folder.join("blobs").join(&digest), corpus()).unwrap();
    let link = folder.join("snapshots").join(COMMIT).join(FIRST);
    std::os::unix::fs::symlink(Path::new("../../../blobs").join(&digest), link).unwrap();
    let error = fetch(&offline(cache.path()), COMMIT).await.unwrap_err();
    let HubError::DamagedCache { damage, .. } = error else {
        panic!("{error:?}")
    };
    assert!(
        damage
            .to_string()
            .ends_with(&format!("instead of {digest}")),
        "{damage}"
    );
}

fn part(cache: &Path) -> Option<u64> {
    let blobs = cache.join("datasets--owner--name/blobs");
    let mut entries = std::fs::read_dir(blobs).unwrap().map(Result::unwrap);
    let partial = entries.find(|entry| entry.file_name().to_string_lossy().ends_with(".partial"));
    partial.map(|entry| entry.metadata().unwrap().len())
}

#[tokio::test]
async fn a_broken_transfer_resumes_even_in_another_run() {
    let whole = corpus();
    let hub = FakeHub::start().with(FIRST, whole.clone());
    hub.fail("/stored/", Fault::Cut, 1);
    // The failure after the cut, which ends the run.
    hub.fail("/stored/", Fault::Status(503), 3);
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    fetch(&client, "main").await.unwrap_err();
    let half = whole.len() as u64 / 2;
    assert_eq!(part(cache.path()), Some(half), "kept for the next run");

    hub.recover();
    let files = fetch(&client, "main").await.unwrap();
    assert_eq!(std::fs::read(&files.files[0].local).unwrap(), whole);
    assert_eq!(part(cache.path()), None);
    assert_eq!(hub.ranges().last().unwrap(), &format!("bytes={half}-"));
}

#[tokio::test]
async fn progress_resets_the_count_of_failures() {
    let whole = corpus();
    let hub = FakeHub::start().with(FIRST, whole.clone());
    // Half of the rest arrives each time. Five failures are fine, while three in a row would end the download.
    hub.fail("/stored/", Fault::Cut, 5);
    let cache = tempfile::tempdir().unwrap();
    let files = fetch(&hub.client(cache.path()), "main").await.unwrap();
    assert_eq!(std::fs::read(&files.files[0].local).unwrap(), whole);
    assert_eq!(hub.count("/stored/"), 6);
}

#[tokio::test]
async fn a_server_without_ranges_starts_over_a_limited_number_of_times() {
    let whole = corpus();
    let hub = FakeHub::start()
        .with(FIRST, whole.clone())
        .ignoring_ranges();
    hub.fail("/stored/", Fault::Cut, 1);
    let cache = tempfile::tempdir().unwrap();
    let files = fetch(&hub.client(cache.path()), "main").await.unwrap();
    assert_eq!(std::fs::read(&files.files[0].local).unwrap(), whole);
    assert_eq!(hub.ranges().len(), 1);

    let hub = FakeHub::start().with(FIRST, whole).ignoring_ranges();
    hub.fail("/stored/", Fault::Cut, usize::MAX);
    let cache = tempfile::tempdir().unwrap();
    fetch(&hub.client(cache.path()), "main").await.unwrap_err();
    assert_eq!(hub.count("/stored/"), 3, "none went further than the first");
}

#[tokio::test]
async fn a_part_of_another_file_is_discarded() {
    let whole = corpus();
    let hub = FakeHub::start().with(FIRST, whole.clone());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    hub.fail("/stored/", Fault::Cut, 1);
    hub.fail("/stored/", Fault::Status(503), 3);
    fetch(&client, "main").await.unwrap_err();
    let blobs = cache.path().join("datasets--owner--name/blobs");
    let partial = std::fs::read_dir(blobs).unwrap().next().unwrap().unwrap();
    for other in [
        vec![b'x'; 10],
        vec![b'x'; whole.len()],
        vec![b'x'; whole.len() + 1],
    ] {
        std::fs::write(partial.path(), other).unwrap();
        hub.recover();
        let files = fetch(&client, "main").await.unwrap();
        assert_eq!(std::fs::read(&files.files[0].local).unwrap(), whole);
        std::fs::remove_dir_all(cache.path().join("datasets--owner--name/snapshots")).unwrap();
        std::fs::remove_file(partial.path().with_extension("")).unwrap();
    }
}

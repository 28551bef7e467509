//! A hostile hub: answers that never end, or lead elsewhere.

use evals_data::{Hub, HubError, HubSettings, HubWarning};

use crate::fake_hub::{COMMIT, FakeHub, Fault, repository};
use crate::tables::corpus;

const FILE: &str = "corpus/a.parquet";

async fn refused(hub: &FakeHub) -> HubError {
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let globs = [FILE.to_owned()];
    let fetched = client.fetch(&repository(), "main", &globs, &()).await;
    let error = fetched.unwrap_err();
    assert_eq!(
        std::fs::read_dir(cache.path()).unwrap().count(),
        0,
        "{error}"
    );
    error
}

#[tokio::test]
async fn a_list_that_leads_back_to_itself_is_refused_with_its_address() {
    let hub = FakeHub::start().with(FILE, corpus());
    hub.fail("/tree/", Fault::NextIsFirst, usize::MAX);
    let error = refused(&hub).await;
    let address = format!(
        "{}/api/datasets/owner/name/tree/{COMMIT}?recursive=true",
        hub.endpoint()
    );
    assert_eq!(
        error.to_string(),
        format!(
            "`{address}` did not answer like the hub: the list of files leads back to this page; check `HF_ENDPOINT`"
        )
    );
    assert_eq!(hub.count("/tree/"), 1);
}

#[tokio::test]
async fn a_list_of_ever_more_pages_is_refused() {
    let hub = FakeHub::start().with(FILE, corpus()).endless();
    let error = refused(&hub).await.to_string();
    assert!(error.contains("a list of more than 2000 pages"), "{error}");
    // On a busy machine a request may be sent again.
    let requests = hub.count("/tree/");
    assert!((2000..2010).contains(&requests), "{requests}");
}

#[tokio::test]
async fn descriptions_have_a_size_limit() {
    for part in ["/tree/", "/revision/"] {
        let hub = FakeHub::start().with(FILE, corpus());
        hub.fail(part, Fault::Huge, usize::MAX);
        let error = refused(&hub).await.to_string();
        assert!(error.contains("more than 64 MiB"), "{error}");
        assert_eq!(hub.count(part), 1);
    }
}

#[tokio::test]
async fn redirects_have_a_limit() {
    for part in ["/revision/", "/tree/"] {
        let hub = FakeHub::start().with(FILE, corpus());
        hub.fail(part, Fault::SentOn, 1);
        hub.fail("/round", Fault::SentOn, usize::MAX);
        let error = refused(&hub).await;
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, "it redirects more than 10 times", "{error}");
        assert!(!error.is_transient());
        assert_eq!(hub.count("/round"), 10);
    }
}

#[tokio::test]
async fn a_small_file_is_compared_with_gits_digest() {
    let hub = FakeHub::start().with_small("a.csv", b"id,text\n1,one\n".to_vec());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let globs = ["a.csv".to_owned()];
    let files = client
        .fetch(&repository(), "main", &globs, &())
        .await
        .unwrap();
    assert!(files.warnings.is_empty(), "{:?}", files.warnings);
    // Damage on disk that keeps the size.
    std::fs::write(&files.files[0].local, b"id,text\n1,two\n").unwrap();
    let again = client
        .fetch(&repository(), "main", &globs, &())
        .await
        .unwrap();
    let [HubWarning::Refetched { file, reason }] = &again.warnings[..] else {
        panic!("{:?}", again.warnings);
    };
    assert!(
        file == "a.csv" && reason.starts_with("git's digest "),
        "{reason}"
    );
    assert_eq!(again.files, files.files);
    // Without the list of files, the link's target has the digest.
    std::fs::remove_dir_all(cache.path().join("datasets--owner--name/.evaluations")).unwrap();
    std::fs::write(&files.files[0].local, b"id,text\n1,two\n").unwrap();
    let offline = Hub::new(HubSettings {
        offline: true,
        ..hub.settings(cache.path())
    });
    let damaged = offline
        .fetch(&repository(), "main", &globs, &())
        .await
        .unwrap_err();
    assert!(
        matches!(damaged, HubError::DamagedCache { .. }),
        "{damaged}"
    );
}

#[tokio::test]
async fn files_without_a_digest_give_a_warning() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("datasets--owner--name");
    let snapshot = folder.join("snapshots").join(COMMIT);
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::create_dir_all(folder.join("refs")).unwrap();
    std::fs::write(folder.join("refs/main"), COMMIT).unwrap();
    for name in ["a.csv", "b.csv"] {
        std::fs::write(snapshot.join(name), "id,text\n").unwrap();
    }
    let offline = Hub::new(HubSettings {
        offline: true,
        ..hub.settings(cache.path())
    });
    let globs = ["a.csv".to_owned(), "b.csv".to_owned()];
    let files = offline
        .fetch(&repository(), "main", &globs, &())
        .await
        .unwrap();
    let warnings: Vec<String> = files.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [format!(
            "`a.csv` and 1 more of `owner/name` at {COMMIT} cannot be verified, because no digest is known; it is used as it is"
        )]
    );
}

#[tokio::test]
async fn without_a_home_folder_nothing_is_fetched() {
    let hub = FakeHub::start().with(FILE, corpus());
    let settings = HubSettings {
        endpoint: hub.endpoint(),
        ..HubSettings::from_variables(|_| None)
    };
    for offline in [false, true] {
        let client = Hub::new(HubSettings {
            offline,
            ..settings.clone()
        });
        let globs = [FILE.to_owned()];
        assert!(!client.is_cached(&repository(), "main", &globs));
        let error = client
            .fetch(&repository(), "main", &globs, &())
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no home folder for the hub cache: set `HF_HOME` to a folder of your own"
        );
    }
    assert!(hub.requests().is_empty());
}

#[tokio::test]
async fn a_revision_that_leads_out_of_the_cache_is_refused() {
    let hub = FakeHub::start()
        .with(FILE, corpus())
        .with_revision("../../../x");
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let globs = [FILE.to_owned()];
    for revision in ["../../../x", "/etc/x", "a//b", ""] {
        let error = client
            .fetch(&repository(), revision, &globs, &())
            .await
            .unwrap_err();
        assert!(
            matches!(error, HubError::RevisionNotFound { .. }),
            "{error}"
        );
        assert!(!client.is_cached(&repository(), revision, &globs));
    }
    assert!(hub.requests().is_empty());
}

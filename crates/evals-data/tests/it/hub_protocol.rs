//! The hub's protocol: listings, revisions, tokens and progress.

use std::sync::Mutex;

use evals_data::{
    Catalog, Collection, DataError, DownloadEvent, DownloadObserver, HubError, Manifest, Origin,
    Repository,
};

use crate::fake_hub::{COMMIT, FakeHub, REPO, repository};
use crate::tables::{corpus, parquet};

const CORPUS: &str = "corpus/corpus-00000-of-00001.parquet";

fn globs(patterns: &[&str]) -> Vec<String> {
    patterns
        .iter()
        .map(|pattern| (*pattern).to_owned())
        .collect()
}

#[tokio::test]
async fn a_dataset_comes_from_the_hub_to_documents_and_questions() {
    let hub = FakeHub::start()
        .with(CORPUS, corpus())
        .with(
            "queries/q.parquet",
            parquet(&[("_id", &["q1", "q2"]), ("text", &["first?", "unjudged?"])]),
        )
        .with_small(
            "qrels/test.jsonl",
            b"{\"query-id\":\"q1\",\"corpus-id\":\"d1\",\"score\":1}\n".to_vec(),
        )
        .with("unwanted.bin", vec![0; 1 << 20]);
    let cache = tempfile::tempdir().unwrap();
    let text = format!(
        "name: mine\nsource: {{repo: {REPO}}}\n\
         documents: {{source: {{files: corpus/*.parquet}}, uri: _id, title: title, text: [title, text]}}\n\
         questions: {{source: {{files: queries/*.parquet}}, id: _id, text: text}}\n\
         judgements: {{source: {{files: '**/test*'}}, query: query-id, document: corpus-id, grade: score}}\n"
    );
    let manifest = Manifest::parse(&text, Origin::Memory).unwrap();
    let collection = Collection::resolve(&manifest, &hub.client(cache.path()), &())
        .await
        .unwrap();

    let texts: Vec<String> = collection
        .documents()
        .unwrap()
        .map(|document| document.unwrap().text)
        .collect();
    assert_eq!(texts, ["One first", "second"]);
    let questions = collection.questions().unwrap();
    assert_eq!(
        (questions.questions.len(), questions.counts.unjudged),
        (1, 1)
    );
    let provenance = collection.provenance();
    assert_eq!(provenance.documents.commit.as_deref(), Some(COMMIT));
    assert_eq!(
        provenance
            .files()
            .iter()
            .map(|file| file.path.as_str())
            .collect::<Vec<_>>(),
        [CORPUS, "queries/q.parquet", "qrels/test.jsonl"]
    );
    assert_eq!(
        hub.count("/revision/"),
        1,
        "three tables of one repository resolve it once"
    );
    assert_eq!(hub.count("unwanted"), 0);
}

#[tokio::test]
async fn a_revision_with_slashes_and_a_listing_in_pages_work() {
    let mut hub = FakeHub::start()
        .with_revision("refs/convert/parquet")
        .with_page_size(2);
    for number in 0..5 {
        hub = hub.with(&format!("data/{number}.parquet"), corpus());
    }
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let files = client
        .fetch(
            &repository(),
            "refs/convert/parquet",
            &globs(&["data/*.parquet"]),
            &(),
        )
        .await
        .unwrap();
    assert_eq!(files.files.len(), 5);
    assert_eq!(
        hub.count("/tree/"),
        3,
        "five files and a folder, two on each page"
    );
    assert!(hub.requests().contains(&format!(
        "GET /api/datasets/{REPO}/revision/refs%2Fconvert%2Fparquet"
    )));
    let stored = std::fs::read_to_string(
        cache
            .path()
            .join("datasets--owner--name/refs/refs/convert/parquet"),
    )
    .unwrap();
    assert_eq!(stored, COMMIT);
}

#[tokio::test]
async fn the_token_goes_to_the_hub_and_not_to_its_storage() {
    let hub = FakeHub::start()
        .with(CORPUS, corpus())
        .with_token("hf_secret");
    let cache = tempfile::tempdir().unwrap();
    let wanted = globs(&["corpus/*"]);
    let fetch = |client: evals_data::Hub| {
        let wanted = wanted.clone();
        async move { client.fetch(&repository(), "main", &wanted, &()).await }
    };
    assert!(
        fetch(hub.client_with_token(cache.path(), "hf_secret"))
            .await
            .is_ok()
    );

    let without = fetch(hub.client(cache.path())).await.unwrap_err();
    assert!(matches!(without, HubError::Unauthorized { .. }));
    assert_eq!(
        without.to_string(),
        "the hub asks for a token to read `owner/name`: check the repository's name; if it is private, set `HF_TOKEN` to \
         a token that may read it"
    );
    let wrong = fetch(hub.client_with_token(cache.path(), "hf_other"))
        .await
        .unwrap_err();
    assert!(matches!(wrong, HubError::Forbidden { .. }));
    assert!(
        wrong
            .to_string()
            .starts_with("the hub refuses access to `owner/name`: accept its terms")
    );
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let hub = FakeHub::start().with(CORPUS, corpus());
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let message = |result: Result<_, HubError>| {
        result
            .map(|_: evals_data::HubFiles| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(
            client
                .fetch(
                    &Repository::dataset("owner/other"),
                    "main",
                    &globs(&["*"]),
                    &()
                )
                .await
        ),
        "the hub has no dataset repository `owner/other`: check the name (`source.repo`)"
    );
    assert_eq!(
        message(client.fetch(&repository(), "v9", &globs(&["*"]), &()).await),
        "`owner/name` has no revision `v9`: check `source.revision`"
    );
    assert_eq!(
        message(
            client
                .fetch(
                    &repository(),
                    "main",
                    &globs(&["corpus/*.parquet", "data/*.parquet"]),
                    &()
                )
                .await
        ),
        format!(
            "no file of `owner/name` at `{COMMIT}` matches `data/*.parquet`: check `source.files`; it has `{CORPUS}`"
        )
    );
}

#[tokio::test]
async fn an_unknown_beir_collection_suggests_similar_ones() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let manifest = Catalog::new::<&str>([]).find("beir:scifct").unwrap();
    let error = Collection::resolve(&manifest, &hub.client(cache.path()), &())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot get dataset `beir:scifct`; did you mean `beir:scifact`?"
    );
    let DataError::Hub { source, .. } = error else {
        panic!("{error:?}")
    };
    assert!(matches!(*source, HubError::RepositoryNotFound { .. }));
}

/// Records the events as text.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl DownloadObserver for Recorder {
    fn on_event(&self, event: &DownloadEvent<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

#[tokio::test]
async fn progress_is_reported_to_the_end() {
    let bytes = corpus();
    let total = bytes.len();
    let hub = FakeHub::start().with(CORPUS, bytes);
    let cache = tempfile::tempdir().unwrap();
    let recorder = Recorder::default();
    let client = hub.client(cache.path());
    client
        .fetch(&repository(), "main", &globs(&["corpus/*"]), &recorder)
        .await
        .unwrap();
    let events = recorder.0.lock().unwrap().clone();
    assert_eq!(
        events[0],
        format!("Listed {{ repo: \"{REPO}\", files: 1, bytes: {total} }}")
    );
    assert_eq!(
        events[1],
        format!("Started {{ file: \"{CORPUS}\", total: {total} }}")
    );
    assert_eq!(
        events[events.len() - 2],
        format!("Advanced {{ file: \"{CORPUS}\", done: {total}, total: {total} }}")
    );
    assert_eq!(
        events[events.len() - 1],
        format!("Finished {{ file: \"{CORPUS}\" }}")
    );

    let again = Recorder::default();
    client
        .fetch(&repository(), "main", &globs(&["corpus/*"]), &again)
        .await
        .unwrap();
    assert_eq!(
        again.0.lock().unwrap().len(),
        1,
        "what is cached is listed, and not fetched"
    );
}

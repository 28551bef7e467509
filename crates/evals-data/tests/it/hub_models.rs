//! Model repositories: their addresses, their folder in the cache, and optional files.

use std::path::Path;

use evals_data::{Hub, HubError, HubFiles, HubSettings, HubWarning, Repository};

use crate::fake_hub::{COMMIT, FakeHub, REPO, repository};

/// A repository of sentence-transformers, with files that running the model does not need.
fn hub() -> FakeHub {
    FakeHub::start_with_model()
        .with_small(".gitattributes", b"*.bin filter=lfs".to_vec())
        .with_small("README.md", b"# A model".to_vec())
        .with_small("1_Pooling/config.json", b"{\"pooling\":1}".to_vec())
        .with_small("config.json", b"{\"model_type\":\"bert\"}".to_vec())
        .with_small("modules.json", b"[]".to_vec())
        .with_small("tokenizer.json", b"{\"tokens\":1}".to_vec())
        .with_small("tokenizer_config.json", b"{\"limit\":1}".to_vec())
        .with("model.safetensors", weights(1))
        .with("onnx/model.onnx", vec![2; 4000])
        .with("pytorch_model.bin", vec![3; 3000])
}

fn weights(shard: u8) -> Vec<u8> {
    vec![shard; 2000]
}

fn offline(cache: &Path) -> Hub {
    let mut settings = HubSettings::from_variables(|_| None);
    settings.cache_dir = Some(cache.into());
    settings.offline = true;
    Hub::new(settings)
}

async fn fetch(client: &Hub) -> Result<HubFiles, HubError> {
    client.fetch_model(REPO, "main", &()).await
}

fn names(model: &HubFiles) -> Vec<&str> {
    model.files.iter().map(|file| file.path.as_str()).collect()
}

#[tokio::test]
async fn the_files_of_a_model_are_fetched_into_the_shared_cache() {
    let hub = hub();
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    assert!(!client.is_model_cached(REPO, "main"));
    let model = fetch(&client).await.unwrap();
    assert_eq!(
        names(&model),
        [
            "1_Pooling/config.json",
            "config.json",
            "model.safetensors",
            "modules.json",
            "tokenizer.json",
            "tokenizer_config.json"
        ]
    );
    let snapshots = cache.path().join("models--owner--name/snapshots");
    assert_eq!(
        (model.commit.as_str(), &model.folder),
        (COMMIT, &snapshots.join(COMMIT))
    );
    let stored = std::fs::read(model.folder.join("model.safetensors")).unwrap();
    assert_eq!(stored, weights(1));
    let requests = hub.requests();
    for request in [
        format!("GET /api/models/{REPO}/revision/main"),
        format!("GET /api/models/{REPO}/tree/{COMMIT}"),
        format!("GET /{REPO}/resolve/{COMMIT}/1_Pooling/config.json"),
    ] {
        assert!(requests.contains(&request), "{request} in {requests:?}");
    }
    // hf-hub itself finds the file there without the network.
    let official = hf_hub::Cache::new(cache.path().to_owned());
    let found = official.model(REPO.to_owned()).get("model.safetensors");
    let found = found.unwrap();
    assert_eq!(found, model.folder.join("model.safetensors"));
}

#[tokio::test]
async fn offline_gives_the_cached_model() {
    let hub = hub().with_page_size(3);
    let cache = tempfile::tempdir().unwrap();
    let online = fetch(&hub.client(cache.path())).await.unwrap();
    drop(hub);
    let client = offline(cache.path());
    assert!(client.is_model_cached(REPO, "main"));
    assert_eq!(fetch(&client).await.unwrap(), online);
    std::fs::remove_file(online.folder.join("model.safetensors")).unwrap();
    assert!(!client.is_model_cached(REPO, "main"));
    let message = fetch(&client).await.unwrap_err().to_string();
    assert!(
        message.starts_with(
            "`model.safetensors` is missing for the model repository `owner/name` at `main` in the hub cache `"
        ),
        "{message}"
    );
}

#[tokio::test]
async fn only_configuration_tokenizer_and_weights_are_required() {
    let hub = FakeHub::start_with_model()
        .with_small("config.json", b"{}".to_vec())
        .with_small("tokenizer.json", b"{ }".to_vec())
        .with_small("model.safetensors.index.json", b"{  }".to_vec())
        .with("model-00001-of-00002.safetensors", weights(1))
        .with("model-00002-of-00002.safetensors", weights(2));
    let cache = tempfile::tempdir().unwrap();
    let model = fetch(&hub.client(cache.path())).await.unwrap();
    assert_eq!(
        names(&model),
        [
            "config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json",
            "tokenizer.json"
        ]
    );
}

#[tokio::test]
async fn pytorch_weights_are_fetched_if_there_are_no_others() {
    let cache = tempfile::tempdir().unwrap();
    let hub = FakeHub::start_with_model()
        .with_small("2_Dense/config.json", b"{\"dense\":1}".to_vec())
        .with("2_Dense/pytorch_model.bin", weights(2))
        .with_small("artifact.metadata", b"{\"dim\":1}".to_vec())
        .with_small("config.json", b"{}".to_vec())
        .with_small("tokenizer.json", b"{ }".to_vec())
        .with("pytorch_model.bin", weights(1));
    let client = hub.client(cache.path());
    assert!(!client.is_model_cached(REPO, "main"));
    let expected = [
        "2_Dense/config.json",
        "2_Dense/pytorch_model.bin",
        "artifact.metadata",
        "config.json",
        "pytorch_model.bin",
        "tokenizer.json",
    ];
    assert_eq!(names(&fetch(&client).await.unwrap()), expected);
    assert!(client.is_model_cached(REPO, "main"));
    let model = fetch(&offline(cache.path())).await.unwrap();
    assert_eq!(names(&model), expected, "without the network");
}

#[tokio::test]
async fn a_model_without_known_weights_lists_its_files() {
    let cache = tempfile::tempdir().unwrap();
    let hub = FakeHub::start_with_model()
        .with_small("config.json", b"{}".to_vec())
        .with_small("tokenizer.json", b"{ }".to_vec())
        .with("tf_model.h5", weights(1));
    let error = fetch(&hub.client(cache.path())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the model repository `owner/name` has no weights at `{COMMIT}` (`model.safetensors`, `pytorch_model.bin`, or the \
             shards of either); it has `config.json`, `tf_model.h5`, `tokenizer.json`"
        )
    );
    assert_eq!(hub.count("/resolve/"), 0, "nothing is fetched in vain");

    let hub = FakeHub::start_with_model().with("model.gguf", weights(1));
    let error = fetch(&hub.client(cache.path())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no file of the model repository `owner/name` at `{COMMIT}` matches `config.json`; it has `model.gguf`"
        )
    );
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_named() {
    let hub = hub();
    let cache = tempfile::tempdir().unwrap();
    let client = hub.client(cache.path());
    let message = |result: Result<HubFiles, HubError>| result.unwrap_err().to_string();
    assert_eq!(
        message(client.fetch_model("owner/other", "main", &()).await),
        "the hub has no model repository `owner/other`: check the name"
    );
    assert_eq!(
        message(client.fetch_model(REPO, "v9", &()).await),
        "the model repository `owner/name` has no revision `v9`"
    );
    assert_eq!(
        client
            .fetch(&repository(), "main", &["*".to_owned()], &())
            .await
            .unwrap_err()
            .to_string(),
        "the hub has no dataset repository `owner/name`: check the name (`source.repo`)",
        "a model is no dataset of the same name"
    );
}

#[tokio::test]
async fn a_private_model_asks_for_a_token() {
    let hub = hub().with_token("hf_secret");
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(
        fetch(&hub.client(cache.path()))
            .await
            .unwrap_err()
            .to_string(),
        "the hub asks for a token to read the model repository `owner/name`: check the repository's name; if it is private, \
         set `HF_TOKEN` to a token that may read it"
    );
    let client = hub.client_with_token(cache.path(), "hf_secret");
    assert_eq!(fetch(&client).await.unwrap().files.len(), 6);
}

/// Fills a cache as other clients do, without a list of the commit's files.
fn store(cache: &Path, files: &[&str]) {
    let folder = cache.join("models--owner--name");
    for name in files {
        let path = folder.join("snapshots").join(COMMIT).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    std::fs::create_dir_all(folder.join("refs")).unwrap();
    std::fs::write(folder.join("refs/main"), COMMIT).unwrap();
}

#[tokio::test]
async fn a_cache_that_another_client_filled_serves_if_it_is_complete() {
    let cache = tempfile::tempdir().unwrap();
    let client = offline(cache.path());
    let missing = |error: HubError| {
        let message = error.to_string();
        let (missing, _) = message
            .split_once(" for the model repository `owner/name`")
            .unwrap();
        missing.to_owned()
    };
    assert_eq!(
        missing(fetch(&client).await.unwrap_err()),
        "nothing is cached"
    );
    store(cache.path(), &["config.json", "tokenizer.json"]);
    assert_eq!(
        missing(fetch(&client).await.unwrap_err()),
        "no file matches `{model.safetensors,model-*-of-*.safetensors}`"
    );
    store(cache.path(), &["model-00001-of-00002.safetensors"]);
    assert_eq!(
        missing(fetch(&client).await.unwrap_err()),
        "`model-00002-of-00002.safetensors` is missing"
    );
    store(cache.path(), &["model-00002-of-00002.safetensors"]);
    let model = fetch(&client).await.unwrap();
    assert!(
        matches!(
            &model.warnings[..],
            [HubWarning::Unverified { files: 4, .. }]
        ),
        "the names tell that all are there: {:?}",
        model.warnings
    );
    store(cache.path(), &["1_Pooling/config.json"]);
    let model = fetch(&client).await.unwrap();
    assert!(
        matches!(
            &model.warnings[..],
            [HubWarning::UnlistedCommit { repo, files: 5, .. }, HubWarning::Unverified { .. }]
                if *repo == Repository::model(REPO)
        ),
        "there may be more such files: {:?}",
        model.warnings
    );
}

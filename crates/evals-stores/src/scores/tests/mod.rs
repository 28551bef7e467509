//! Tests of the store of scores and of the reranker in front of it.

mod keys;

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::store::{Prune, RefreshPolicy};
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};

/// A reranker whose scores are made of the lengths of question and text. It remembers what it was asked.
#[derive(Debug)]
struct Lengths {
    identity: ModelIdentity,
    /// The text that it fails at.
    fails: Option<&'static str>,
    asked: Mutex<Vec<String>>,
}

impl Lengths {
    fn new() -> Self {
        Self {
            identity: ModelIdentity::new("scripted", "lengths"),
            fails: None,
            asked: Mutex::default(),
        }
    }

    fn score(query: &str, text: &str) -> f32 {
        let length = u8::try_from(query.len() * 16 + text.len()).unwrap();
        f32::from(length) / 3.0
    }
}

#[async_trait]
impl Reranker for Lengths {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn notes(&self) -> Vec<String> {
        vec!["a note".to_owned()]
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let asked = format!("{query} {repeat}: {}", texts.join(" "));
        self.asked.lock().unwrap().push(asked);
        if texts.iter().any(|text| Some(*text) == self.fails) {
            return Err(RerankError {
                model: self.identity.clone(),
                texts: texts.len(),
                failure: Failure::Transient,
                source: "try again".into(),
            });
        }
        Ok(Reranked {
            scores: texts.iter().map(|text| Self::score(query, text)).collect(),
            usage: Some(Usage {
                input_tokens: 10 * texts.len() as u64 + 1,
                ..Usage::default()
            }),
            service_time: Duration::from_millis(6),
            cached: false,
        })
    }
}

struct Cached {
    model: CachedReranker,
    inner: Arc<Lengths>,
    folder: TempDir,
}

impl Cached {
    async fn before(inner: Lengths) -> Self {
        let (folder, inner) = (tempfile::tempdir().unwrap(), Arc::new(inner));
        let store = open(&folder).await;
        Self {
            model: CachedReranker::new(Arc::clone(&inner) as Arc<dyn Reranker>, store),
            inner,
            folder,
        }
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Reranked {
        self.model.rerank(query, texts, 1).await.unwrap()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.inner.asked.lock().unwrap())
    }
}

async fn open(folder: &TempDir) -> ScoreStore {
    ScoreStore::open(file(folder)).await.unwrap()
}

fn file(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("scores.sqlite")
}

#[tokio::test]
async fn a_text_is_scored_once_for_each_question() {
    let cached = Cached::before(Lengths::new()).await;
    let first = cached.rerank("q", &["a", "bb", "a"]).await;
    let expected = ["a", "bb", "a"].map(|text| Lengths::score("q", text));
    assert_eq!(first.scores, expected);
    assert_eq!(
        (first.cached, first.usage.unwrap().input_tokens),
        (false, 21)
    );
    assert_eq!(cached.asked(), ["q 1: a bb"], "each text once");

    let second = cached.rerank("q", &["bb", "a"]).await;
    assert_eq!(second.scores, [expected[1], expected[0]]);
    assert_eq!(second.service_time, Duration::from_millis(6));
    assert_eq!(
        (second.cached, second.usage.unwrap().input_tokens),
        (true, 21)
    );
    assert_eq!(cached.asked(), Vec::<String>::new());

    let third = cached.rerank("q", &["ccc", "a"]).await;
    assert_eq!(
        (third.cached, third.usage.unwrap().input_tokens),
        (false, 22)
    );
    cached.rerank("other", &["a"]).await;
    cached.model.rerank("q", &["a"], 2).await.unwrap();
    assert_eq!(cached.asked(), ["q 1: ccc", "other 1: a", "q 2: a"]);
    assert_eq!(cached.model.notes(), ["a note"]);
    assert!(cached.rerank("q", &[]).await.scores.is_empty());
}

#[tokio::test]
async fn scores_outlive_the_process_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let ranker = RankerKey::new(&ModelIdentity::new("scripted", "m"), None);
    let key = |text: &str| ranker.of("q", text, 1);
    let stored = |bits: u32, input_tokens| StoredScore {
        score: f32::from_bits(bits),
        took: Duration::from_nanos(7),
        input_tokens,
    };
    // The least number, a negative zero, and one without a short decimal form.
    let scores = [(1, None), (0x8000_0000, Some(0)), (0x3eaa_aaab, Some(9))];
    let scores = scores.map(|(bits, tokens)| stored(bits, tokens));
    let keys = ["a", "b", "c"].map(key);
    let store = open(&folder).await;
    let pairs = keys.into_iter().zip(scores).collect();
    store.put_all("scripted:m", pairs).await.unwrap();
    drop(store);
    let store = open(&folder).await;
    let found = store.get_all(keys.to_vec()).await.unwrap();
    for (found, stored) in found.into_iter().zip(scores) {
        let found = found.unwrap();
        assert_eq!(found.score.to_bits(), stored.score.to_bits());
        assert_eq!(found, stored);
    }
    assert_eq!(store.get_all(vec![key("d")]).await.unwrap(), [None]);
}

#[tokio::test]
async fn the_scores_of_a_batch_are_stored_even_if_another_fails() {
    let mut lengths = Lengths::new();
    lengths.fails = Some("dd");
    let cached = Cached::before(lengths).await;
    let two = NonZeroUsize::new(2).unwrap();
    let model = cached.model.in_batches(two);
    let failed = model.rerank("q", &["a", "bb", "ccc", "dd", "e"], 1).await;
    assert_eq!(failed.unwrap_err().failure, Failure::Transient);
    let asked = std::mem::take(&mut *cached.inner.asked.lock().unwrap());
    assert_eq!(asked, ["q 1: a bb", "q 1: ccc dd", "q 1: e"]);
    let rest = model
        .rerank("q", &["a", "bb", "e", "ccc"], 1)
        .await
        .unwrap();
    assert!(!rest.cached);
    assert_eq!(*cached.inner.asked.lock().unwrap(), ["q 1: ccc"]);
}

#[tokio::test]
async fn a_changed_score_is_noticed_and_asked_for_again() {
    let cached = Cached::before(Lengths::new()).await;
    cached.rerank("q", &["a", "bb"]).await;
    cached.asked();
    let connection = Connection::open(file(&cached.folder)).unwrap();
    let change = "UPDATE scores SET score = x'00000000' WHERE rowid = 1";
    assert_eq!(connection.execute(change, []).unwrap(), 1);
    let again = cached.rerank("q", &["a", "bb"]).await;
    let expected = ["a", "bb"].map(|text| Lengths::score("q", text));
    assert_eq!(again.scores, expected);
    assert_eq!(cached.asked().len(), 1);
}

#[tokio::test]
async fn a_refresh_asks_again_and_places_are_stored_apart() {
    let cached = Cached::before(Lengths::new()).await;
    cached.rerank("q", &["a"]).await;
    let of = |store| CachedReranker::new(Arc::clone(&cached.inner) as Arc<dyn Reranker>, store);
    let refreshing = of(open(&cached.folder).await).with_policy(RefreshPolicy::Refresh);
    refreshing.rerank("q", &["a"], 1).await.unwrap();
    let elsewhere = of(open(&cached.folder).await)
        .at("http://localhost:1")
        .labelled("elsewhere");
    elsewhere.rerank("q", &["a"], 1).await.unwrap();
    assert_eq!(cached.asked().len(), 3);
    let store = open(&cached.folder).await;
    let statistics = store.statistics().await.unwrap();
    assert_eq!(statistics.entries, 2);
    assert_eq!(statistics.models["elsewhere"].entries, 1);
    let pruned = store
        .prune(Prune::Model("elsewhere".to_owned()))
        .await
        .unwrap();
    assert_eq!(pruned.entries, 1);
    assert!(cached.rerank("q", &["a"]).await.cached);
}

#[tokio::test]
async fn no_more_scores_are_requested_once_they_cannot_be_stored() {
    let cached = Cached::before(Lengths::new()).await;
    let connection = Connection::open(file(&cached.folder)).unwrap();
    connection.execute("DROP TABLE scores", []).unwrap();
    connection
        .execute(
            "CREATE TABLE scores (key BLOB, nanoseconds, input_tokens, score, digest)",
            [],
        )
        .unwrap();
    let first = cached.rerank("q", &["a"]).await;
    assert_eq!(first.scores.len(), 1, "what was paid for is used");
    let second = cached.model.rerank("q", &["bb"], 1).await.unwrap_err();
    assert_eq!(second.failure, Failure::Terminal);
    let source: &(dyn Error + 'static) = second.source.as_ref();
    assert!(
        source
            .to_string()
            .starts_with("no more scores are requested"),
        "{source}"
    );
    assert_eq!(cached.asked(), ["q 1: a"]);
}

/// The table as the first version created it.
const TABLE: &str = "CREATE TABLE scores (key BLOB NOT NULL UNIQUE, model TEXT NOT NULL, stored_at INTEGER NOT NULL, \
    nanoseconds INTEGER NOT NULL, input_tokens INTEGER, score BLOB NOT NULL, digest BLOB NOT NULL) STRICT";

#[tokio::test]
async fn a_file_of_the_first_version_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(&folder)).unwrap();
    let pragmas = "PRAGMA application_id = 0x45765363; PRAGMA user_version = 1";
    connection
        .execute_batch(&format!("{TABLE}; {pragmas}"))
        .unwrap();
    let ranker = RankerKey::new(&ModelIdentity::new("scripted", "m"), None);
    let score = [0, 0, 0x20, 0xc0];
    let rows = [("a", None), ("b", Some(9_i64))];
    for (text, tokens) in rows {
        let key = ranker.of("q", text, 1);
        let digest = Sha256::new()
            .chain_update(key)
            .chain_update(7_i64.to_le_bytes())
            .chain_update(tokens.unwrap_or(-1).to_le_bytes())
            .chain_update(score);
        connection
            .execute(
                "INSERT INTO scores (key, model, stored_at, nanoseconds, input_tokens, score, digest)
                 VALUES (?1, 'm', 0, 7, ?2, ?3, ?4)",
                params![key.as_ref(), tokens, score, digest.finalize().as_slice()],
            )
            .unwrap();
    }
    let keys = rows.map(|(text, _)| ranker.of("q", text, 1));
    let found = open(&folder).await.get_all(keys.to_vec()).await.unwrap();
    let stored = |input_tokens| {
        Some(StoredScore {
            score: -2.5,
            took: Duration::from_nanos(7),
            input_tokens,
        })
    };
    assert_eq!(found, [stored(None), stored(Some(9))]);
}

#[tokio::test]
async fn a_new_file_has_the_table_of_the_first_version() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder).await);
    let connection = Connection::open(file(&folder)).unwrap();
    let schema: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(schema, TABLE);
}

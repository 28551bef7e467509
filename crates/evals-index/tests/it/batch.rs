//! Searching many questions at once finds what searching each finds, to the bit.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use evals_index::{
    BatchObserver, BatchProgress, BatchStage, CachePolicy, Index, Profile, QuestionBatch, Recipe,
    SearchOptions, Unobserved,
};
use evals_models::{EmbedError, Embedder, Embeddings, Failure, ModelIdentity, TextKind};
use evals_rag::{Document, Retrieved};

use crate::corpus::{Fixture, chain, chunks_of, document, embedded, generated, lexical};

/// A model whose vectors crowd: most differ from one of a few directions only in the last bits of a few components, and their lengths
/// range over thirty orders of magnitude.
#[derive(Debug)]
struct Crowded {
    identity: ModelIdentity,
    dimension: usize,
    asked: AtomicUsize,
}

impl Crowded {
    fn new(dimension: usize) -> Arc<Self> {
        Arc::new(Self {
            identity: ModelIdentity::new("test", "crowded"),
            dimension,
            asked: AtomicUsize::new(0),
        })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
        let direction = next(4);
        let wave = |at: usize| {
            let angle = f64::from(u32::try_from((direction + 1) * (at + 3)).unwrap());
            #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
            let value = (angle.sin() + 0.1) as f32;
            value
        };
        let mut vector: Vec<f32> = (0..self.dimension).map(wave).collect();
        for _ in 0..next(4) {
            let component = &mut vector[next(self.dimension)];
            *component = component.next_up();
        }
        let scale = [1.0, 1.0, 1.0, 1e-14, 1e-3, 1e15][next(6)];
        vector.iter().map(|value| value * scale).collect()
    }
}

#[async_trait]
impl Embedder for Crowded {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        if kind == TextKind::Query {
            self.asked.fetch_add(texts.len(), Ordering::Relaxed);
            if let Some(failure) = failure(texts[0]) {
                return Err(EmbedError::Model {
                    model: self.identity.clone(),
                    texts: 1,
                    failure,
                    source: "no".into(),
                });
            }
        }
        Ok(Embeddings::of_each(self.dimension, texts, |text| {
            self.vector(text)
        })?)
    }
}

fn failure(question: &str) -> Option<Failure> {
    match question {
        "refused" => Some(Failure::Content),
        "down" => Some(Failure::Terminal),
        _ => None,
    }
}

fn batch(questions: &[&str], k: usize) -> QuestionBatch {
    QuestionBatch {
        questions: questions.iter().map(|it| (*it).to_owned()).collect(),
        k,
        timed: HashSet::new(),
        concurrency: NonZeroUsize::new(3).unwrap(),
    }
}

const QUESTIONS: [&str; 9] = [
    "amber fjord",
    "kelp",
    "a quite different question",
    "",
    " ",
    "indigo garnet kelp dune amber",
    "kelp",
    "ember ember ember",
    "what is cobalt?",
];

/// Documents and passages, with the bits of their scores.
fn bits(retrieved: &Retrieved) -> Vec<String> {
    let ranking = retrieved.ranking.iter();
    let ranking = ranking.map(|it| format!("{} {:x}", it.id, it.score.to_bits()));
    let passages = retrieved.passages.iter().map(|it| {
        let bits = it.score.to_bits();
        format!("{} {} {bits:x} {}", it.document, it.ordinal, it.text)
    });
    ranking.chain(passages).collect()
}

/// Compares a batch with the searches of its questions, for every profile.
async fn agree(index: &Index, profiles: &[Profile], options: &SearchOptions, k: usize) {
    for &profile in profiles {
        let alone = index.searcher(profile, options).await.unwrap();
        let questions = batch(&QUESTIONS, k);
        let together = index.batch_searcher(profile, options, questions, Arc::new(Unobserved));
        let together = together.await.unwrap();
        assert_eq!(together.profile(), profile.to_string());
        for question in QUESTIONS {
            let expected = alone.search(question, k).await.unwrap();
            let found = together.search(question, k).await.unwrap();
            assert_eq!(found.in_batch, profile != Profile::Unranked);
            assert!(!expected.in_batch);
            assert_eq!(bits(&found), bits(&expected), "{profile}: {question}, {k}");
        }
    }
}

fn both_policies() -> [SearchOptions; 2] {
    [CachePolicy::Fresh, CachePolicy::Shared].map(|cache| SearchOptions {
        cache,
        ..SearchOptions::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_profile_finds_the_same_with_many_ties() {
    let fixture = Fixture::new(&embedded(), generated(700)).await;
    for options in both_policies() {
        for k in [1, 10, 700, 5_000] {
            agree(&fixture.index, &Profile::all(), &options, k).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_that_differ_in_the_last_bits_keep_their_order() {
    for dimension in [3, 8, 16, 31, 384] {
        let recipe = lexical().with_embedder(Crowded::new(dimension));
        let fixture = Fixture::new(&recipe, generated(900)).await;
        for options in both_policies() {
            for k in [1, 7, 100] {
                agree(&fixture.index, &[Profile::Semantic], &options, k).await;
            }
        }
    }
}

/// Documents of many chunks, so that the first attempt finds too few documents.
fn long_documents() -> Vec<Document> {
    let text = |number: usize| {
        let words = generated(90);
        let words = words.iter().map(|document| document.text.as_str());
        words.skip(number % 30).collect::<Vec<_>>().join(" ")
    };
    let mut documents: Vec<_> = (0..40)
        .map(|number| document(&format!("long{number}"), &text(number)))
        .collect();
    documents.push(document("empty", ""));
    documents.push(document("short", "kelp"));
    documents
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_go_deeper_until_they_find_enough_documents() {
    let recipe = Recipe::new("test", chunks_of(5)).with_embedder(Crowded::new(16));
    let fixture = Fixture::new(&recipe, long_documents()).await;
    let candidates = NonZeroUsize::new(8).unwrap();
    for options in both_policies() {
        let options = SearchOptions {
            candidates,
            passages: 7,
            best_of: 3,
            ..options
        };
        for k in [1, 5, 41] {
            agree(&fixture.index, &Profile::all(), &options, k).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_restricts_every_search() {
    let recipe = Recipe::new("test", chunks_of(5)).with_embedder(Crowded::new(16));
    let fixture = Fixture::new(&recipe, long_documents()).await;
    let options = SearchOptions {
        filter: Some("uri LIKE 'long1%' OR title = 'Title of short'".to_owned()),
        ..SearchOptions::default()
    };
    agree(&fixture.index, &Profile::all(), &options, 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timed_question_is_searched_by_the_engine_and_embedded_once() {
    let model = Crowded::new(16);
    let recipe = lexical().with_embedder(Arc::clone(&model) as Arc<dyn Embedder>);
    let fixture = Fixture::new(&recipe, generated(100)).await;
    for options in both_policies() {
        let before = model.asked.load(Ordering::Relaxed);
        let mut questions = batch(&["amber", "kelp", "dune"], 5);
        questions.timed.insert("kelp".to_owned());
        let profile = "hybrid".parse().unwrap();
        let searcher =
            fixture
                .index
                .batch_searcher(profile, &options, questions, Arc::new(Unobserved));
        let searcher = searcher.await.unwrap();
        let stages = |retrieved: &Retrieved| -> Vec<String> {
            let timings = retrieved.timings.iter().filter(|timing| !timing.cached);
            timings.map(|timing| timing.stage.clone()).collect()
        };
        let timed = searcher.search("kelp", 5).await.unwrap();
        assert_eq!(stages(&timed), ["embed", "bm25", "semantic", "fuse"]);
        assert!(!timed.in_batch);
        let other = searcher.search("amber", 5).await.unwrap();
        assert_eq!(stages(&other), ["embed"]);
        assert!(other.in_batch);
        assert_eq!(model.asked.load(Ordering::Relaxed) - before, 3);
        // The cache of the index has every result except the search of the timed question.
        if options.cache == CachePolicy::Shared {
            let next = fixture.index.searcher(Profile::Bm25, &options).await;
            let next = next.unwrap().search("dune", 5).await.unwrap();
            assert!(next.timings.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_another_kind_is_searched_on_its_own() {
    let fixture = Fixture::new(&embedded(), generated(50)).await;
    let options = SearchOptions::default();
    let questions = batch(&["amber"], 5);
    let searcher =
        fixture
            .index
            .batch_searcher(Profile::Semantic, &options, questions, Arc::new(Unobserved));
    let searcher = searcher.await.unwrap();
    assert!(!searcher.search("kelp", 5).await.unwrap().in_batch);
    assert!(!searcher.search("amber", 6).await.unwrap().in_batch);
    assert_eq!(searcher.search("amber", 6).await.unwrap().ranking.len(), 6);
    let nothing = batch(&[], 5);
    let searcher =
        fixture
            .index
            .batch_searcher(Profile::Semantic, &options, nothing, Arc::new(Unobserved));
    assert!(searcher.await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_cannot_be_embedded_fails_alone() {
    let model = Crowded::new(16);
    let recipe = lexical().with_embedder(Arc::clone(&model) as Arc<dyn Embedder>);
    let fixture = Fixture::new(&recipe, generated(50)).await;
    let options = SearchOptions {
        cache: CachePolicy::Fresh,
        ..SearchOptions::default()
    };
    let questions = batch(&["amber", "refused", "kelp"], 5);
    let searcher =
        fixture
            .index
            .batch_searcher(Profile::Semantic, &options, questions, Arc::new(Unobserved));
    let searcher = searcher.await.unwrap();
    let error = searcher.search("refused", 5).await.unwrap_err();
    assert!(chain(&error).starts_with("cannot embed the question `refused`"));
    assert!(searcher.search("kelp", 5).await.unwrap().in_batch);

    // A model that is down is not asked for the others.
    let before = model.asked.load(Ordering::Relaxed);
    let mut texts = vec!["down"];
    let others: Vec<String> = (0..40).map(|number| format!("question {number}")).collect();
    texts.extend(others.iter().map(String::as_str));
    let questions = batch(&texts, 5);
    let searcher =
        fixture
            .index
            .batch_searcher(Profile::Semantic, &options, questions, Arc::new(Unobserved));
    let searcher = searcher.await.unwrap();
    assert!(model.asked.load(Ordering::Relaxed) - before < 10);
    assert!(!searcher.search("question 30", 5).await.unwrap().in_batch);
    assert!(searcher.search("down", 5).await.is_err());
}

#[derive(Debug, Default)]
struct Recorded(Mutex<Vec<BatchProgress>>);

impl BatchObserver for Recorded {
    fn on_progress(&self, progress: BatchProgress) {
        self.0.lock().unwrap().push(progress);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_ends_with_every_question() {
    let fixture = Fixture::new(&embedded(), generated(300)).await;
    let recorded = Arc::new(Recorded::default());
    let options = SearchOptions::default();
    let questions = batch(&["amber", "kelp", "dune", "kelp"], 5);
    let observer = Arc::clone(&recorded) as Arc<dyn BatchObserver>;
    let hybrid = "hybrid".parse().unwrap();
    let searcher = fixture
        .index
        .batch_searcher(hybrid, &options, questions, observer);
    let searcher = searcher.await.unwrap();
    searcher.search("kelp", 5).await.unwrap();
    let recorded = recorded.0.lock().unwrap();
    let of = |stage| recorded.iter().rfind(|it| it.stage == stage).unwrap();
    let ends = [
        BatchStage::Embedding,
        BatchStage::Vectors,
        BatchStage::Ranking,
    ];
    let ends = ends.map(|stage| (of(stage).done, of(stage).total));
    assert_eq!(ends, [(3, 3), (300, 300), (3, 3)]);
    assert_eq!(recorded.last().unwrap().questions, 3);
    assert_eq!(recorded.last().unwrap().searched, 3);
}

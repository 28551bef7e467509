//! Time and memory of an index of generated documents, stage by stage:
//! `cargo bench -p evals-index --bench scale -- [CHUNKS [QUESTIONS [DIMENSIONS]]]`. `scripts/bench-scale` runs it for several sizes, beside
//! other tools.
//!
//! Documents are of one chunk, of about 100 words that follow Zipf's law; vectors are seeded by the text. Each line of the output is one
//! stage as JSON: its name, its seconds, and the most memory that the process had in it. Documents and vectors are generated while they are
//! indexed, so that this is part of the time.

use std::collections::HashSet;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs, process};

use async_trait::async_trait;
use evals_index::{
    BuildOptions, CachePolicy, Chunker, Index, Profile, QuestionBatch, Recipe, SearchOptions,
    Store, Unobserved,
};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};
use evals_rag::Document;
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

/// The allocator of the program. The system's allocator keeps a pool of memory for each thread, which raises the peak by a third.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SEED: u64 = 7;
/// Different words.
const VOCABULARY: usize = 100_000;
/// Documents in each ranking.
const K: usize = 100;
/// Questions whose searches are timed one by one.
const ALONE: usize = 20;

/// A model that seeds a generator with the text.
#[derive(Debug)]
struct Seeded {
    identity: ModelIdentity,
    dimension: usize,
}

#[async_trait]
impl Embedder for Seeded {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], _kind: TextKind) -> Result<Embeddings, EmbedError> {
        let embeddings = Embeddings::of_each(self.dimension, texts, |text| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let mut random = fastrand::Rng::with_seed(hasher.finish());
            // About normally distributed, so that directions are uniform.
            let value = move || (0..4).map(|_| random.f32()).sum::<f32>() - 2.0;
            std::iter::repeat_with(value).take(self.dimension)
        });
        Ok(embeddings?)
    }
}

/// Draws words by Zipf's law: the word of rank r is r times as rare as the first.
#[derive(Debug)]
struct Words {
    sums: Vec<f64>,
}

impl Words {
    fn new() -> Self {
        let ranks = 1..=u32::try_from(VOCABULARY).expect("it is small");
        let sums = ranks.scan(0.0, |sum, rank| {
            *sum += 1.0 / f64::from(rank);
            Some(*sum)
        });
        let sums = sums.collect();
        Self { sums }
    }

    fn text(&self, random: &mut fastrand::Rng, count: usize) -> String {
        let most = self.sums[VOCABULARY - 1];
        let mut text = String::with_capacity(count * 7);
        for _ in 0..count {
            let drawn = random.f64() * most;
            push_word(&mut text, self.sums.partition_point(|sum| *sum < drawn));
            text.push(' ');
        }
        text
    }
}

/// A word of syllables that no stemmer shortens and no list of stop words has.
fn push_word(text: &mut String, mut rank: usize) {
    loop {
        text.push(char::from(b"bdfgklmnprtvz"[rank % 13]));
        rank /= 13;
        text.push(char::from(b"aiou"[rank % 4]));
        rank /= 4;
        if rank == 0 {
            break;
        }
    }
    text.push('x');
}

fn documents(count: usize) -> impl Iterator<Item = Result<Document, Infallible>> + Send {
    let words = Words::new();
    let mut random = fastrand::Rng::with_seed(SEED);
    (0..count).map(move |number| {
        let length = random.usize(50..=150);
        Ok(Document {
            uri: format!("document-{number}"),
            title: None,
            text: words.text(&mut random, length),
            metadata: serde_json::Map::new(),
        })
    })
}

fn questions(count: usize) -> Vec<String> {
    let words = Words::new();
    let mut random = fastrand::Rng::with_seed(SEED + 1);
    let mut question = || {
        let length = random.usize(4..=12);
        words.text(&mut random, length)
    };
    (0..count).map(|_| question()).collect()
}

/// Runs a stage and prints it.
async fn stage<T>(name: &str, work: impl Future<Output = T>) -> T {
    // Writing 5 resets the peak of the process.
    let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
    let started = Instant::now();
    let result = work.await;
    let seconds = started.elapsed().as_secs_f64();
    print(&serde_json::json!({
        "stage": name, "seconds": seconds, "peak_mb": if is_reset { peak() } else { None },
    }));
    result
}

/// The most memory since the last reset, in megabytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1000)
}

#[expect(clippy::print_stdout, reason = "the result of a benchmark")]
fn print(line: &serde_json::Value) {
    println!("{line}");
}

/// Starts itself again with the engine's environment, as the program does.
fn main() {
    let variables = evals_index::environment();
    if variables.is_empty() {
        return measure();
    }
    let program = env::current_exe().expect("the system names the program");
    let arguments = env::args_os().skip(1);
    let status = Command::new(program)
        .args(arguments)
        .envs(variables)
        .status();
    let status = status.expect("the program starts");
    process::exit(status.code().unwrap_or(1));
}

#[tokio::main]
async fn measure() {
    let numbers: Vec<usize> = env::args().filter_map(|it| it.parse().ok()).collect();
    let number = |place: usize, usual| numbers.get(place).copied().unwrap_or(usual);
    let (chunks, asked, dimension) = (number(0, 10_000), number(1, 1_000), number(2, 384));
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let uri = folder.path().to_str().expect("the path is UTF-8");
    let store = Store::open(uri).await.expect("the folder exists");
    let recipe =
        Recipe::new("generated", Chunker::whole_documents()).with_embedder(Arc::new(Seeded {
            identity: ModelIdentity::new("bench", "seeded"),
            dimension,
        }));
    let options = BuildOptions::default();
    let build = Index::build(&store, &recipe, documents(chunks), &options, &Unobserved);
    let built = stage("index", build).await.expect("the index is built");
    let report = built.report.expect("the folder was empty");
    print(&serde_json::json!({
        "stage": "index: full text", "seconds": report.full_text.as_secs_f64(), "peak_mb": null,
    }));
    drop(built.index);
    let open = Index::open(&store, &recipe);
    let index = stage("open", open).await.expect("it was just built");
    let size = index.statistics().await.expect("the index is open").bytes;
    print(&serde_json::json!({"stage": "bytes", "bytes": size}));
    let batch = QuestionBatch {
        questions: questions(asked),
        k: K,
        timed: HashSet::new(),
        concurrency: NonZeroUsize::new(4).expect("4 is not 0"),
    };
    let options = SearchOptions {
        cache: CachePolicy::Fresh,
        ..SearchOptions::default()
    };
    for profile in [Profile::Semantic, Profile::Bm25] {
        let searcher = index.searcher(profile, &options).await.expect("it has all");
        let alone = async {
            for question in batch.questions.iter().take(ALONE) {
                searcher
                    .search(question, K)
                    .await
                    .expect("the index is sound");
            }
        };
        stage(&format!("{profile}, {ALONE} one by one"), alone).await;
        let name = format!("{profile}, {asked} questions");
        stage(&name, all(&index, profile, &options, &batch)).await;
    }
    let hybrid = "hybrid".parse().expect("it is a profile");
    let name = format!("{hybrid}, {asked} questions");
    stage(&name, all(&index, hybrid, &options, &batch)).await;
}

/// Searches every question, as a benchmark does.
async fn all(index: &Index, profile: Profile, options: &SearchOptions, batch: &QuestionBatch) {
    let searcher = index.batch_searcher(profile, options, batch.clone(), Arc::new(Unobserved));
    let searcher = searcher.await.expect("the index has all");
    let mut searches: Vec<BoxFuture<'_, _>> = Vec::new();
    for question in &batch.questions {
        searches.push(searcher.search(question, K));
    }
    let found = stream::iter(searches).buffer_unordered(batch.concurrency.get());
    let found: Vec<_> = found.try_collect().await.expect("the index is sound");
    assert!(found.iter().all(|found| found.ranking.len() <= K));
}

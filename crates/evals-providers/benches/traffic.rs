//! The cost of the traffic layer and of the store of replies: 1,000 calls to a model that answers in 200 ms, 32 at once.
//!
//! It prints the wall time against the ideal (calls x 0.2 s / 32), the processor time of a call, and the most memory used; then
//! the same with all replies stored, and the store alone. The model lives in this process, so that HTTP is not part of it.
//! Processor time and memory come from `/proc`, and are unknown where there is none.

use std::error::Error;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, Finish, Message, ModelIdentity, Served, Usage,
};
use evals_providers::{Traffic, TrafficSettings};
use evals_stores::replies::{CachedChat, ReplyStore, reply_key};
use evals_stores::store::EntryKey;
use serde_json::{Map, Value};
use tokio::task::JoinSet;

const SERVICE_TIME: Duration = Duration::from_millis(200);
const CONCURRENCY: u32 = 32;
/// Five passages of some 1,600 letters each.
const PROMPT_BYTES: usize = 8_000;
/// The kernel counts processor time in hundredths of a second wherever Linux runs today.
const TICKS_PER_SECOND: f64 = 100.0;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // `cargo bench` says so; anything else only wants to know whether it runs.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let calls = if measuring { 1_000 } else { 2 * CONCURRENCY };
    let folder = Folder::new()?;
    let store = ReplyStore::open(folder.0.join("replies.sqlite")).await?;
    let settings = TrafficSettings {
        max_concurrency: NonZeroUsize::new(CONCURRENCY as usize),
        ..TrafficSettings::default()
    };
    let model = Arc::new(Slow {
        identity: ModelIdentity::new("bench", "slow"),
        traffic: Traffic::new("in process", settings),
    });
    let cached: Arc<dyn ChatModel> = Arc::new(CachedChat::new(model.clone(), store.clone()));

    let asked = Span::measure(ask(&cached, calls)).await;
    report("asked", calls, &asked)?;
    let ideal = SERVICE_TIME * calls / CONCURRENCY;
    let rounds = calls.div_ceil(CONCURRENCY);
    let whole_rounds = SERVICE_TIME * rounds;
    line(format_args!(
        "        {:.3} of the ideal {ideal:?}; {rounds} whole rounds take {whole_rounds:?}; {:?}",
        asked.wall.as_secs_f64() / ideal.as_secs_f64(),
        model.traffic.statistics(),
    ))?;
    report("stored", calls, &Span::measure(ask(&cached, calls)).await)?;
    measure_store(&store, model.as_ref(), calls).await?;
    line(format_args!("most memory: {}", most_memory()))
}

/// The store alone, one access after the other.
async fn measure_store(
    store: &ReplyStore,
    model: &dyn ChatModel,
    accesses: u32,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let keys: Vec<EntryKey> = (0..accesses)
        .map(|number| reply_key(model, &request(accesses + number)))
        .collect();
    let writing = async {
        for key in &keys {
            store.put(*key, model.identity(), reply()).await?;
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    };
    let written = Span::measure(writing).await;
    report("written", accesses, &written)?;
    let reading = async {
        let mut found = 0;
        for key in &keys {
            found += u32::from(store.get(*key).await?.is_some());
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(found)
    };
    let read = Span::measure(reading).await;
    report("read", accesses, &read)?;
    written.value?;
    match read.value? {
        found if found == accesses => Ok(()),
        found => Err(format!("{found} of {accesses} replies were found again").into()),
    }
}

/// Asks that many questions, as many at once as the traffic lets through.
async fn ask(model: &Arc<dyn ChatModel>, calls: u32) -> u32 {
    let next = Arc::new(AtomicU32::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..CONCURRENCY {
        let (model, next) = (Arc::clone(model), Arc::clone(&next));
        workers.spawn(async move {
            let mut answered = 0;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    break answered;
                }
                answered += u32::from(model.chat(&request(number)).await.is_ok());
            }
        });
    }
    workers.join_all().await.into_iter().sum()
}

/// A model that takes its time and no processor.
#[derive(Debug)]
struct Slow {
    identity: ModelIdentity,
    traffic: Traffic,
}

#[async_trait]
impl ChatModel for Slow {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn chat(&self, _request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let delivered = self.traffic.call(2_000, || async {
            tokio::time::sleep(SERVICE_TIME).await;
            Ok(reply())
        });
        match delivered.await {
            Ok(delivered) => Ok(delivered.value),
            Err(failure) => Err(ChatError {
                model: self.identity.clone(),
                failure: failure.failure,
                source: Box::new(failure.source),
            }),
        }
    }
}

fn request(number: u32) -> ChatRequest {
    let passages = format!("{number} words and words ").repeat(PROMPT_BYTES / 20);
    ChatRequest::new(vec![
        Message::system("Answer from the passages."),
        Message::user(passages),
    ])
}

fn reply() -> ChatReply {
    ChatReply {
        text: "An answer of a few sentences. ".repeat(20),
        tool_calls: Vec::new(),
        reasoning: None,
        finish: Finish::Stop,
        usage: Usage {
            input_tokens: 2_000,
            output_tokens: 150,
            estimated: false,
        },
        served: Served {
            service_time: SERVICE_TIME,
            attempts: 1,
            cached: false,
            batched: false,
        },
    }
}

/// The result of some work, and the time that it took.
struct Span<T> {
    wall: Duration,
    processor: Option<Duration>,
    value: T,
}

impl<T> Span<T> {
    async fn measure(work: impl Future<Output = T>) -> Self {
        let (started, before) = (Instant::now(), processor_time());
        let value = work.await;
        Self {
            wall: started.elapsed(),
            processor: before
                .zip(processor_time())
                .map(|(before, after)| after.saturating_sub(before)),
            value,
        }
    }
}

fn report<T>(what: &str, number: u32, span: &Span<T>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let each = span.processor.map_or("unknown".to_owned(), |time| {
        format!("{:.3} ms", time.as_secs_f64() * 1e3 / f64::from(number))
    });
    line(format_args!(
        "{what:<8}{number} in {:.3} s, {:.0} a second, processor time of each: {each}",
        span.wall.as_secs_f64(),
        f64::from(number) / span.wall.as_secs_f64(),
    ))
}

fn line(text: std::fmt::Arguments<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Processor time of all threads, in user and in system mode: fields 14 and 15 of `proc_pid_stat(5)`.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets, which may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some(Duration::from_secs_f64(
        (ticks(14)? + ticks(15)?) / TICKS_PER_SECOND,
    ))
}

fn most_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("unknown", str::trim).to_owned()
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let name = format!("evals-models-bench-{}", std::process::id());
        let path: &Path = &std::env::temp_dir().join(name);
        std::fs::create_dir(path)?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

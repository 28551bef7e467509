//! Chat requests that go in batches, and batches that go wrong.

mod direct;
mod faults;
mod processes;
mod reserved;
mod resumed;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Message};
use evals_providers::{BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat, OpenAiChat};
use evals_stores::replies::{ReplyStore, is_worth_storing, reply_key};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::scripted_server::Received;
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};
use crate::{KEY, chain, chat_settings, server_with_key, traffic};

/// A folder that is deleted at the end of a test.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("evals-batches-{:016x}", fastrand::u64(..));
        Self(std::env::temp_dir().join(name))
    }

    /// The files of batches.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        files
            .filter(|path| !path.ends_with("batches.lock"))
            .collect()
    }

    /// The records of batches.
    fn records(&self) -> Vec<PathBuf> {
        let is_record = |path: &PathBuf| path.to_string_lossy().ends_with(".batch.jsonl");
        self.files().into_iter().filter(is_record).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program that takes notes, and allows batches of so many requests.
#[derive(Debug)]
struct Notes {
    most: usize,
    under_way: AtomicUsize,
    /// How often a batch was considered.
    considered: AtomicUsize,
    /// The requests of batches whose cost is reserved.
    reserved: AtomicUsize,
    /// The most requests with reserved costs at one time.
    peak: AtomicUsize,
    /// The tokens of replies that were paid for.
    paid: AtomicU64,
    /// Whether replies cannot be stored.
    is_full: AtomicBool,
    lines: std::sync::Mutex<Vec<String>>,
    /// Where processes store replies.
    store: Option<ReplyStore>,
}

impl Notes {
    fn new() -> Arc<Self> {
        Self::allowing(usize::MAX)
    }

    fn allowing(most: usize) -> Arc<Self> {
        Arc::new(Self::of(most, None))
    }

    fn of(most: usize, store: Option<ReplyStore>) -> Self {
        Self {
            most,
            under_way: AtomicUsize::new(0),
            considered: AtomicUsize::new(0),
            reserved: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            paid: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            lines: std::sync::Mutex::default(),
            store,
        }
    }

    /// A program with a store of replies.
    fn storing(store: &ReplyStore) -> Arc<Self> {
        Arc::new(Self::of(usize::MAX, Some(store.clone())))
    }

    /// A program with a store of replies, where something is under way.
    fn busy(store: &ReplyStore) -> Arc<Self> {
        let notes = Self::of(usize::MAX, Some(store.clone()));
        notes.under_way.store(1, Ordering::SeqCst);
        Arc::new(notes)
    }

    /// Waits until a batch was considered so often.
    async fn considered(&self, times: usize) {
        let is_considered = || self.considered.load(Ordering::SeqCst) >= times;
        until("a batch was considered", is_considered).await;
    }

    /// Waits until the cost of so many requests is reserved.
    async fn reserves(&self, requests: usize) {
        let is_reserved = || self.reserved.load(Ordering::SeqCst) == requests;
        until(&format!("{requests} reserved"), is_reserved).await;
    }

    fn text(&self) -> String {
        self.lines.lock().expect("no panic").join("\n")
    }
}

#[async_trait]
impl BatchHost for Notes {
    fn on_event(&self, event: &BatchEvent) {
        self.lines.lock().expect("no panic").push(event.to_string());
    }

    fn under_way(&self) -> usize {
        self.considered.fetch_add(1, Ordering::SeqCst);
        self.under_way.load(Ordering::SeqCst)
    }

    fn key(&self, model: &dyn ChatModel, request: &ChatRequest) -> String {
        reply_key(model, request).to_string()
    }

    async fn stored(
        &self,
        keys: &[String],
    ) -> Result<Vec<Option<ChatReply>>, Box<dyn std::error::Error + Send + Sync>> {
        let Some(store) = &self.store else {
            return Ok(vec![None; keys.len()]);
        };
        let keys = keys.iter().map(|key| key.parse().unwrap());
        Ok(store.get_all(keys.collect()).await?)
    }

    async fn receive(
        &self,
        model: &dyn ChatModel,
        replies: &[(String, ChatReply)],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err("the disk is full".into());
        }
        for (key, reply) in replies {
            let tokens = reply.usage.output_tokens;
            self.paid.fetch_add(tokens, Ordering::SeqCst);
            if let Some(store) = &self.store
                && is_worth_storing(reply)
            {
                let key = key.parse().unwrap();
                store.put(key, model.identity(), reply.clone()).await?;
            }
        }
        Ok(())
    }

    fn reserve(
        &self,
        size: &BatchSize,
        is_submitted: bool,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if size.requests > self.most && !is_submitted {
            return Err(format!("{} requests are too many", size.requests).into());
        }
        let before = self.reserved.fetch_add(size.requests, Ordering::SeqCst);
        let reserved = before + size.requests;
        self.peak.fetch_max(reserved, Ordering::SeqCst);
        Ok(())
    }

    fn release(&self, size: &BatchSize, _: &BTreeSet<String>) {
        self.reserved.fetch_sub(size.requests, Ordering::SeqCst);
    }
}

fn settings(folder: &Path) -> BatchSettings {
    let mut settings = BatchSettings::new(folder);
    settings.poll_interval = Duration::from_millis(5);
    settings.quiet = Duration::from_millis(40);
    settings.first_direct = false;
    settings
}

fn model(server: &BatchServer) -> OpenAiChat {
    let mut settings = chat_settings(&server.server.openai_url());
    settings.server.api_key = server_with_key(&server.server.openai_url()).api_key;
    settings.temperature = Some(0.0);
    OpenAiChat::new(settings, traffic(2)).expect("sound settings")
}

fn batched(server: &BatchServer, folder: &Folder) -> BatchedChat {
    BatchedChat::new(model(server), settings(&folder.0), Notes::new())
}

fn asking(text: &str) -> ChatRequest {
    ChatRequest::new(vec![Message::user(text)])
}

async fn ask_all(model: &dyn ChatModel, texts: &[&str]) -> Vec<Result<ChatReply, ChatError>> {
    let requests: Vec<ChatRequest> = texts.iter().map(|text| asking(text)).collect();
    join_all(requests.iter().map(|request| model.chat(request))).await
}

fn texts(replies: Vec<Result<ChatReply, ChatError>>) -> Vec<String> {
    let replies = replies.into_iter();
    replies
        .map(|reply| match reply {
            Ok(reply) => reply.text,
            Err(error) => format!("{:?}: {}", error.failure, chain(&error)),
        })
        .collect()
}

/// Asserts that a request ended with a failure of this kind and this message.
fn assert_ends(text: &str, failure: &str, message: &str) {
    let is_kind = text.starts_with(&format!("{failure}: "));
    assert!(is_kind && text.contains(message), "{text}");
}

/// Whether this is a request to create a batch.
fn is_create(request: &Received) -> bool {
    request.method == "POST" && request.path.ends_with("/batches")
}

/// Whether this is a request for the list of batches.
fn is_list(request: &Received) -> bool {
    let path = request.path.split('?').next();
    request.method == "GET" && path.is_some_and(|path| path.ends_with("/batches"))
}

/// Waits until `condition` holds.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let held = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let held = tokio::time::timeout(Duration::from_secs(10), held).await;
    assert!(held.is_ok(), "not within 10 s: {what}");
}

/// Drops a model and waits until its tasks have ended with it, and no record in the folder is in use.
async fn end(model: BatchedChat, folder: &Folder) {
    drop(model);
    // On Windows, a record in use cannot be opened for writing.
    let is_free = |record: &PathBuf| {
        let opened = File::options().append(true).open(record);
        opened.is_ok_and(|file| file.try_lock().is_ok())
    };
    until("no record is in use", || {
        folder.records().iter().all(is_free)
    })
    .await;
}

/// Waits until a record in the folder holds this step.
async fn recorded(folder: &Folder, step: &str) {
    let step = format!("\"step\":\"{step}\"");
    let holds =
        |record: &PathBuf| fs::read_to_string(record).is_ok_and(|text| text.contains(&step));
    until(&step, || folder.records().iter().any(&holds)).await;
}

/// Asks until the record has the server's name of the batch, then drops everything, as a killed process does.
async fn killed(model: BatchedChat, folder: &Folder, asked: &[&str]) {
    tokio::select! {
        _ = ask_all(&model, asked) => panic!("the batch ended"),
        () = recorded(folder, "batch") => {}
    }
    end(model, folder).await;
}

/// The last message of a request.
fn is(body: &Value, text: &str) -> bool {
    echo(body) == format!("echo: {text}")
}

#[tokio::test]
async fn requests_of_all_callers_go_in_one_batch_and_replies_come_back_to_their_callers() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let notes = Notes::new();
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let replies = ask_all(&model, &["a", "b", "c"]).await;
    let first = replies[0].as_ref().unwrap();
    assert!(first.served.batched && !first.served.cached);
    assert_eq!(first.served.service_time, Duration::ZERO);
    assert_eq!(
        (first.usage.input_tokens, first.usage.output_tokens),
        (25, 7)
    );
    assert_eq!(texts(replies), ["echo: a", "echo: b", "echo: c"]);
    assert_eq!((server.sizes(), server.direct()), (vec![3], 0));
    let text = notes.text();
    for part in [
        "submitting a batch of 3 requests to `openai:scripted`",
        "batch `batch-0` of `openai:scripted`: in_progress, 0 of 3 done; next look in",
        "batch `batch-0` of `openai:scripted`: completed, 3 replies",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let sent = server.server.received_at("/files");
    assert_eq!(sent[0].headers["authorization"], format!("Bearer {KEY}"));
}

#[tokio::test]
async fn a_line_of_a_batch_is_the_body_of_a_direct_request() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let mut settings = settings(&folder.0);
    settings.first_direct = true;
    let model = BatchedChat::new(model(&server), settings, Notes::new());
    let replies = ask_all(&model, &["a", "b"]).await;
    let [a, b] = [0, 1].map(|place| replies[place].as_ref().unwrap().served.batched);
    assert_ne!(a, b, "one of them is sent directly");
    assert_eq!(server.direct(), 1);
    let batched = if a { "a" } else { "b" };
    let mut direct = server.server.received_at("/chat/completions")[0]
        .body
        .clone();
    direct["messages"][0]["content"] = json!(batched);
    let upload = &server.server.received_at("/files")[0];
    let upload = String::from_utf8_lossy(&upload.bytes).into_owned();
    let line = upload.lines().find(|line| line.starts_with('{')).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["body"], direct);
    let id = reply_key(&model, &asking(batched)).to_string();
    assert_eq!(
        (&line["custom_id"], &line["method"]),
        (&json!(id), &json!("POST"))
    );
}

#[tokio::test]
async fn the_request_that_is_sent_directly_does_not_depend_on_the_order_in_which_they_come() {
    // The address of the server is part of the keys.
    let server = BatchServer::start(Script::sound());
    let direct = async |asked: &[&str]| {
        let folder = Folder::new();
        let mut settings = settings(&folder.0);
        settings.first_direct = true;
        let model = BatchedChat::new(model(&server), settings, Notes::new());
        texts(ask_all(&model, asked).await);
        let direct = server.server.received_at("/chat/completions");
        echo(&direct.last().unwrap().body)
    };
    let found = direct(&["a", "b", "c"]).await;
    for asked in [["b", "c", "a"], ["c", "a", "b"]] {
        assert_eq!(direct(&asked).await, found, "{asked:?}");
    }
    assert_eq!((server.sizes(), server.direct()), (vec![2; 3], 3));
}

#[tokio::test]
async fn a_wrong_key_shows_before_anything_is_submitted() {
    let mut script = Script::sound();
    script.answer = Box::new(|_, _| {
        Line::Answer(
            401,
            json!({"error": {"message": "bad key", "code": "invalid_api_key"}}),
        )
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let mut settings = settings(&folder.0);
    settings.first_direct = true;
    let model = BatchedChat::new(model(&server), settings, Notes::new());
    for text in texts(ask_all(&model, &["a", "b"]).await) {
        assert_ends(&text, "Terminal", "bad key");
    }
    assert_eq!(server.sizes(), [0; 0]);
}

#[tokio::test]
async fn a_batch_is_cut_at_the_limits() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let mut by_number = settings(&folder.0);
    by_number.max_requests = 2.try_into().unwrap();
    let chat = BatchedChat::new(model(&server), by_number, Notes::new());
    let replies = texts(ask_all(&chat, &["a", "b", "c"]).await);
    assert_eq!(replies, ["echo: a", "echo: b", "echo: c"]);
    assert_eq!(server.sizes(), [2, 1]);
    let mut by_bytes = settings(&folder.0);
    by_bytes.max_bytes = 700;
    let chat = BatchedChat::new(model(&server), by_bytes, Notes::new());
    let long = "x".repeat(1_000);
    let replies = texts(ask_all(&chat, &["d", "e", "f", "g", &long]).await);
    assert_eq!(replies[..4], ["echo: d", "echo: e", "echo: f", "echo: g"]);
    assert!(
        replies[4].contains("bytes, and a batch may have 700"),
        "{}",
        replies[4]
    );
    assert_eq!(server.sizes()[2..].iter().sum::<usize>(), 4);
    assert!(server.sizes().len() > 3, "{:?}", server.sizes());
}

#[tokio::test]
async fn a_batch_waits_for_work_that_may_lead_to_requests() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let notes = Notes::new();
    notes.under_way.store(1, Ordering::SeqCst);
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let early = asking("early");
    let late = async {
        notes.considered(3).await;
        assert_eq!(server.sizes(), [0; 0]);
        notes.under_way.store(0, Ordering::SeqCst);
        model.chat(&asking("late")).await
    };
    let (one, other) = tokio::join!(model.chat(&early), late);
    assert_eq!(texts(vec![one, other]), ["echo: early", "echo: late"]);
    assert_eq!(server.sizes(), [2]);
}

#[tokio::test]
async fn a_batch_that_may_not_be_submitted_is_not() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let model = BatchedChat::new(model(&server), settings(&folder.0), Notes::allowing(1));
    let replies = texts(ask_all(&model, &["a", "b"]).await);
    assert!(
        replies[1].contains("the batch was not submitted: 2 requests are too many"),
        "{}",
        replies[1]
    );
    assert!(server.server.received_at("/files").is_empty());
    assert!(folder.files().is_empty());
}

#[tokio::test]
async fn the_cost_of_a_request_is_reserved_until_its_reply_is_paid() {
    let mut script = Script::sound();
    script.answer = Box::new(|_, body| {
        if is(body, "bad") {
            return Line::Answer(400, json!({"error": {"message": "flagged as indecent"}}));
        }
        Line::Say(echo(body))
    });
    let server = BatchServer::start(script);
    let (folder, notes) = (Folder::new(), Notes::new());
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let replies = ask_all(&model, &["a", "bad", "b"]).await;
    assert!(replies[1].is_err(), "it costs nothing");
    notes.reserves(0).await;
    assert_eq!(notes.paid.load(Ordering::SeqCst), 2 * 7);
    assert_eq!(notes.peak.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_full_batch_waits_until_the_first_reply_is_paid() {
    let server = BatchServer::start(Script::sound());
    let (folder, notes) = (Folder::new(), Notes::new());
    let mut settings = settings(&folder.0);
    settings.first_direct = true;
    settings.max_requests = 1.try_into().unwrap();
    settings.quiet = Duration::from_mins(1);
    let model = BatchedChat::new(model(&server), settings, notes.clone());
    let asked = ask_all(&model, &["a", "b"]);
    let replies = tokio::time::timeout(Duration::from_secs(10), asked).await;
    let replies = texts(replies.expect("it does not wait for a quiet time"));
    assert_eq!(replies, ["echo: a", "echo: b"]);
    assert_eq!((server.sizes(), server.direct()), (vec![1], 1));
    assert_eq!(notes.peak.load(Ordering::SeqCst), 1);
}

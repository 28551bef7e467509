//! Chat requests that go in batches, and batches that go wrong.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Message};
use evals_providers::{
    BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat, OpenAiChat, Traffic,
    TrafficSettings,
};
use evals_stores::replies::{CachedChat, ReplyKey, ReplyStore};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::scripted_server::Reaction;
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};
use crate::{KEY, chain, chat_settings, server_with_key, traffic};

/// A folder that is deleted at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("evals-batches-{:016x}", fastrand::u64(..));
        Self(std::env::temp_dir().join(name))
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
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
    /// The requests of batches whose cost is reserved.
    reserved: AtomicUsize,
    lines: std::sync::Mutex<Vec<String>>,
}

impl Notes {
    fn new() -> Arc<Self> {
        Self::allowing(usize::MAX)
    }

    fn allowing(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            under_way: AtomicUsize::new(0),
            reserved: AtomicUsize::new(0),
            lines: std::sync::Mutex::default(),
        })
    }

    fn text(&self) -> String {
        self.lines.lock().expect("no panic").join("\n")
    }
}

impl BatchHost for Notes {
    fn on_event(&self, event: &BatchEvent) {
        self.lines.lock().expect("no panic").push(event.to_string());
    }

    fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    fn reserve(&self, size: &BatchSize) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if size.requests > self.most {
            return Err(format!("{} requests are too many", size.requests).into());
        }
        self.resume(size);
        Ok(())
    }

    fn resume(&self, size: &BatchSize) {
        self.reserved.fetch_add(size.requests, Ordering::SeqCst);
    }

    fn release(&self, size: &BatchSize) {
        self.reserved.fetch_sub(size.requests, Ordering::SeqCst);
    }
}

fn settings(folder: &Path) -> BatchSettings {
    let key =
        |model: &dyn ChatModel, request: &ChatRequest| ReplyKey::new(model, request).to_string();
    let mut settings = BatchSettings::new(folder, key);
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
        "batch `batch-0` of `openai:scripted`: in_progress, 0 of 3 done; waited",
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
    assert!(
        !replies[0].as_ref().unwrap().served.batched,
        "sent directly"
    );
    assert!(replies[1].as_ref().unwrap().served.batched);
    assert_eq!(server.direct(), 1);
    let mut direct = server.server.received_at("/chat/completions")[0]
        .body
        .clone();
    direct["messages"][0]["content"] = json!("b");
    let upload = &server.server.received_at("/files")[0];
    let upload = String::from_utf8_lossy(&upload.bytes).into_owned();
    let line = upload.lines().find(|line| line.starts_with('{')).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["body"], direct);
    let id = ReplyKey::new(&model, &asking("b")).to_string();
    assert_eq!(
        (&line["custom_id"], &line["method"]),
        (&json!(id), &json!("POST"))
    );
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
        assert!(
            text.starts_with("Terminal") && text.contains("bad key"),
            "{text}"
        );
    }
    assert_eq!(server.sizes(), [0; 0]);
}

#[tokio::test]
async fn a_faulty_line_costs_its_request_alone_another_batch_or_its_reply() {
    let mut script = Script::sound();
    script.answer = Box::new(|batch, body| match () {
        () if is(body, "busy") && batch == 0 => {
            Line::Answer(429, json!({"error": {"message": "slow down"}}))
        }
        () if is(body, "gone") && batch == 0 => Line::Missing,
        () if is(body, "cut") && batch == 0 => Line::Garbage,
        () if is(body, "odd") => Line::Odd(echo(body)),
        () if is(body, "bad") => {
            Line::Answer(400, json!({"error": {"message": "flagged as indecent"}}))
        }
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let notes = Notes::new();
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let asked = ["fine", "busy", "gone", "cut", "odd", "bad"];
    let replies = texts(ask_all(&model, &asked).await);
    for (text, reply) in asked.iter().zip(&replies).take(5) {
        assert_eq!(*reply, format!("echo: {text}"));
    }
    assert!(replies[5].starts_with("Content: "), "{}", replies[5]);
    assert!(
        replies[5].contains("answered 400: flagged as indecent"),
        "{}",
        replies[5]
    );
    assert_eq!(server.sizes(), [6, 3]);
    let text = notes.text();
    for part in [
        "has 1 line that is no JSON with a `custom_id`; skipped",
        "has 1 line of a request that is not in the batch; skipped",
        "completed, 2 replies, 3 asked again in the next batch, 1 failed",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn failures_that_last_end_after_some_batches() {
    let mut script = Script::sound();
    script.answer = Box::new(|_, body| match () {
        () if is(body, "busy") => Line::Answer(503, json!({"error": {"message": "overloaded"}})),
        () if is(body, "gone") => Line::Missing,
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a", "busy", "gone"]).await);
    assert_eq!(replies[0], "echo: a");
    assert!(replies[1].starts_with("Transient: "), "{}", replies[1]);
    assert!(
        replies[1].contains("the request failed in 3 batches: "),
        "{}",
        replies[1]
    );
    assert!(
        replies[1].contains("answered 503: overloaded"),
        "{}",
        replies[1]
    );
    assert!(replies[2].starts_with("Transient: "), "{}", replies[2]);
    assert!(
        replies[2].contains("the batch `batch-1` ended without an answer to this request"),
        "{}",
        replies[2]
    );
    assert_eq!(server.sizes(), [3, 2, 1]);
}

#[tokio::test]
async fn an_expired_batch_keeps_its_replies_and_the_rest_is_submitted_once_more() {
    let mut script = Script::sound();
    script.end = |batch| if batch == 0 { "expired" } else { "completed" };
    script.answer = Box::new(|batch, body| match () {
        () if is(body, "late") && batch == 0 => Line::Failed("batch_expired"),
        () if is(body, "later") && batch == 0 => Line::Missing,
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a", "late", "later"]).await);
    assert_eq!(replies, ["echo: a", "echo: late", "echo: later"]);
    assert_eq!(server.sizes(), [3, 2]);
}

#[tokio::test]
async fn two_expired_batches_stop_with_advice() {
    let mut script = Script::sound();
    script.end = |_| "expired";
    script.answer = Box::new(|_, _| Line::Failed("batch_expired"));
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
    let expected =
        "run the same command again to submit the rest, or without `--batch` to ask directly";
    assert!(
        replies[0].starts_with("Terminal: ") && replies[0].contains(expected),
        "{}",
        replies[0]
    );
    assert_eq!(server.sizes(), [1, 1]);
    assert!(folder.files().is_empty(), "nothing is left to collect");
}

#[tokio::test]
async fn a_cancelled_batch_keeps_its_replies_and_nothing_is_submitted_again() {
    let mut script = Script::sound();
    script.end = |_| "cancelled";
    script.answer = Box::new(|_, body| match () {
        () if is(body, "late") => Line::Failed("batch_cancelled"),
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a", "late"]).await);
    assert_eq!(replies[0], "echo: a");
    assert!(
        replies[1].contains("the batch `batch-0` was cancelled"),
        "{}",
        replies[1]
    );
    assert_eq!(server.sizes(), [2]);
}

#[tokio::test]
async fn a_batch_that_the_server_refuses_ends_its_requests_with_the_reasons() {
    let mut script = Script::sound();
    script.end = |_| "failed";
    script.reason = json!({"object": "list", "data": [
        {"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": null},
    ]});
    let server = BatchServer::start(script);
    let folder = Folder::new();
    for text in texts(ask_all(&batched(&server, &folder), &["a", "b"]).await) {
        assert!(text.starts_with("Terminal: "), "{text}");
        let expected = "refused the batch `batch-0`: Enqueued token limit reached (`token_limit_exceeded`); set a smaller `batch.max_requests`";
        assert!(text.contains(expected), "{text}");
    }
    assert!(folder.files().is_empty());
}

#[tokio::test]
async fn a_field_that_the_model_does_not_take_is_left_out_of_the_next_batch() {
    let mut script = Script::sound();
    script.answer = Box::new(|_, body| {
        if body.get("temperature").is_some() {
            let error = json!({"message": "Unsupported value", "param": "temperature", "code": "unsupported_value"});
            return Line::Answer(400, json!({"error": error}));
        }
        Line::Say(echo(body))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let model = batched(&server, &folder);
    assert_eq!(
        texts(ask_all(&model, &["a", "b"]).await),
        ["echo: a", "echo: b"]
    );
    assert_eq!(server.sizes(), [2, 2]);
    assert_eq!(model.notes(), ["the server takes no temperature"]);
}

#[tokio::test]
async fn a_server_without_batches_is_named_with_the_way_out() {
    for path in ["/v1/files", "/v1/batches"] {
        let mut script = Script::sound();
        script.fault = Box::new(move |request, _| {
            let fault = Reaction::json(404, &json!({"detail": "Not Found"}));
            (request.path == path).then_some(fault)
        });
        let server = BatchServer::start(script);
        let folder = Folder::new();
        let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
        let expected = "does not take batches; run without `--batch`: ";
        assert!(
            replies[0].starts_with("Terminal: ") && replies[0].contains(expected),
            "{}",
            replies[0]
        );
    }
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
        tokio::time::sleep(Duration::from_millis(200)).await;
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

/// Asks until the batch is at the server, then drops everything, as a killed process does.
async fn killed(model: BatchedChat, server: &BatchServer, asked: &[&str]) {
    let submitted = async {
        while server.sizes().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // Until the record has the name of the batch.
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    tokio::select! {
        _ = ask_all(&model, asked) => panic!("the batch ended"),
        () = submitted => {}
    }
    drop(model);
    // The tasks of the model end with it.
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_later_process_waits_for_the_same_batch() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &server, &["a", "b"]).await;
    server.hold(false);
    let model = batched(&server, &folder);
    let replies = texts(ask_all(&model, &["a", "b", "new"]).await);
    assert_eq!(replies, ["echo: a", "echo: b", "echo: new"]);
    assert_eq!(server.sizes(), [2, 1]);
    assert!(server.submissions().values().all(|times| *times == 1));
}

#[tokio::test]
async fn a_batch_whose_creation_was_not_answered_is_found_again() {
    // By the same process, at its second attempt.
    let lost = || Script {
        lost: 1,
        ..Script::sound()
    };
    let server = BatchServer::start(lost());
    let folder = Folder::new();
    assert_eq!(
        texts(ask_all(&batched(&server, &folder), &["a"]).await),
        ["echo: a"]
    );
    assert_eq!(server.sizes(), [1]);

    // By a later process, after one that made a single attempt.
    let server = BatchServer::start(lost());
    let folder = Folder::new();
    let once = |server: &BatchServer| {
        let chat = chat_settings(&server.server.openai_url());
        let chat = OpenAiChat::new(chat, traffic(1)).unwrap();
        BatchedChat::new(chat, settings(&folder.0), Notes::new())
    };
    let first = once(&server);
    for _ in 0..2 {
        // The second time it is not submitted again, because the batch may be at the server.
        assert!(texts(ask_all(&first, &["a"]).await)[0].contains("was lost"));
        assert_eq!(server.sizes(), [1]);
    }
    drop(first);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(texts(ask_all(&once(&server), &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn replies_stay_on_the_disk_until_they_are_stored() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    let first = batched(&server, &folder);
    assert_eq!(
        texts(ask_all(&first, &["a", "b"]).await),
        ["echo: a", "echo: b"]
    );
    first.stored(&asking("a"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(first);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let looks = server.server.received().len();
    let second = batched(&server, &folder);
    assert_eq!(texts(ask_all(&second, &["b"]).await), ["echo: b"]);
    assert_eq!(server.server.received().len(), looks, "nothing was sent");
    assert_eq!(folder.files().len(), 2);
    second.stored(&asking("b"));
    while !folder.files().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(
        texts(ask_all(&second, &["a"]).await),
        ["echo: a"],
        "asked for again"
    );
    assert_eq!(server.sizes(), [2, 1]);
}

#[tokio::test]
async fn two_processes_do_not_pay_for_the_same_request() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    let (first, second) = (batched(&server, &folder), batched(&server, &folder));
    let overlapping = async {
        while server.sizes().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let replies = texts(ask_all(&second, &["a"]).await);
        assert!(
            replies[0].contains("another process submitted this request"),
            "{}",
            replies[0]
        );
        server.hold(false);
    };
    let (replies, ()) = tokio::join!(ask_all(&first, &["a"]), overlapping);
    assert_eq!(texts(replies), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn a_download_that_is_cut_begins_again() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, before| {
        let is_first = request.path.ends_with("/content") && before == 0;
        is_first.then_some(Reaction::Close)
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    assert_eq!(
        texts(ask_all(&batched(&server, &folder), &["a", "b"]).await),
        ["echo: a", "echo: b"]
    );
    assert_eq!(server.server.received_at("/content").len(), 2);
    assert_eq!(server.sizes(), [2]);
}

#[tokio::test]
async fn a_batch_that_the_server_does_not_know_is_an_error_that_names_its_record() {
    let is_lost = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut script = Script::sound();
    let lost = Arc::clone(&is_lost);
    script.fault = Box::new(move |request, _| {
        let fault = Reaction::json(404, &json!({"error": {"message": "No such batch"}}));
        let is_look = request.path.contains("/batches/") && lost.load(Ordering::SeqCst);
        is_look.then_some(fault)
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &server, &["a"]).await;
    is_lost.store(true, Ordering::SeqCst);
    let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
    let expected =
        "does not know the batch `batch-0`: set the key of the account that submitted it";
    assert!(
        replies[0].starts_with("Terminal: ") && replies[0].contains(expected),
        "{}",
        replies[0]
    );
    assert!(replies[0].contains(".batch.jsonl"), "{}", replies[0]);
    assert_eq!(server.sizes(), [1], "nothing is submitted again");
}

#[tokio::test]
async fn replies_whose_file_comes_late_are_not_paid_again() {
    let server = BatchServer::start(Script {
        late: 1,
        ..Script::sound()
    });
    let folder = Folder::new();
    assert_eq!(
        texts(ask_all(&batched(&server, &folder), &["a", "b"]).await),
        ["echo: a", "echo: b"]
    );
    assert_eq!(server.sizes(), [2]);

    // Without a file at every look the record stays, and no process submits the requests again.
    let server = BatchServer::start(Script {
        late: usize::MAX,
        ..Script::sound()
    });
    let folder = Folder::new();
    for _ in 0..2 {
        let model = batched(&server, &folder);
        let replies = texts(ask_all(&model, &["a", "b"]).await);
        let expected =
            "says that 2 requests of the batch `batch-0` have replies, and gives out 0: run";
        assert!(
            replies[0].starts_with("Transient: ") && replies[0].contains(expected),
            "{}",
            replies[0]
        );
        assert_eq!(server.sizes(), [2]);
        drop(model);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_by_the_next_run() {
    let is_empty = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let mut script = Script::sound();
    let empty = Arc::clone(&is_empty);
    script.answer = Box::new(move |_, body| {
        let is_empty = empty.load(Ordering::SeqCst);
        Line::Say(if is_empty { String::new() } else { echo(body) })
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = Folder::new();
    fs::create_dir_all(&replies.0).unwrap();
    let cached = async || {
        let store = ReplyStore::open(replies.0.join("replies.db"))
            .await
            .unwrap();
        CachedChat::new(Arc::new(batched(&server, &folder)), store)
    };
    assert_eq!(texts(ask_all(&cached().await, &["a"]).await), [""]);
    tokio::time::sleep(Duration::from_millis(50)).await;
    is_empty.store(false, Ordering::SeqCst);
    assert_eq!(texts(ask_all(&cached().await, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1, 1]);
}

#[tokio::test]
async fn a_record_whose_replies_are_all_stored_is_deleted() {
    // Also after a kill between the store and the record: the cache has the reply, and the record does not say so.
    let mut script = Script::sound();
    script.answer = Box::new(|_, body| Line::Odd(echo(body)));
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let first = batched(&server, &folder);
    let reply = ask_all(&first, &["a"]).await.remove(0).unwrap();
    drop(first);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(folder.files().len(), 2);

    let replies = Folder::new();
    fs::create_dir_all(&replies.0).unwrap();
    let store = ReplyStore::open(replies.0.join("replies.db"))
        .await
        .unwrap();
    let second = Arc::new(batched(&server, &folder));
    let key = ReplyKey::new(&*second, &asking("a"));
    store.put(key, second.identity(), reply).await.unwrap();
    let cached = CachedChat::new(second, store);
    assert_eq!(texts(ask_all(&cached, &["a"]).await), ["echo: a"]);
    let deleted = async {
        while !folder.files().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let deleted = tokio::time::timeout(Duration::from_secs(10), deleted);
    deleted.await.expect("no file is left");
}

#[tokio::test]
async fn a_long_outage_does_not_end_the_wait() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, before| {
        let is_look = request.path.contains("/batches/") && before < 20;
        is_look.then(|| Reaction::json(503, &json!({"error": {"message": "Loading model"}})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let brief = TrafficSettings {
        max_attempts: NonZeroU32::new(3).unwrap(),
        base_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(2),
        call_deadline: Duration::from_millis(30),
        ..TrafficSettings::default()
    };
    let chat = chat_settings(&server.server.openai_url());
    let traffic = Arc::new(Traffic::new("scripted", brief));
    let chat = OpenAiChat::new(chat, traffic).unwrap();
    let model = BatchedChat::new(chat, settings(&folder.0), Notes::new());
    assert_eq!(texts(ask_all(&model, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn a_batch_whose_creation_was_refused_leaves_no_record() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, _| {
        let is_create = request.method == "POST" && request.path.ends_with("/batches");
        is_create
            .then(|| Reaction::json(400, &json!({"error": {"message": "invalid input_file_id"}})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
    assert!(
        replies[0].contains("invalid input_file_id"),
        "{}",
        replies[0]
    );
    assert!(folder.files().is_empty());
}

#[tokio::test]
async fn replies_that_the_server_deleted_are_an_error_that_names_the_record() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, _| {
        let is_content = request.path.ends_with("/content");
        is_content
            .then(|| Reaction::json(404, &json!({"error": {"message": "No such File object"}})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a"]).await);
    let expected = "with replies of the batch `batch-0`; if the server deleted it, delete `";
    assert!(
        replies[0].starts_with("Terminal: ") && replies[0].contains(expected),
        "{}",
        replies[0]
    );
    assert!(replies[0].contains(".batch.jsonl"), "{}", replies[0]);
}

#[tokio::test]
async fn the_cost_of_a_batch_is_reserved_as_long_as_it_may_be_at_the_server() {
    let server = BatchServer::start(Script::sound());
    let folder = Folder::new();
    server.hold(true);
    killed(batched(&server, &folder), &server, &["a", "b"]).await;
    // A later process reserves it again while it waits.
    let notes = Notes::new();
    let second = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let waiting = async {
        while notes.reserved.load(Ordering::SeqCst) != 2 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.hold(false);
    };
    let asked = ask_all(&second, &["a", "b"]);
    let both = async { tokio::join!(asked, waiting) };
    let both = tokio::time::timeout(Duration::from_secs(10), both).await;
    assert_eq!(texts(both.expect("reserved").0), ["echo: a", "echo: b"]);
    assert_eq!(notes.reserved.load(Ordering::SeqCst), 0);

    // A refused creation costs nothing; a lost one may.
    for (fault, reserved) in [
        (
            Reaction::json(400, &json!({"error": {"message": "invalid"}})),
            0,
        ),
        (Reaction::Reset, 1),
    ] {
        let mut script = Script::sound();
        script.fault = Box::new(move |request, _| {
            let is_create = request.method == "POST" && request.path.ends_with("/batches");
            is_create.then(|| fault.clone())
        });
        let server = BatchServer::start(script);
        let (folder, notes) = (Folder::new(), Notes::new());
        let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
        assert!(ask_all(&model, &["a"]).await[0].is_err());
        assert_eq!(notes.reserved.load(Ordering::SeqCst), reserved);
    }
}

/// Submits a batch whose creation is not answered, and drops everything.
async fn lost(server: &BatchServer, folder: &Folder) {
    let chat = chat_settings(&server.server.openai_url());
    let chat = OpenAiChat::new(chat, traffic(1)).expect("sound settings");
    let model = BatchedChat::new(chat, settings(&folder.0), Notes::new());
    assert!(ask_all(&model, &["a"]).await[0].is_err());
    drop(model);
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_batch_that_the_server_lists_late_is_found() {
    let mut script = Script::sound();
    script.lost = 1;
    script.fault = Box::new(|request, before| {
        let is_list = request.method == "GET"
            && request
                .path
                .split('?')
                .next()
                .is_some_and(|path| path.ends_with("/batches"));
        (is_list && before == 0)
            .then(|| Reaction::json(200, &json!({"data": [], "has_more": false})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    lost(&server, &folder).await;
    let chat = chat_settings(&server.server.openai_url());
    let chat = OpenAiChat::new(chat, traffic(1)).unwrap();
    let second = BatchedChat::new(chat, settings(&folder.0), Notes::new());
    assert_eq!(texts(ask_all(&second, &["a"]).await), ["echo: a"]);
    assert_eq!(server.sizes(), [1]);
}

#[tokio::test]
async fn a_list_of_batches_without_end_leaves_the_record() {
    let page = AtomicUsize::new(0);
    let mut script = Script::sound();
    script.lost = 1;
    script.fault = Box::new(move |request, _| {
        let is_list = request.method == "GET"
            && request
                .path
                .split('?')
                .next()
                .is_some_and(|path| path.ends_with("/batches"));
        is_list.then(|| {
            let id = format!("other-{}", page.fetch_add(1, Ordering::SeqCst));
            Reaction::json(
                200,
                &json!({"data": [{"id": id, "status": "completed"}], "has_more": true}),
            )
        })
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    lost(&server, &folder).await;
    let chat = chat_settings(&server.server.openai_url());
    let chat = OpenAiChat::new(chat, traffic(1)).unwrap();
    let second = BatchedChat::new(chat, settings(&folder.0), Notes::new());
    let replies = texts(ask_all(&second, &["a"]).await);
    let expected = "lists more than 10000 batches";
    assert!(
        replies[0].starts_with("Terminal: ") && replies[0].contains(expected),
        "{}",
        replies[0]
    );
    assert_eq!((server.sizes(), folder.files().len()), (vec![1], 1));
}

//! Batches, lines and servers that fail.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evals_models::ChatModel as _;
use evals_providers::{BatchedChat, OpenAiChat, Traffic, TrafficSettings};
use serde_json::json;

use super::{
    Folder, Notes, ask_all, assert_ends, batched, end, is, is_create, model, settings, texts, until,
};
use crate::chat_settings;
use crate::scripted_server::Reaction;
use crate::scripted_server::batches::{BatchServer, Line, Script, echo};

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
    assert_ends(&replies[5], "Content", "answered 400: flagged as indecent");
    assert_eq!(server.sizes(), [6, 3]);
    let text = notes.text();
    for part in [
        "has 1 line: no JSON with a `custom_id`; skipped",
        "has 1 line: of no request in the batch; skipped",
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
    assert_ends(
        &replies[1],
        "Transient",
        "the request failed in 3 batches: ",
    );
    assert!(
        replies[1].contains("answered 503: overloaded"),
        "{}",
        replies[1]
    );
    assert_ends(
        &replies[2],
        "Transient",
        "the batch `batch-1` ended without an answer to this request",
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
    assert_ends(&replies[0], "Terminal", expected);
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
        assert_ends(&replies[0], "Terminal", expected);
    }
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
        let expected = "has ended the batch `batch-0`, but returns no replies: run";
        assert_ends(&replies[0], "Transient", expected);
        assert_eq!(server.sizes(), [2]);
        end(model, &folder).await;
    }
}

#[tokio::test]
async fn a_short_file_of_replies_is_used_and_only_the_rest_is_asked_again() {
    let mut script = Script::sound();
    script.answer = Box::new(|batch, body| match () {
        () if batch > 0 => Line::Say(echo(body)),
        () if is(body, "lost") || is(body, "gone") => Line::Lost,
        () if is(body, "cut") => Line::Garbage,
        () if is(body, "odd") => Line::Odd(echo(body)),
        () if is(body, "bad") => {
            Line::Answer(400, json!({"error": {"message": "flagged as indecent"}}))
        }
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let (folder, notes) = (Folder::new(), Notes::new());
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let asked = ["a", "odd", "lost", "gone", "cut", "b", "bad"];
    let replies = texts(ask_all(&model, &asked).await);
    for (text, reply) in asked.iter().zip(&replies).take(6) {
        assert_eq!(*reply, format!("echo: {text}"));
    }
    assert_ends(&replies[6], "Content", "answered 400: flagged as indecent");
    assert_eq!(server.sizes(), [7, 3]);
    let text = notes.text();
    for part in [
        "has finished 7 of 7 requests of the batch `batch-0`, but returns only 4 of them after 3 downloads; the program uses these and treats the rest as unanswered",
        "completed, 3 replies, 3 asked again in the next batch, 1 failed",
    ] {
        assert!(text.contains(part), "{text}");
    }
    until("no record is left", || folder.files().is_empty()).await;
}

#[tokio::test]
async fn a_batch_that_ends_without_counts_and_files_is_not_submitted_again() {
    for (end, failure, expected) in [
        ("completed", "Transient", "but returns no replies: run"),
        (
            "failed",
            "Terminal",
            "refused the batch `batch-0`: it gives no reason",
        ),
    ] {
        let mut script = Script::sound();
        script.fault = Box::new(move |request, _| {
            let described = json!({"id": "batch-0", "status": end});
            let is_look = request.path.contains("/batches/");
            is_look.then(|| Reaction::json(200, &described))
        });
        let server = BatchServer::start(script);
        let folder = Folder::new();
        let reply = texts(ask_all(&batched(&server, &folder), &["a"]).await).remove(0);
        assert_ends(&reply, failure, expected);
        assert_eq!(server.sizes(), [1]);
    }
}

#[tokio::test]
async fn a_failed_batch_with_replies_that_come_late_keeps_its_record() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, _| {
        let counts = json!({"total": 2, "completed": 1, "failed": 0});
        let described = json!({"id": "batch-0", "status": "failed", "request_counts": counts});
        let is_look = request.path.contains("/batches/");
        is_look.then(|| Reaction::json(200, &described))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let replies = texts(ask_all(&batched(&server, &folder), &["a", "b"]).await);
    assert_ends(&replies[0], "Transient", "but returns no replies: run");
    assert_eq!(folder.records().len(), 1);
    assert_eq!(server.sizes(), [2]);
}

#[tokio::test]
async fn a_batch_that_fails_before_its_end_keeps_its_replies_and_the_reasons_are_shown() {
    let mut script = Script::sound();
    script.reason = json!({"data": [{"code": "internal", "message": "a machine broke"}]});
    // In upper case, as some servers write it, and as the script does not refuse the whole batch.
    script.end = |batch| if batch == 0 { "FAILED" } else { "completed" };
    script.answer = Box::new(|batch, body| match () {
        () if is(body, "late") && batch == 0 => Line::Missing,
        () => Line::Say(echo(body)),
    });
    let server = BatchServer::start(script);
    let (folder, notes) = (Folder::new(), Notes::new());
    let model = BatchedChat::new(model(&server), settings(&folder.0), notes.clone());
    let replies = texts(ask_all(&model, &["a", "late"]).await);
    assert_eq!(replies, ["echo: a", "echo: late"]);
    assert_eq!(server.sizes(), [2, 1]);
    let expected = "the batch `batch-0` failed before its end: a machine broke (`internal`); its replies are kept";
    assert!(notes.text().contains(expected), "{}", notes.text());
}

#[tokio::test]
async fn a_long_outage_does_not_end_the_wait() {
    let mut script = Script::sound();
    script.fault = Box::new(|request, before| {
        let is_look = request.path.contains("/batches/") && before < 200;
        is_look.then(|| Reaction::json(503, &json!({"error": {"message": "Loading model"}})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let brief = TrafficSettings {
        max_attempts: NonZeroU32::new(3).unwrap(),
        base_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(2),
        // Long enough to record and create the batch on a busy machine, and shorter than 200 looks with their pauses.
        call_deadline: Duration::from_millis(200),
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
    let is_sound = Arc::new(AtomicBool::new(false));
    let mut script = Script::sound();
    let sound = Arc::clone(&is_sound);
    script.fault = Box::new(move |request, _| {
        let is_refused = is_create(request) && !sound.load(Ordering::SeqCst);
        is_refused
            .then(|| Reaction::json(400, &json!({"error": {"message": "invalid input_file_id"}})))
    });
    let server = BatchServer::start(script);
    let folder = Folder::new();
    let model = batched(&server, &folder);
    let replies = texts(ask_all(&model, &["a"]).await);
    assert!(
        replies[0].contains("invalid input_file_id"),
        "{}",
        replies[0]
    );
    assert!(folder.files().is_empty());
    // No batch has the request, so the same process may submit it.
    is_sound.store(true, Ordering::SeqCst);
    assert_eq!(texts(ask_all(&model, &["a"]).await), ["echo: a"]);
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
    assert_ends(&replies[0], "Terminal", expected);
    assert!(replies[0].contains(".batch.jsonl"), "{}", replies[0]);
}

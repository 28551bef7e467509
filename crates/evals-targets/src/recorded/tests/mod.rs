//! Tests of recorded replies: requests that are sent once, and replies that survive a killed process.

mod file;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use evals::{FailureClass, JournalError};
use evals_models::Message;
use serde_json::{Value, json};

use super::{RecordedTarget, ReplyFile, Resumption};
use crate::{
    Conversation, FnTarget, Mapping, Outputs, OutputsTarget, Reply, Request, ResponseSettings,
    Target, TargetError, TargetSettings,
};

/// A target that counts its requests, and fails those for `broken` as long as `failures` last.
struct Counting {
    target: Arc<dyn Target>,
    asked: Arc<AtomicU32>,
}

fn counting(failures: u32) -> Counting {
    let asked = Arc::new(AtomicU32::new(0));
    let left = Arc::new(AtomicU32::new(failures));
    let counter = Arc::clone(&asked);
    let target = FnTarget::new("counting", move |request: Request| {
        let (counter, left) = (Arc::clone(&counter), Arc::clone(&left));
        async move {
            let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::task::yield_now().await;
            let fails = request.id == "broken"
                && left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                        left.checked_sub(1)
                    })
                    .is_ok();
            if fails {
                return Err(TargetError::new(FailureClass::Transient, "it is down"));
            }
            Ok(Reply {
                answer: Some(json!(format!("answer {number}"))),
                metrics: BTreeMap::from([("loss".to_owned(), f64::NAN), ("one".to_owned(), 1.0)]),
                ..Reply::default()
            })
        }
    });
    Counting {
        target: Arc::new(target),
        asked,
    }
}

impl Counting {
    fn open(&self, folder: &Path, resumption: Resumption) -> RecordedTarget {
        let file = ReplyFile::open(folder, "2026", &identity(), resumption).unwrap();
        RecordedTarget::new(Arc::clone(&self.target), file)
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }
}

fn identity() -> Value {
    json!({"target": "counting", "k": 5})
}

fn question(id: &str) -> Request {
    Request::question(id, format!("{id}?"))
}

fn answer(reply: &Reply) -> &str {
    reply.answer.as_ref().and_then(Value::as_str).unwrap()
}

#[tokio::test]
async fn two_readers_that_ask_at_the_same_time_cause_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    let second = first.reader();
    let (request, other) = (
        question("q"),
        Request {
            repeat: 2,
            ..question("q")
        },
    );
    let (one, two, repeated) = tokio::join!(
        first.ask(&request),
        second.ask(&request),
        second.ask(&other)
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(answer(&one), answer(&two));
    assert_ne!(answer(&one), answer(&repeated.unwrap()));
    assert_eq!((counting.asked(), first.asked()), (2, 2));
    let cached: Vec<bool> = [&one, &two].map(|reply| reply.timings[0].cached).into();
    assert_eq!(cached, [false, true]);
    assert_eq!(one.timings[0].stage, "target");
    assert_eq!(one.timings[0].duration, two.timings[0].duration);
}

#[tokio::test]
async fn a_later_session_gives_recorded_replies_until_the_file_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    let original = first.ask(&question("a")).await.unwrap();
    drop(first);

    let second = counting.open(folder.path(), Resumption::Resume);
    assert_eq!(second.resumed(), 1);
    let resumed = second.ask(&question("a")).await.unwrap();
    assert_eq!(resumed.answer, original.answer);
    assert_eq!(resumed.metrics.get("one"), Some(&1.0));
    assert!(resumed.metrics["loss"].is_nan());
    assert!(resumed.timings[0].cached);
    second.ask(&question("b")).await.unwrap();
    assert_eq!(counting.asked(), 2);
    second.finish().unwrap();
    drop(second);

    let third = counting.open(folder.path(), Resumption::Resume);
    assert_eq!(third.resumed(), 0);
    third.ask(&question("a")).await.unwrap();
    assert_eq!(counting.asked(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn a_fresh_session_asks_again_and_is_the_one_to_resume() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    first.ask(&question("a")).await.unwrap();
    drop(first);
    let fresh = counting.open(folder.path(), Resumption::Fresh);
    assert_eq!(
        answer(&fresh.ask(&question("a")).await.unwrap()),
        "answer 2"
    );
    drop(fresh);
    let third = counting.open(folder.path(), Resumption::Resume);
    assert_eq!(
        answer(&third.ask(&question("a")).await.unwrap()),
        "answer 2"
    );
    assert_eq!(counting.asked(), 2);
}

#[tokio::test]
async fn a_failure_is_shared_by_readers_and_asked_again_by_a_retry_and_a_later_session() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(2);
    let first = counting.open(folder.path(), Resumption::Resume);
    let second = first.reader();
    for reader in [&first, &second] {
        let error = reader.ask(&question("broken")).await.unwrap_err();
        assert_eq!(error.class(), FailureClass::Transient);
        assert_eq!(error.to_string(), "it is down");
    }
    assert_eq!(counting.asked(), 1);
    first.ask(&question("broken")).await.unwrap_err();
    assert_eq!(counting.asked(), 2);
    drop((first, second));
    let later = counting.open(folder.path(), Resumption::Resume);
    assert_eq!(later.resumed(), 0);
    later.ask(&question("broken")).await.unwrap();
    assert_eq!(counting.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_one_reader_stops_waiting_for_is_not_asked_for_by_the_next() {
    let asked = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&asked);
    let hanging = FnTarget::new("hanging", move |_: Request| {
        let first = counter.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(Reply {
                answer: Some(json!("late")),
                ..Reply::default()
            })
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let counting = Counting {
        target: Arc::new(hanging),
        asked,
    };
    let first = counting.open(folder.path(), Resumption::Resume);
    let second = first.reader();
    let request = question("slow");
    let limit = std::time::Duration::from_mins(15);
    assert!(
        tokio::time::timeout(limit, first.ask(&request))
            .await
            .is_err()
    );
    let error = second.ask(&request).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Transient);
    assert_eq!(
        error.to_string(),
        "another benchmark of this run asked the target, and stopped waiting for the reply; its report says why"
    );
    assert_eq!(counting.asked(), 1);
    drop((first, second));
    let later = counting.open(folder.path(), Resumption::Resume);
    assert_eq!(answer(&later.ask(&request).await.unwrap()), "late");
    assert_eq!(counting.asked(), 2);
}

#[tokio::test]
async fn a_session_killed_within_a_line_loses_that_reply_only() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    for id in ["a", "b"] {
        first.ask(&question(id)).await.unwrap();
    }
    let path = first.path().to_owned();
    drop(first);
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let lines = whole[..cut].split(|byte| *byte == b'\n').count() - 1;
        // The header and the line feed of the last line do not count.
        let complete = lines.saturating_sub(1);
        let resumed = counting.open(folder.path(), Resumption::Resume).resumed();
        let cut_at_line_feed = whole[cut] == b'\n' && lines > 0;
        assert_eq!(
            resumed,
            complete + usize::from(cut_at_line_feed),
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn a_damaged_line_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    first.ask(&question("a")).await.unwrap();
    let path = first.path().to_owned();
    drop(first);
    let damaged = fs::read_to_string(&path)
        .unwrap()
        .replace("answer", "Answer");
    fs::write(&path, damaged).unwrap();
    let file = ReplyFile::open(folder.path(), "2026", &identity(), Resumption::Resume).unwrap();
    assert_eq!((file.recorded(), file.damaged_lines()), (0, 1));
    let target = RecordedTarget::new(Arc::clone(&counting.target), file);
    target.ask(&question("a")).await.unwrap();
    assert_eq!(counting.asked(), 2);
}

#[tokio::test]
async fn a_recorded_reply_to_another_question_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let target = counting.open(folder.path(), Resumption::Resume);
    let [old, new] = ["old?", "new?"].map(|text| Request::question("a", text));
    assert!(!target.holds(&old));
    target.ask(&old).await.unwrap();
    assert!(target.holds(&old) && !target.holds(&new));
    target.ask(&new).await.unwrap();
    assert_eq!(counting.asked(), 2);
    drop(target);
    let resumed = counting.open(folder.path(), Resumption::Resume);
    assert!(resumed.holds(&new) && !resumed.holds(&Request { repeat: 2, ..new }));
    resumed.ask(&Request::question("a", "new?")).await.unwrap();
    assert_eq!(counting.asked(), 2);
}

/// The second question of a conversation whose first one was answered with `first`.
fn second_turn(first: &str, is_session: bool) -> Request {
    Request {
        conversation: Some(Conversation {
            id: "talk".to_owned(),
            history: vec![Message::user("a?"), Message::assistant(first)],
            is_session,
            process: None,
        }),
        ..question("b")
    }
}

#[tokio::test]
async fn a_recorded_reply_after_another_history_is_asked_again_except_in_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    for (first, asked) in [("one", 1), ("one", 1), ("two", 2), ("two", 2)] {
        let target = counting.open(folder.path(), Resumption::Resume);
        let request = second_turn(first, false);
        let reply = target.ask(&request).await.unwrap();
        assert_eq!(answer(&reply), format!("answer {asked}"));
        assert!(target.holds(&question("b")), "after whatever history");
    }
    let target = counting.open(folder.path(), Resumption::Resume);
    assert!(target.ask(&second_turn("two", true)).await.is_ok());
    let error = target.ask(&second_turn("one", true)).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Content);
    let expected = "the session `talk` was sent another message here before";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(counting.asked(), 2);
}

#[tokio::test]
async fn a_reply_whose_line_names_no_history_counts_after_any() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let target = counting.open(folder.path(), Resumption::Resume);
    target.ask(&question("b")).await.unwrap();
    target.ask(&second_turn("one", false)).await.unwrap();
    assert_eq!(counting.asked(), 1);
}

#[test]
fn another_process_and_another_identity_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        |identity: &Value| ReplyFile::open(folder.path(), "2026", identity, Resumption::Resume);
    let held = open(&identity()).unwrap();
    assert!(matches!(
        open(&identity()),
        Err(JournalError::Locked { .. })
    ));
    drop(held);
    let other = json!({"target": "counting", "k": 6});
    let error = open(&other).unwrap_err().to_string();
    assert!(error.contains("(k: 5 -> 6)"), "{error}");
}

#[tokio::test]
async fn the_replies_to_resume_are_counted_without_opening_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert_eq!(
        ReplyFile::resumable(&missing, Resumption::Resume).unwrap(),
        0
    );
    assert!(!missing.exists());
    let counting = counting(0);
    let target = counting.open(folder.path(), Resumption::Resume);
    for id in ["a", "b"] {
        target.ask(&question(id)).await.unwrap();
    }
    assert_eq!(
        ReplyFile::resumable(folder.path(), Resumption::Resume).unwrap(),
        2,
        "locked"
    );
    target.finish().unwrap();
    let resumable = |resumption| ReplyFile::resumable(folder.path(), resumption).unwrap();
    assert_eq!(resumable(Resumption::Resume), 0);
    assert_eq!(resumable(Resumption::Reopen), 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn replies_of_a_file_are_read_from_it_and_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    fs::write(&path, "{\"id\": \"a\", \"answer\": 1, \"latency_ms\": 5}\n").unwrap();
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    let target = OutputsTarget::of(
        "outputs",
        &TargetSettings::default(),
        Outputs::read(&path, &mapping).unwrap(),
    );
    let file = ReplyFile::open(folder.path(), "2026", &identity(), Resumption::Fresh).unwrap();
    let recorded = RecordedTarget::new(Arc::new(target), file);
    let request = Request::question("a", "?");
    assert!(recorded.holds(&request));
    let first = recorded.ask(&request).await.unwrap();
    let second = recorded.reader().ask(&request).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(first.answer, Some(json!(1)));
    let lines = fs::read_to_string(recorded.path()).unwrap();
    assert_eq!(lines.lines().count(), 1, "{lines}");
}

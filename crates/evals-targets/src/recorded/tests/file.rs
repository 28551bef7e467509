//! Tests of the file itself: payments, replies of another run, and two processes at once.

use evals_models::{ModelIdentity, Usage};

use super::*;
use crate::{Mapping, Payment};

fn payment(input_tokens: u64) -> Payment {
    Payment {
        model: ModelIdentity::new("openai", "judge"),
        usage: Usage {
            input_tokens,
            output_tokens: 1,
            estimated: false,
        },
    }
}

#[tokio::test]
async fn payments_are_kept_for_the_session_that_resumes_and_for_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let first = counting.open(folder.path(), Resumption::Resume);
    assert!(!first.file().is_resumed());
    first.ask(&question("a")).await.unwrap();
    for tokens in [3, 5] {
        first.file().pay(&payment(tokens), None).unwrap();
    }
    assert_eq!(
        first.file().payments(),
        [],
        "only those of earlier sessions"
    );
    drop(first);
    let second = counting.open(folder.path(), Resumption::Resume);
    assert!(second.file().is_resumed());
    assert_eq!(second.resumed(), 1);
    assert_eq!(second.file().payments(), [payment(3), payment(5)]);
    second.finish().unwrap();
    drop(second);
    let next = counting.open(folder.path(), Resumption::Resume);
    assert!(!next.file().is_resumed());
    assert_eq!(next.file().payments(), []);
}

#[tokio::test]
async fn a_reply_of_a_batch_is_known_as_paid_until_it_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplyFile::open(folder.path(), "2027", &identity(), Resumption::Resume).unwrap();
    let first = open();
    for key in ["a", "b"] {
        first.pay(&payment(3), Some(key)).unwrap();
    }
    first.stored("a").unwrap();
    first.pay(&payment(5), None).unwrap();
    drop(first);
    let second = open();
    assert_eq!(second.payments().len(), 3);
    assert_eq!(Vec::from_iter(second.unstored()), ["b"]);
    second.stored("b").unwrap();
    drop(second);
    assert!(open().unstored().is_empty());
}

#[tokio::test]
async fn replies_of_another_run_count_where_they_fit_and_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let counting = counting(0);
    let earlier = counting.open(folder.path(), Resumption::Fresh);
    for id in ["same", "changed", "gone"] {
        earlier.ask(&question(id)).await.unwrap();
    }
    earlier.file().pay(&payment(3), None).unwrap();
    let (path, asked) = (earlier.path().to_owned(), counting.asked());
    drop(earlier);

    let open = |resumption| ReplyFile::open(folder.path(), "2027", &identity(), resumption);
    let mut file = open(Resumption::Fresh).unwrap();
    let inputs = BTreeMap::from([("same", json!("same?")), ("changed", json!("new?"))]);
    let fits = |id: &str, _: u32, asked: &Value| inputs.get(id) == Some(asked);
    assert_eq!(file.reuse(&path, fits).unwrap(), 1);
    assert_eq!(file.payments(), []);
    let later = RecordedTarget::new(Arc::clone(&counting.target), file);
    later.ask(&question("same")).await.unwrap();
    later
        .ask(&Request::question("changed", "new?"))
        .await
        .unwrap();
    assert_eq!(counting.asked(), asked + 1);
    drop(later);
    // They are in the new file, so a killed session needs the old one no more.
    std::fs::remove_file(path).unwrap();
    assert_eq!(open(Resumption::Resume).unwrap().recorded(), 2);
}

#[test]
fn a_fresh_run_gets_a_file_of_its_own_beside_one_that_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplyFile::open(folder.path(), "2026", &identity(), Resumption::Fresh).unwrap();
    let (first, second) = (open(), open());
    assert_ne!(first.path(), second.path());
}

#[tokio::test]
async fn the_deepest_reply_that_is_read_is_not_asked_again() {
    let settings = serde_json::from_value(json!({"answer": "$"})).unwrap();
    let mapping = Mapping::new(&settings).unwrap();
    let text = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let reply = Mapping::parse(&text)
        .and_then(|json| mapping.read(&json))
        .unwrap();
    let target = FnTarget::new("deep", move |_: Request| {
        let reply = reply.clone();
        async move { Ok(reply) }
    });
    let target: Arc<dyn Target> = Arc::new(target);
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplyFile::open(folder.path(), "2026", &identity(), Resumption::Resume).unwrap();
    let first = RecordedTarget::new(Arc::clone(&target), open());
    first.ask(&question("a")).await.unwrap();
    drop(first);
    let file = open();
    assert_eq!((file.recorded(), file.damaged_lines()), (1, 0));
}

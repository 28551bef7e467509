use serde_json::json;

use super::*;
use crate::review::ReviewVerdict;
use crate::{DropReason, Dropped, Kind};

fn item(id: &str) -> Item {
    Item {
        answer: "a letter".to_owned(),
        relevant: vec!["letters".to_owned()],
        ..Item::new(id, format!("What is {id}?"), Kind::SingleFact)
    }
}

fn review(id: &str, verdict: ReviewVerdict) -> Review {
    Review {
        id: id.to_owned(),
        verdict,
        defect: None,
        question: None,
        answer: None,
        author: "Ada".to_owned(),
        time: "2026-05-01T12:00:00Z".to_owned(),
        seed: Some(7),
    }
}

fn names(folder: &SetFolder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn lines(folder: &SetFolder, text: &str) -> String {
    fs::write(folder.path().join(SetFolder::QUESTIONS), text).unwrap();
    folder.questions().unwrap_err().to_string()
}

fn write(lock: &SetLock, items: &[Item]) -> Result<(), SetError> {
    lock.write(SetFolder::QUESTIONS, &lines_of(items))
}

#[test]
fn a_set_is_read_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path().join("set"));
    let dropped = Dropped {
        reason: DropReason::Copied,
        detail: "copied".to_owned(),
        item: item("c"),
    };
    let unanswerable = Item::new("b", "What is b?", Kind::Unanswerable);
    let items = [item("a"), unanswerable];
    let lock = folder.lock().unwrap();
    write(&lock, &items).unwrap();
    assert_eq!(folder.record().unwrap(), json!({}));
    lock.write(SetFolder::RECORD, "{\"seed\": 7}").unwrap();
    drop(lock);
    assert_eq!(folder.questions().unwrap(), items);
    assert!(!items[1].is_answerable());
    let written = lines_of(std::slice::from_ref(&dropped));
    assert_eq!(serde_json::from_str::<Dropped>(&written).unwrap(), dropped);
    assert_eq!(folder.record().unwrap(), json!({"seed": 7}));
    let expected = [SetFolder::LOCK, SetFolder::QUESTIONS, SetFolder::RECORD];
    assert_eq!(names(&folder), expected);
}

#[test]
fn a_broken_line_is_named_with_its_remedy() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let good = serde_json::to_string(&item("a")).unwrap();
    let path = folder.path().join(SetFolder::QUESTIONS);
    let path = path.display();
    assert_eq!(
        lines(&folder, &format!("{good}\n\n{{\"id\": \"b\"}}\n")),
        format!(
            "`{path}`, line 3: missing key `question` at column 11; mend the line, or delete it"
        )
    );
    assert_eq!(
        lines(&folder, &format!("{good}\n{good}\n")),
        format!("`{path}`, line 2: line 1 also has the id `a`; mend the line, or delete it")
    );
    let blank = good.replace("What is a?", " ");
    assert!(lines(&folder, &blank).contains("line 1: `id` or `question` is empty"));
    assert!(lines(&folder, "a question\n").contains("line 1: "));

    let null = good.replace("\"a letter\"", "null");
    fs::write(folder.path().join(SetFolder::QUESTIONS), null).unwrap();
    assert!(!folder.questions().unwrap()[0].is_answerable());

    // An editor's byte order mark and missing last end of line do no harm.
    let text = format!("\u{feff}{good}");
    fs::write(folder.path().join(SetFolder::QUESTIONS), text).unwrap();
    assert_eq!(folder.questions().unwrap(), [item("a")]);
}

#[test]
fn two_processes_do_not_write_at_once() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    assert!(matches!(folder.lock(), Err(SetError::Locked { .. })));
    drop(lock);
    assert!(folder.lock().is_ok());
}

/// A folder in the place of a file stands for a disk that refuses.
#[test]
fn a_failed_write_keeps_the_old_set() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    write(&lock, &[item("old")]).unwrap();
    let partial = format!("{}.{}.partial", SetFolder::QUESTIONS, std::process::id());
    fs::create_dir(folder.path().join(&partial)).unwrap();
    let error = write(&lock, &[item("new")]).unwrap_err();
    assert!(error.to_string().contains("cannot write `"), "{error}");
    assert_eq!(folder.questions().unwrap(), [item("old")]);
}

#[test]
fn reviews_are_only_appended() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    write(&lock, &[item("a"), item("b")]).unwrap();
    lock.write(SetFolder::RECORD, "{\"seed\": 7}").unwrap();
    let (keep, change) = (
        review("a", ReviewVerdict::Keep),
        review("a", ReviewVerdict::Drop),
    );
    let both = [keep.clone(), review("b", ReviewVerdict::Keep)];
    lock.add_reviews(both.clone()).unwrap();
    lock.add_reviews([change.clone()]).unwrap();
    let written = folder.reviews().unwrap();
    assert_eq!(written, [both.as_slice(), &[change]].concat());
    let record = folder.record().unwrap();
    assert_eq!(record["seed"], 7);
    assert_eq!(record["defects"]["all"]["reviewed"], 2);
    assert_eq!(record["defects"], json!(folder.defects().unwrap()));
}

#[test]
fn a_digest_is_of_the_questions_and_not_of_the_file() {
    let sha = digest(&[item("a")]);
    assert_eq!(sha.len(), 64);
    assert_ne!(sha, digest(&[item("b")]));
    let json = lines_of(&[item("a")]).replace("\":", "\": ");
    assert_eq!(digest(&[serde_json::from_str(&json).unwrap()]), sha);
}

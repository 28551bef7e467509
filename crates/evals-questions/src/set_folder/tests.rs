use serde_json::json;

use super::*;
use crate::review::ReviewVerdict;
use crate::{DropReason, Kind};

fn item(id: &str) -> Item {
    Item {
        id: id.to_owned(),
        question: format!("What is {id}?"),
        answer: Some("a letter".to_owned()),
        kind: Kind::SingleFact,
        asker: None,
        relevant: vec!["letters".to_owned()],
        evidence: Vec::new(),
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
    fs::write(folder.path().join(QUESTIONS), text).unwrap();
    folder.questions().unwrap_err().to_string()
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
    let lock = folder.lock().unwrap();
    let record = json!({"seed": 7});
    lock.write(
        &[item("a"), item("b")],
        std::slice::from_ref(&dropped),
        &record,
        Vec::new(),
    )
    .unwrap();
    drop(lock);
    assert_eq!(folder.questions().unwrap(), [item("a"), item("b")]);
    let written = fs::read_to_string(folder.path().join(DROPPED)).unwrap();
    assert_eq!(serde_json::from_str::<Dropped>(&written).unwrap(), dropped);
    assert_eq!(folder.record().unwrap(), Some(record));
    assert_eq!(names(&folder), [".lock", DROPPED, QUESTIONS, RECORD]);
}

#[test]
fn the_record_names_the_sample_that_was_drawn_last() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    let sample = |seed| DrawnSample { count: 50, seed };
    lock.record_sample(sample(1)).unwrap();
    lock.write(&[], &[], &json!({"seed": 7}), Vec::new())
        .unwrap();
    assert_eq!(DrawnSample::of(&folder.record().unwrap().unwrap()), None);
    lock.record_sample(sample(2)).unwrap();
    let record = folder.record().unwrap().unwrap();
    assert_eq!(record["seed"], 7);
    assert_eq!(DrawnSample::of(&record), Some(sample(2)));
}

#[test]
fn a_broken_line_is_named_with_its_remedy() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let good = serde_json::to_string(&item("a")).unwrap();
    let path = folder.path().join(QUESTIONS);
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

    // An editor's byte order mark and missing last end of line do no harm, and neither does what a killed process left of a line.
    fs::write(folder.path().join(QUESTIONS), format!("\u{feff}{good}")).unwrap();
    assert_eq!(folder.questions().unwrap(), [item("a")]);
    fs::write(
        folder.path().join(QUESTIONS),
        format!("{good}\n{{\"id\": \"b"),
    )
    .unwrap();
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

#[test]
fn a_killed_process_leaves_the_old_set_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let write = |id: &str| {
        folder
            .lock()
            .unwrap()
            .write(&[item(id)], &[], &json!({"id": id}), Vec::new())
    };
    write("old").unwrap();
    let place = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();

    // Killed before all files were complete.
    place("record.json.partial", "{\"id\": ");
    drop(folder.lock().unwrap());
    assert_eq!(folder.questions().unwrap(), [item("old")]);
    assert_eq!(folder.record().unwrap(), Some(json!({"id": "old"})));

    // Killed between two renames: the record is the new one already.
    place("record.json", "{\"id\": \"new\"}");
    place("questions.jsonl.partial", &lines_of(&[item("new")]));
    place(COMMIT, "");
    drop(folder.lock().unwrap());
    assert_eq!(folder.questions().unwrap(), [item("new")]);
    assert_eq!(names(&folder), [".lock", DROPPED, QUESTIONS, RECORD]);
}

/// A folder in the place of a file stands for a disk that refuses.
#[test]
fn a_failed_write_keeps_the_old_set() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    lock.write(&[item("old")], &[], &json!({}), Vec::new())
        .unwrap();
    let obstacle = folder.path().join("questions.jsonl.partial");
    fs::create_dir(&obstacle).unwrap();
    let error = lock
        .write(&[item("new")], &[], &json!({"new": true}), Vec::new())
        .unwrap_err();
    assert!(
        error.to_string().ends_with("the set is as it was before"),
        "{error}"
    );
    fs::remove_dir(&obstacle).unwrap();
    drop(lock);
    drop(folder.lock().unwrap());
    assert_eq!(folder.questions().unwrap(), [item("old")]);
    assert_eq!(folder.record().unwrap(), Some(json!({})));
}

#[test]
fn reviews_are_only_appended() {
    let home = tempfile::tempdir().unwrap();
    let folder = SetFolder::new(home.path());
    let lock = folder.lock().unwrap();
    let items = [item("a"), item("b")];
    lock.write(&items, &[], &json!({"seed": 7}), Vec::new())
        .unwrap();
    let (keep, change) = (
        review("a", ReviewVerdict::Keep),
        review("a", ReviewVerdict::Drop),
    );
    assert_eq!(
        lock.append_reviews(&[keep.clone(), review("b", ReviewVerdict::Keep)])
            .unwrap(),
        2
    );
    let later = Review {
        time: "2027-01-01T00:00:00Z".to_owned(),
        ..keep.clone()
    };
    assert_eq!(
        lock.append_reviews(std::slice::from_ref(&later)).unwrap(),
        0
    );
    // A process that was killed left half a line. Its review was never confirmed, so the line is dropped.
    let path = folder.path().join(REVIEW);
    let half = fs::read_to_string(&path).unwrap() + "{\"id\": \"c";
    fs::write(&path, half).unwrap();
    assert_eq!(
        lock.append_reviews(std::slice::from_ref(&change)).unwrap(),
        1
    );
    assert_eq!(
        lock.append_reviews(std::slice::from_ref(&later)).unwrap(),
        1
    );
    let written = folder.reviews().unwrap();
    assert_eq!(
        written,
        [keep, review("b", ReviewVerdict::Keep), change, later]
    );
    let record = folder.record().unwrap().unwrap();
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

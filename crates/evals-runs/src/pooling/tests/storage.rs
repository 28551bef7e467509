//! The file of judgements.

use std::fs;
use std::thread;

use super::*;

fn add(file: &JudgementFile, judgements: &[Judgement]) -> anyhow::Result<()> {
    let file = file.open()?;
    judgements.iter().try_for_each(|it| file.add(it))
}

#[test]
fn judgements_survive_writers_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("judgements").join("set.jsonl");
    let judgements = judged(&pool(&runs()), &model(), right);
    assert_eq!(JudgementFile::at(&path).read().unwrap(), []);
    thread::scope(|scope| {
        for part in judgements.chunks(4) {
            let path = &path;
            scope.spawn(move || {
                for judgement in part {
                    let file = JudgementFile::at(path).open().unwrap();
                    file.add(judgement).unwrap();
                }
            });
        }
    });
    let stored = JudgementFile::at(&path).read().unwrap();
    assert_eq!(JudgementFile::at(&path).open().unwrap().stored, stored);
    let sorted = |judgements: &[Judgement]| {
        let mut lines: Vec<String> = judgements.iter().map(|it| format!("{it:?}")).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&stored), sorted(&judgements));
}

#[test]
fn a_torn_last_line_is_ignored_and_a_damaged_one_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = JudgementFile::at(&folder.path().join("set.jsonl"));
    let judgements = judged(&pool(&runs()), &model(), right);
    add(&file, &judgements[..3]).unwrap();
    let whole = fs::read(file.path()).unwrap();
    fs::write(file.path(), &whole[..whole.len() - 20]).unwrap();
    assert_eq!(file.read().unwrap(), &judgements[..2]);
    add(&file, &judgements[3..4]).unwrap();
    let expected = [&judgements[..2], &judgements[3..4]].concat();
    assert_eq!(file.read().unwrap(), expected);

    let changed = String::from_utf8(whole)
        .unwrap()
        .replacen("\"grade\":2", "\"grade\":3", 1);
    fs::write(file.path(), changed).unwrap();
    let line = judgements.iter().position(|it| it.grade == 2).unwrap() + 2;
    for error in [
        file.read().unwrap_err(),
        add(&file, &judgements[..1]).unwrap_err(),
    ] {
        let message = error.to_string();
        assert!(
            message.contains(&format!("line {line}: the line is damaged")),
            "{message}"
        );
    }
    fs::write(file.path(), "my notes\n").unwrap();
    let message = file.read().unwrap_err().to_string();
    assert!(message.contains("holds no judgements"), "{message}");
}

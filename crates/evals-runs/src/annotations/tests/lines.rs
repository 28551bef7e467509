//! What the file keeps when processes are killed, write at once, or meet another file.

use std::fs;
use std::thread;

use super::super::current::CurrentLabels;
use super::super::file::LabelFile;
use super::super::label::LabelVerdict;
use super::{label, run};

#[test]
fn a_killed_process_loses_only_the_line_that_it_was_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotations.jsonl");
    let run = run(9);
    let file = LabelFile::at(&path);
    assert!(file.read().unwrap().labels.is_empty());
    let add = |place: usize| {
        let new = vec![label(&run, place, "ada", LabelVerdict::Pass)];
        file.add(|_| Ok(new)).unwrap();
    };
    add(0);
    add(1);
    let before = fs::read(&path).unwrap();
    add(2);
    let whole = fs::read(&path).unwrap();
    for cut in before.len()..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        // Without its line feed the line is whole.
        let kept = if cut + 1 == whole.len() { 3 } else { 2 };
        let read = file.read().unwrap();
        assert_eq!((read.labels.len(), read.damaged), (kept, 0), "cut at {cut}");
        add(3);
        let read = file.read().unwrap();
        assert_eq!(
            (read.labels.len(), read.damaged),
            (kept + 1, 0),
            "cut at {cut}"
        );
    }
    let mut damaged = whole.clone();
    damaged[before.len() - 20] ^= 1;
    fs::write(&path, damaged).unwrap();
    let read = file.read().unwrap();
    assert_eq!((read.labels.len(), read.damaged), (2, 1));
}

#[test]
fn writers_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = LabelFile::at(&folder.path().join("annotations.jsonl"));
    let run = run(9);
    thread::scope(|scope| {
        for labeller in ["ada", "ben", "cleo", "dan"] {
            let (file, run) = (&file, &run);
            scope.spawn(move || {
                for place in 0..8 {
                    let new = vec![label(run, place, labeller, LabelVerdict::Fail)];
                    file.add(|_| Ok(new)).unwrap();
                }
            });
        }
    });
    let labels = file.read().unwrap();
    let current = CurrentLabels::of(&run, &labels);
    let counts: Vec<usize> = current.people.values().map(Vec::len).collect();
    assert_eq!(counts, [8; 4]);
}

#[test]
fn a_file_of_another_kind_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotations.jsonl");
    let file = LabelFile::at(&path);
    fs::write(&path, "case,verdict\n").unwrap();
    for error in [
        file.read().unwrap_err(),
        file.add(|_| Ok(Vec::new())).unwrap_err(),
    ] {
        assert!(error.to_string().contains("holds no labels"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"case,verdict\n");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = file.read().unwrap_err().to_string();
    assert!(error.contains("is a folder, not a regular file"), "{error}");
}

//! Damaged index files: no report, and a message that says what to delete.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

const LINE: &str = "sample --skip-qa --limit 5 --profile bm25";

/// The files of a database whose path within the table starts with `part`, sorted by path.
fn files(database: &Path, part: &str) -> Vec<PathBuf> {
    let mut folders = vec![database.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut within = path.strip_prefix(database).unwrap().components();
            within.next();
            if within.as_path().starts_with(part) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_damaged_index_gives_no_report_and_says_what_to_delete() {
    let sandbox = Sandbox::new();
    sandbox.succeed(LINE);
    let rankings = fs::read(sandbox.runs()[0].join("run.trec")).unwrap();
    let database = sandbox.data().join("dbs/sample.lancedb");
    for part in ["data", "_indices", "_versions"] {
        let file = files(&database, part).pop().unwrap();
        let sound = fs::read(&file).unwrap();
        let mut damaged = sound.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(&file, damaged).unwrap();
        let table = file.ancestors().find(|it| it.parent() == Some(&database));
        let table = table.unwrap().to_str().unwrap();
        for line in [LINE.to_owned(), format!("{LINE} --skip-db")] {
            let message = sandbox.refuse(&line);
            let file = file.to_str().unwrap().strip_prefix(table).unwrap();
            let named = format!("its file `{}` was changed", &file[1..]);
            assert!(message.contains(&named), "{message}");
            let remedy = format!("; delete `{table}` to rebuild it\n");
            assert!(message.contains(&remedy), "{message}");
            assert!(!message.contains("panicked"), "{message}");
        }
        fs::write(&file, sound).unwrap();
    }
    assert_eq!(sandbox.runs().len(), 1);
    fs::remove_dir_all(&database).unwrap();
    sandbox.succeed(LINE);
    assert!(fs::read(sandbox.runs()[1].join("run.trec")).unwrap() == rankings);
}

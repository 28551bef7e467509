//! Tests of the record: damage to files, and damage to the record itself.

use super::*;

/// A change to the folder of the data.
type Change = fn(&Path);

/// A folder like that of a table, with its record.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in [
        ("_versions/1.manifest", "one"),
        ("data/a.lance", "alpha"),
        ("data/b.lance", "beta"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    FileRecord::take(folder.path())
        .unwrap()
        .write(folder.path())
        .unwrap();
    folder
}

fn defect(folder: &Path) -> Option<String> {
    let checked = FileRecord::read(folder).and_then(|record| record.unwrap().check(folder));
    match checked {
        Ok(()) => None,
        Err(FileError::Defect(defect)) => Some(defect),
        Err(FileError::Unreadable { source, .. }) => panic!("{source}"),
    }
}

#[test]
fn finds_every_kind_of_damage() {
    let changes: [(Change, &str); 5] = [
        (
            |data| fs::write(data.join("a.lance"), "alphA").unwrap(),
            "the content of its file `data/a.lance` was changed",
        ),
        (
            |data| fs::write(data.join("b.lance"), "bet").unwrap(),
            "its file `data/b.lance` has 3 bytes instead of 4",
        ),
        (
            |data| fs::remove_file(data.join("b.lance")).unwrap(),
            "its file `data/b.lance` is missing",
        ),
        (
            |data| fs::remove_dir_all(data).unwrap(),
            "its file `data/a.lance` is missing",
        ),
        (
            |data| fs::write(data.join("../_versions/2.manifest"), "two").unwrap(),
            "its file `_versions/2.manifest` was added after the index was finished",
        ),
    ];
    for (change, expected) in changes {
        let folder = recorded();
        assert_eq!(defect(folder.path()), None);
        change(&folder.path().join("data"));
        assert_eq!(defect(folder.path()).as_deref(), Some(expected));
    }
}

#[test]
fn every_byte_of_the_record_counts() {
    let folder = recorded();
    let path = folder.path().join(FILE_NAME);
    let sound = fs::read(&path).unwrap();
    for number in 0..sound.len() {
        for bit in 0..8 {
            let mut changed = sound.clone();
            changed[number] ^= 1 << bit;
            fs::write(&path, &changed).unwrap();
            let same = serde_json::from_slice::<serde_json::Value>(&changed).ok()
                == serde_json::from_slice(&sound).ok();
            assert_eq!(
                defect(folder.path()).is_none(),
                same,
                "byte {number}, bit {bit}"
            );
        }
    }
    fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    assert!(defect(folder.path()).is_some());
}

#[test]
fn a_record_that_never_ends_is_not_read() {
    let folder = recorded();
    let path = folder.path().join(FILE_NAME);
    let expected = "its file `evaluations-files.json`, which records the others, was changed";
    let long = File::create(&path).unwrap();
    long.set_len(LARGEST + 1).unwrap();
    assert_eq!(defect(folder.path()).as_deref(), Some(expected));
    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(defect(folder.path()).as_deref(), Some(expected));
    }
}

#[test]
fn files_of_other_programs_are_ignored() {
    let folder = recorded();
    for other in [".DS_Store", "_versions/.nfs01", "data/.directory"] {
        fs::write(folder.path().join(other), "other").unwrap();
    }
    assert_eq!(defect(folder.path()), None);
}

#[test]
fn a_partial_record_is_ignored() {
    let folder = recorded();
    let path = folder.path().join(FILE_NAME);
    fs::rename(&path, folder.path().join(PARTIAL_NAME)).unwrap();
    assert!(FileRecord::read(folder.path()).unwrap().is_none());
    let record = FileRecord::take(folder.path()).unwrap();
    assert_eq!(record.files.len(), 3);
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    // No file system has such long names.
    let long = folder.path().join("x".repeat(5_000));
    let Err(FileError::Unreadable { path, source }) = FileRecord::take(&long) else {
        panic!("it was read")
    };
    assert_eq!(path, long);
    assert!(!source.to_string().contains("xxx"), "{source}");
}

#[test]
fn results_come_in_the_order_of_the_items_and_the_first_failure_counts() {
    let failing_from = |first: u32| {
        in_parallel((0..200).collect(), |item: u32| match item {
            _ if item < first => Ok(item),
            _ => Err(FileError::Defect(item.to_string())),
        })
    };
    assert_eq!(failing_from(200).unwrap(), (0..200).collect::<Vec<_>>());
    let Err(FileError::Defect(first)) = failing_from(70) else {
        panic!("items failed")
    };
    assert_eq!(first, "70");
    assert!(in_parallel(Vec::<u32>::new(), Ok).unwrap().is_empty());
}

//! Tests of exports.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evals_rag::{Document, Question};
use proptest::prelude::*;

use super::*;
use crate::error::DataError;
use crate::hub::{Hub, HubSettings};
use crate::manifest::{Manifest, Origin};

const ROWS: &str = "\
topic,doc,title,text,qid,question,answer
News,d/1,First,\"First \"\"text\"\".\",q1,One?,yes
News,d/1,First,\"First \"\"text\"\".\",q2,Two?,NOT FOUND
Sport,D/1,,Second text.,q3,Three?,
";
const MANIFEST: &str = "\
name: 'odd: #name'
description: a \"quoted\" one
source: {path: rows.csv}
documents: {uri: doc, title: title, text: text, metadata: [topic], deduplicate: true}
questions: {id: qid, text: question, answer: answer, relevant: [doc], metadata: [topic]}
unanswerable: {answer: NOT FOUND}
retrieval: {limit: 3, headline: RR@3, measures: [RR@3], ignore_identical_ids: true}
settings: {processing: {chunk_size: null}}
";

fn collection(manifest: &Path) -> Collection {
    let text = fs::read_to_string(manifest).unwrap();
    let manifest = Manifest::parse(&text, Origin::File(manifest.to_owned())).unwrap();
    let hub = Hub::new(HubSettings::from_variables(|_| None));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(Collection::resolve(&manifest, &hub, &()))
        .unwrap()
}

fn source() -> (tempfile::TempDir, Collection) {
    source_with(MANIFEST)
}

fn source_with(manifest: &str) -> (tempfile::TempDir, Collection) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.csv"), ROWS).unwrap();
    fs::write(folder.path().join("my.yaml"), manifest).unwrap();
    let collection = collection(&folder.path().join("my.yaml"));
    (folder, collection)
}

fn read(collection: &Collection) -> (Vec<Document>, Vec<Question>) {
    let documents = collection.documents().unwrap();
    let documents = documents.collect::<Result<_, DataError>>().unwrap();
    (documents, collection.questions().unwrap().questions)
}

/// The files below a folder with their texts.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let names = crate::hub::files_below(folder).unwrap();
    names
        .into_iter()
        .map(|name| {
            let bytes = fs::read(folder.join(&name)).unwrap();
            (name, String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

#[test]
fn questions_are_written_without_their_answers() {
    let (folder, collection) = source();
    let to = folder.path().join("out");
    let exported = collection.export(&to, Export::default(), &|| true).unwrap();
    assert_eq!((exported.documents, exported.questions), (2, 3));
    assert!(!exported.has_manifest);
    let files = files(&to);
    assert_eq!(
        files["documents.jsonl"],
        "{\"id\": \"d/1\", \"title\": \"First\", \"text\": \"First \\\"text\\\".\", \"metadata\": {\"topic\":\"News\"}}\n\
         {\"id\": \"D/1\", \"title\": null, \"text\": \"Second text.\", \"metadata\": {\"topic\":\"Sport\"}}\n"
    );
    assert_eq!(
        files["questions.jsonl"],
        "{\"id\": \"q1\", \"question\": \"One?\"}\n{\"id\": \"q2\", \"question\": \"Two?\"}\n{\"id\": \"q3\", \"question\": \"Three?\"}\n"
    );
    assert_eq!(files.len(), 2);
}

#[test]
fn an_export_with_answers_reads_back_as_the_same_dataset() {
    let (folder, original) = source();
    for (name, format) in [
        ("lines", ExportFormat::JsonLines),
        ("tables", ExportFormat::Parquet),
    ] {
        let to = folder.path().join(name);
        let export = Export {
            format,
            with_answers: true,
            ..Export::default()
        };
        let exported = original.export(&to, export, &|| true).unwrap();
        assert!(exported.has_manifest);
        let again = collection(&to.join("dataset.yaml"));
        assert_eq!(read(&again), read(&original), "{name}");
        let [first, second] = [original.manifest(), again.manifest()];
        assert_eq!(first.name, second.name);
        assert_eq!(first.description, second.description);
        assert_eq!(first.retrieval, second.retrieval);
        assert_eq!(first.unanswerable, second.unanswerable);
        assert_eq!(first.settings.to_value(), second.settings.to_value());
    }
}

#[test]
fn questions_that_a_column_calls_unanswerable_are_exported() {
    let manifest = MANIFEST.replace("{answer: NOT FOUND}", "{where: {qid: [q2, q3]}}");
    let (folder, original) = source_with(&manifest);
    for format in [ExportFormat::JsonLines, ExportFormat::Parquet] {
        let to = folder.path().join(format.extension());
        let export = Export {
            format,
            with_answers: true,
            ..Export::default()
        };
        original.export(&to, export, &|| true).unwrap();
        let again = read(&collection(&to.join("dataset.yaml")));
        assert_eq!(again, read(&original));
        let answerable = again.1.iter().map(|it| it.answerable);
        assert_eq!(answerable.collect::<Vec<_>>(), [true, false, false]);
    }
}

#[test]
fn further_right_answers_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let rows =
        "{\"id\": \"a\", \"text\": \"One.\", \"q\": \"One?\", \"answers\": [\"x\", \"y, z\"]}\n";
    fs::write(folder.path().join("rows.jsonl"), rows).unwrap();
    let manifest = "name: m\nsource: {path: rows.jsonl}\ndocuments: {uri: id, text: text}\n\
                    questions: {text: q, answer: 'answers[]', relevant: id}\n";
    fs::write(folder.path().join("m.yaml"), manifest).unwrap();
    let original = collection(&folder.path().join("m.yaml"));
    for format in [ExportFormat::JsonLines, ExportFormat::Parquet] {
        let to = folder.path().join(format.extension());
        let export = Export {
            format,
            with_answers: true,
            questions_only: false,
        };
        original.export(&to, export, &|| true).unwrap();
        let again = collection(&to.join(Manifest::FILE));
        assert_eq!(read(&again), read(&original));
        assert_eq!(read(&again).1[0].accepted, ["y, z"]);
    }
}

#[test]
fn texts_are_files_that_a_table_names() {
    let (folder, collection) = source();
    let to = folder.path().join("out");
    let export = Export {
        format: ExportFormat::Text,
        ..Export::default()
    };
    collection.export(&to, export, &|| true).unwrap();
    let files = files(&to);
    assert_eq!(files["documents/000001-d-1.txt"], "First \"text\".");
    assert_eq!(files["documents/000002-d-1.txt"], "Second text.");
    assert_eq!(
        files["manifest.jsonl"].lines().next().unwrap(),
        "{\"id\": \"d/1\", \"file\": \"documents/000001-d-1.txt\", \"title\": \"First\", \"metadata\": {\"topic\":\"News\"}}"
    );
    assert_eq!(files.len(), 4);
}

#[test]
fn an_empty_folder_is_filled_and_a_full_one_refused() {
    let (folder, collection) = source();
    let to = folder.path().join("out");
    fs::create_dir(&to).unwrap();
    let only = Export {
        questions_only: true,
        ..Export::default()
    };
    collection.export(&to, only, &|| true).unwrap();
    assert_eq!(files(&to).len(), 1);
    let error = |to: &Path| {
        collection
            .export(to, only, &|| true)
            .unwrap_err()
            .to_string()
    };
    assert!(error(&to).contains("is not empty"), "{}", error(&to));
    let file = folder.path().join("rows.csv");
    assert!(error(&file).contains("is not a folder"));
    let deep = folder.path().join("a/b");
    assert!(error(&deep).ends_with("does not exist"), "{}", error(&deep));
}

#[test]
fn nothing_is_left_of_an_export_that_fails() {
    let (folder, collection) = source();
    let entries = || crate::hub::files_below(folder.path()).unwrap();
    let before = entries();
    for existing in [false, true] {
        let to = folder.path().join("out");
        if existing {
            fs::create_dir(&to).unwrap();
        }
        let stopped = collection.export(&to, Export::default(), &|| false);
        assert!(matches!(stopped, Err(ExportError::Stopped)));
        assert_eq!(to.exists(), existing);
        assert_eq!(entries(), before);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            before.len() + usize::from(existing)
        );
    }
}

#[test]
fn the_folder_of_a_killed_export_is_removed_and_that_of_a_live_one_is_not() {
    let (folder, collection) = source();
    for existing in [false, true] {
        let to = folder.path().join(format!("out-{existing}"));
        let around = if existing {
            to.as_path()
        } else {
            folder.path()
        };
        fs::create_dir_all(around).unwrap();
        let left = around.join(".export-4194305.partial");
        let others = [".export-mine.partial", "export-1.partial"].map(|name| around.join(name));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("documents.jsonl"), "{}").unwrap();
        let export = || collection.export(&to, Export::default(), &|| true);

        let alive = fs::File::open(&left).unwrap();
        alive.lock().unwrap();
        let beside_a_live_one = export();
        assert!(left.is_dir());
        if existing {
            let error = beside_a_live_one.unwrap_err().to_string();
            assert!(error.contains("is not empty"), "{error}");
        } else {
            beside_a_live_one.unwrap();
            fs::remove_dir_all(&to).unwrap();
            for other in &others {
                fs::create_dir(other).unwrap();
            }
        }
        drop(alive);
        export().unwrap();
        assert!(!left.exists());
        assert!(existing || others.iter().all(|other| other.is_dir()));
        assert_eq!(files(&to).len(), 2);
    }
}

#[test]
fn a_name_shows_the_id_and_nothing_else_of_it() {
    assert_eq!(
        file_name(1, "guides/Reset password.md"),
        "000001-guides-reset-password-md.txt"
    );
    assert_eq!(file_name(2, "../../etc/passwd"), "000002-etc-passwd.txt");
    assert_eq!(file_name(3, "C:\\CON"), "000003-c-con.txt");
    assert_eq!(file_name(4, "東京"), "000004.txt");
    assert_eq!(file_name(1_234_567, ""), "1234567.txt");
}

proptest! {
    #[test]
    fn names_are_safe_and_of_different_numbers_different(id in any::<String>(), other in any::<String>()) {
        let name = file_name(1, &id);
        let is_safe = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
        prop_assert!(name.bytes().all(is_safe) && name.len() <= 75);
        prop_assert!(name != file_name(2, &other) && name != file_name(10, &other));
    }
}

#[test]
fn awkward_chunks_keep_their_place() {
    let (folder, collection) = source();
    let odd = |ordinal, text: &str, vector| Chunk {
        document: "d\\1".to_owned(),
        title: None,
        metadata: Map::from_iter([("a".to_owned(), json!("\t"))]),
        ordinal,
        text: text.to_owned(),
        vector,
    };
    let export = |format, count: u32| {
        let to = folder.path().join(format!("{format:?}{count}"));
        let mut chunks = vec![
            odd(0, "a\tb\\N\r\n\\.\0", Some(vec![0.1, -1e-9])),
            odd(1, "", None),
        ];
        chunks.extend((2..count).map(|ordinal| odd(ordinal, "x", Some(vec![1.0, 2.0]))));
        let export = Export {
            format,
            ..Export::default()
        };
        let chunks = chunks.into_iter().map(Ok);
        let exported = collection.export_chunks(&to, export, Some(2), chunks, &|| true);
        assert_eq!(exported.unwrap().chunks, u64::from(count));
        files(&to)
    };
    let script = &export(ExportFormat::Sql, 2)["chunks.sql"];
    let rows = script.split_once("FROM stdin;\n").unwrap().1;
    assert_eq!(
        rows,
        "d\\\\1#0\td\\\\1\t\\N\ta\\tb\\\\N\\r\\n\\\\.\u{fffd}\t{\"a\":\"\\\\t\"}\t[0.1,-1e-9]\n\
         d\\\\1#1\td\\\\1\t\\N\t\t{\"a\":\"\\\\t\"}\t\\N\n\\.\nCOMMIT;\n"
    );
    let lines = &export(ExportFormat::JsonLines, 2)["chunks.jsonl"];
    let second = lines.lines().nth(1).unwrap();
    assert_eq!(
        second,
        r#"{"id":"d\\1#1","document_id":"d\\1","text":"","metadata":{"a":"\t"}}"#
    );
    for (count, requests) in [(2, 1), (99, 1), (100, 1), (101, 2), (200, 2)] {
        let lines = &export(ExportFormat::Qdrant, count)["chunks.jsonl"];
        let parsed = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let points: Vec<usize> = parsed
            .map(|it| it["points"].as_array().unwrap().len())
            .collect();
        assert_eq!(
            (points.len(), points.iter().sum()),
            (requests, count as usize)
        );
    }
    let request = &export(ExportFormat::Qdrant, 3)["chunks.jsonl"];
    assert!(
        request.contains(r#","vector":{},"payload":{"id":"d\\1#1","#),
        "{request}"
    );
    let failing = [Err("the disk is gone".into())];
    let to = folder.path().join("none");
    let failed = collection.export_chunks(&to, Export::default(), None, failing, &|| true);
    assert_eq!(failed.unwrap_err().to_string(), "the disk is gone");
    assert!(!to.exists());
}

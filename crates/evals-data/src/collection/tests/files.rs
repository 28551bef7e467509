//! Tests of the files of a collection: their provenance, and refused files.

use super::*;

#[test]
fn a_file_has_one_provenance_however_its_path_is_written() {
    let tables = tables(&[("rows.csv", "id,text,relevant\nd1,one,d1\n")]);
    let recorded = |path: &str| {
        let manifest = format!(
            "source: {{path: {path}}}\ndocuments: {{uri: id, text: text}}\nquestions: {{text: text, relevant: relevant}}\n"
        );
        let provenance = tables.collection(&manifest).provenance().clone();
        provenance.documents.files[0].path.clone()
    };
    assert_eq!(recorded("rows.csv"), "rows.csv");
    assert_eq!(recorded("./rows.csv"), "rows.csv");
}

#[test]
fn missing_files_columns_and_rows_are_named() {
    let tables = tables(&[
        ("rows.csv", "doc,text\n"),
        ("bad.parquet", "<html>rate limit</html>"),
    ]);
    let own = |path: &str| {
        format!(
            "source: {{path: {path}}}\ndocuments: {{uri: doc, text: text}}\nquestions: {{text: text, relevant: doc}}\n"
        )
    };
    assert_eq!(
        tables.documents_error(&own("rows.csv")),
        "dataset `my` has no documents"
    );
    assert_eq!(
        tables.documents_error(&own("rows.csv").replace("text: text}\nq", "text: body}\nq")),
        "`rows.csv` has no column `body`; its columns are `doc`, `text`"
    );
    let failed = |manifest: &str| tables.message(&tables.try_collection(manifest).unwrap_err());
    assert_eq!(failed(&own("absent.csv")), "no file matches `absent.csv`");
    assert_eq!(failed(&own("bad.parquet")), "`bad.parquet` is damaged");
    assert!(
        failed(&own(".")).contains("is a folder: name its files with `files: [\"*.parquet\"]`")
    );
    assert_eq!(
        failed(&own("., files: '*.jsonl'")).rsplit('/').next(),
        Some("*.jsonl`")
    );
    assert_eq!(
        failed(&own("rows.csv, files: '*.csv'")),
        "`rows.csv` is a file, but `files` names files in a folder: remove `files`"
    );
    assert_eq!(documents_of_folder(&tables), 0);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_sources() {
    let tables = tables(&[]);
    let pipe = tables.0.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (path, kind) in [("pipe.csv", "a named pipe"), ("/dev/zero", "a device")] {
        let manifest = format!(
            "source: {{path: {path}}}\ndocuments: {{uri: doc, text: text}}\nquestions: {{text: text, relevant: doc}}\n"
        );
        let refused = tables.try_collection(&manifest).unwrap_err();
        assert_eq!(
            tables.message(&refused),
            format!(
                "`{path}` is {kind}; a dataset must consist of regular files, which are read more than once"
            )
        );
        // Nor is it one of a folder's files.
        let folder = manifest.replace(&format!("path: {path}"), "path: ., files: '*.csv'");
        let none = tables.try_collection(&folder).unwrap_err();
        assert!(matches!(none, DataError::NoFile { .. }), "{none}");
    }
    std::fs::rename(&pipe, tables.0.path().join("mine.yaml")).unwrap();
    let manifest = Manifest::read(&tables.0.path().join("mine.yaml")).unwrap_err();
    let told = manifest.to_string();
    assert!(
        told.ends_with("is a named pipe; only a regular file is read"),
        "{told}"
    );
}

/// A folder with globs works like a file; here it has a header and no row.
fn documents_of_folder(tables: &Tables) -> u64 {
    let manifest = "source: {path: ., files: '*.csv'}\ndocuments: {uri: doc, text: text}\nquestions: {text: text, relevant: doc}\n";
    let mut documents = tables.collection(manifest).documents().unwrap();
    assert!(matches!(
        documents.next(),
        Some(Err(DataError::Empty { rows: 0, .. }))
    ));
    assert!(documents.next().is_none(), "it ends after an error");
    documents.tally().counts().documents
}

#[test]
fn the_fingerprint_depends_on_content_and_mapping_but_not_on_the_path() {
    let fingerprint = |rows: &str, manifest: &str| {
        let provenance = tables(&[("rows.csv", rows)])
            .collection(manifest)
            .provenance()
            .clone();
        (provenance.fingerprint(), provenance.documents_fingerprint())
    };
    let first = fingerprint(ROWS, REPLIQA);
    assert_eq!(
        first,
        fingerprint(ROWS, REPLIQA),
        "another folder, the same data"
    );
    let other_rows = fingerprint(&ROWS.replace("yes", "no"), REPLIQA);
    assert!(first.0 != other_rows.0 && first.1 != other_rows.1);
    let other_questions = fingerprint(ROWS, &REPLIQA.replace("answer: answer", "answer: text"));
    assert!(
        first.0 != other_questions.0 && first.1 == other_questions.1,
        "the corpus is the same"
    );
}

#[test]
fn resolving_can_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    fn assert_static<T: Send + 'static>() {}
    let manifest = crate::Catalog::new::<&str>([]).find("sample").unwrap();
    let hub = Hub::new(HubSettings::from_env());
    assert_send(&Collection::resolve(&manifest, &hub, &()));
    assert_static::<Documents>();
}

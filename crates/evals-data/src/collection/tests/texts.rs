//! Tests of folders of texts as corpora.

use super::*;

const MANIFEST: &str = "\
documents: {source: {path: docs, files: [\"**/*.md\", \"**/*.html\"]}}
questions: {source: {path: asked.csv}, text: q, relevant: doc}
";

fn folder(files: &[(&str, &str)]) -> Tables {
    let tables = tables(&[("asked.csv", "q,doc\nOne?,a.md\n")]);
    for (name, text) in files {
        let path = tables.0.path().join("docs").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    tables
}

#[test]
fn each_file_is_a_document_in_the_order_of_paths() {
    let tables = folder(&[
        ("deep/b.html", "<title>B</title><p>Text of b."),
        ("a.md", "---\ntags: [x]\n---\n# A\nText of a."),
        ("deep/a.md", "Text without a title."),
        (".hidden/c.md", "hidden"),
        ("deep/.d.md", "hidden"),
        ("other.csv", "not,matched\n"),
    ]);
    let collection = tables.collection(MANIFEST);
    let (read, counts) = documents(&collection);
    let shown: Vec<Value> = read.iter().map(|document| json!(document)).collect();
    assert_eq!(
        shown,
        [
            json!({"uri": "a.md", "title": "A", "text": "# A\nText of a.", "metadata": {"tags": ["x"]}}),
            json!({"uri": "deep/a.md", "title": null, "text": "Text without a title.", "metadata": {}}),
            json!({"uri": "deep/b.html", "title": "B", "text": "B Text of b.", "metadata": {}}),
        ]
    );
    assert_eq!(counts.documents, 3);
    let files = &collection.provenance().documents.files;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.md", "deep/a.md", "deep/b.html"]);
    assert_eq!(collection.questions().unwrap().questions.len(), 1);
}

#[test]
fn a_renamed_text_is_another_corpus_and_a_moved_folder_is_not() {
    let fingerprint = |files: &[(&str, &str)]| {
        let tables = folder(files);
        let collection = tables.collection(MANIFEST);
        collection.provenance().documents_fingerprint()
    };
    let first = fingerprint(&[("a.md", "one"), ("b.html", "two")]);
    assert_eq!(first, fingerprint(&[("a.md", "one"), ("b.html", "two")]));
    assert_ne!(first, fingerprint(&[("a.md", "one"), ("c.html", "two")]));
}

#[test]
fn an_empty_text_is_dropped_and_named() {
    let tables = folder(&[
        ("a.md", "text"),
        ("b.html", ""),
        ("c.html", "<title>only</title>"),
    ]);
    let collection = tables.collection(MANIFEST);
    let mut stream = collection.documents().unwrap();
    let read: Vec<Document> = stream.by_ref().collect::<Result<_, _>>().unwrap();
    let tally = stream.tally();
    assert_eq!((tally.counts().empty, tally.counts().title_only), (1, 1));
    assert_eq!(tally.empty(), ["b.html"]);
    assert_eq!(read[1].text, "only");
}

#[test]
fn a_manifest_may_name_other_columns_of_texts() {
    let tables = folder(&[
        ("a.md", "---\nslug: first\nlang: en\n---\ntext"),
        ("b.html", "<p>no front matter"),
    ]);
    let named = MANIFEST
        .replace(
            "}}\nquestions",
            "}, uri: slug, text: text, where: {lang: en}}\nquestions",
        )
        .replace("asked.csv", "other.csv");
    std::fs::write(tables.0.path().join("other.csv"), "q,doc\nOne?,first\n").unwrap();
    let (read, counts) = documents(&tables.collection(&named));
    assert_eq!(read[0].uri, "first");
    assert_eq!((counts.documents, counts.filtered), (1, 1));
    assert!(
        read[0].title.is_none() && read[0].metadata.is_empty(),
        "as for tables"
    );

    let picked = MANIFEST.replace("}}\nquestions", "}, metadata: [lang]}\nquestions");
    let (read, _) = documents(&tables.collection(&picked));
    assert_eq!(json!(read[0].metadata), json!({"lang": "en"}));
    assert_eq!(json!(read[1].metadata), json!({"lang": null}));
}

#[test]
fn texts_and_tables_do_not_mix() {
    let tables = folder(&[("a.md", "text"), ("b.csv", "id,text\n1,one\n")]);
    let error = |manifest: &str| {
        let error = tables.try_collection(manifest).unwrap_err();
        tables.message(&error)
    };
    assert_eq!(
        error(&MANIFEST.replace("**/*.html", "**/*.csv")),
        "`a.md` is a text and `b.csv` is a table; a table of documents consists of one or the other"
    );
    assert_eq!(
        error(&MANIFEST.replace("\"**/*.md\", \"**/*.html\"", "\"*.csv\"")),
        "`b.csv` is a table, so the manifest has to name its columns: add `uri` and `text` to `documents`"
    );
}

#[test]
fn what_has_to_be_converted_is_named_before_anything_else() {
    let tables = folder(&[("a.md", "text"), ("b.pdf", "%PDF"), ("c.DOCX", "PK")]);
    let error = |files: &str| {
        let manifest = MANIFEST.replace("\"**/*.md\", \"**/*.html\"", files);
        let error = tables.try_collection(&manifest).unwrap_err();
        tables.message(&error)
    };
    assert_eq!(
        error("\"*.md\", \"*.pdf\""),
        "`b.pdf` is a PDF, which is not read; convert it to text first, such as with `pdftotext`"
    );
    assert!(error("\"*.DOCX\"").starts_with("`c.DOCX` is a Word file, which is not read"));
}

#[test]
fn a_document_that_the_patterns_leave_out_is_named_with_that_reason() {
    let tables = folder(&[("a.md", "text"), ("deep/b.html", "text"), ("c.txt", "text")]);
    let asked = tables.0.path().join("asked.csv");
    std::fs::write(asked, "q,doc\nOne?,c.txt\nTwo?,a.md\nThree?,d.txt\n").unwrap();
    let message = tables.questions_error(MANIFEST);
    assert!(
        message.contains(
            "c.txt exists, but `files: [\"**/*.md\",\"**/*.html\"]` leaves it out\n  asked.csv:4: "
        ),
        "{message}"
    );
    assert!(!message.contains("d.txt exists"), "{message}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_followed_once() {
    let tables = folder(&[("a.md", "text"), ("deep/b.html", "text")]);
    let docs = tables.0.path().join("docs");
    std::os::unix::fs::symlink(&docs, docs.join("deep/up")).unwrap();
    let (read, _) = documents(&tables.collection(MANIFEST));
    let uris: Vec<&str> = read.iter().map(|document| document.uri.as_str()).collect();
    assert_eq!(uris, ["a.md", "deep/b.html"]);
}

#[test]
fn a_defect_names_its_file() {
    let tables = folder(&[("a.md", "text"), ("deep/b.html", "")]);
    std::fs::write(tables.0.path().join("docs/deep/b.html"), b"one\n\xff").unwrap();
    assert_eq!(
        tables.documents_error(MANIFEST),
        "deep/b.html:2: the text is not UTF-8"
    );
    std::fs::write(tables.0.path().join("docs/deep/b.html"), "fine").unwrap();
    std::fs::write(tables.0.path().join("docs/a.md"), "---\na: [\n---\n").unwrap();
    assert!(tables.documents_error(MANIFEST).starts_with("a.md:"),);
}

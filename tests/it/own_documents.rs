//! Own documents as they are: folders of markdown, HTML and text, with questions from JSON files.

use crate::sandbox::{Sandbox, json};

const MANIFEST: &str = "\
name: handbook
documents: {source: {path: docs, files: [\"**/*.md\", \"**/*.html\", \"**/*.txt\"]}}
questions: {source: {path: questions.json}, id: id, text: query, relevant: relevant, metadata: [topic]}
retrieval: {limit: 2, headline: nDCG@2, measures: [nDCG@2, R@2]}
";

fn handbook() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in [
        (
            "docs/security/password.md",
            "---\ntitle: Passwords\ntags: [account]\n---\n# Forgotten password\n\nOpen Settings and press Reset password.\n",
        ),
        (
            "docs/export.html",
            "<!doctype html><title>Export</title><body><h1>Notes</h1><p>Choose Export in the <b>File</b> menu.</p></body>",
        ),
        (
            "docs/invoices.txt",
            "We send invoices on the first day of the month.\n",
        ),
        ("docs/.git/notes.md", "# Nobody should find this password\n"),
        ("docs/empty.md", "\n"),
        (
            "questions.json",
            r#"[
  {"id": "a", "query": "How do I reset my password?", "relevant": {"security/password.md": 2, "invoices.txt": 0}, "topic": "account"},
  {"id": "b", "query": "Where is the export menu?", "relevant": [{"id": "export.html", "grade": 1}], "topic": "notes"},
  {"id": "c", "query": "When are invoices sent?", "relevant": ["invoices.txt"]}
]"#,
        ),
        ("handbook.yaml", MANIFEST),
    ] {
        sandbox.write(name, text);
    }
    sandbox
}

#[test]
fn a_folder_of_texts_is_searched_and_measured() {
    let sandbox = handbook();
    let ended = sandbox.run("./handbook.yaml --skip-qa --profile bm25 --out report.json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("skipped 1 of 4 document rows: 1 had neither text nor title (`empty.md`)"),
        "{}",
        ended.stderr
    );
    let report = json(&sandbox.work().join("report.json"));
    let scores = &report["summary"]["scores"];
    assert_eq!(scores["nDCG@2"]["value"], 1.0, "{scores}");
    let first = &report["cases"][0];
    assert_eq!(first["expected"]["security/password.md"], 2, "{first}");
    let manifest = json(&sandbox.runs()[0].join("manifest.json"));
    let files = manifest["dataset"]["provenance"]["documents"]["files"]
        .as_array()
        .unwrap();
    let paths: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "empty.md",
            "export.html",
            "invoices.txt",
            "security/password.md"
        ]
    );
    let exported = sandbox.run("export ./handbook.yaml --to corpus --with-answers");
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let corpus = std::fs::read_to_string(sandbox.work().join("corpus/documents.jsonl")).unwrap();
    assert!(
        corpus.contains(r#"{"id": "export.html", "title": "Export", "text": "Export Notes\n\nChoose Export in the File menu."#),
        "{corpus}"
    );
    sandbox.succeed(
        "corpus/dataset.yaml --skip-qa --profile bm25 --filter-case topic=notes --out again.json",
    );
    let again = json(&sandbox.work().join("again.json"));
    assert_eq!(
        again["cases"][0]["outcomes"],
        report["cases"][1]["outcomes"]
    );
}

#[test]
fn a_renamed_file_is_indexed_again() {
    let sandbox = handbook();
    sandbox.succeed("./handbook.yaml --skip-qa --skip-retrieval");
    let docs = sandbox.work().join("docs");
    std::fs::rename(docs.join("invoices.txt"), docs.join("bills.txt")).unwrap();
    let message = sandbox.refuse("./handbook.yaml --skip-qa");
    assert!(
        message.contains("judgements name a document missing from the corpus or without text there: `invoices.txt`"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let sandbox = handbook();
    sandbox.write("docs/latin1.txt", b"caf\xe9\n");
    let message = sandbox.refuse("./handbook.yaml --skip-qa");
    assert!(
        message.contains("latin1.txt:1: the text is not UTF-8"),
        "{message}"
    );
    sandbox.write("docs/latin1.txt", "fine");
    sandbox.write("questions.json", "[{\"id\": \"a\",\n  \"query\": \"?\"");
    let message = sandbox.refuse("./handbook.yaml --skip-qa");
    assert!(
        message.contains("questions.json:1: the file ends in the middle of this object"),
        "{message}"
    );
    sandbox.write("rows.csv", "id,text\n1,one\n");
    sandbox.write(
        "table.yaml",
        MANIFEST.replace(
            "{path: docs, files: [\"**/*.md\", \"**/*.html\", \"**/*.txt\"]}",
            "{path: rows.csv}",
        ),
    );
    let message = sandbox.refuse("./table.yaml --skip-qa");
    assert!(
        message.contains("rows.csv` is a table, so the manifest has to name its columns: add `uri` and `text` to `documents`"),
        "{message}"
    );
}

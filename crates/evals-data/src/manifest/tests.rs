use serde_json::json;

use super::*;

const REPLIQA: &str = "\
name: repliqa
description: news
source: {repo: ServiceNow/repliqa, revision: main, files: [\"data/repliqa_3-*.parquet\"]}
documents: {uri: document_id, text: document_extracted, where: {document_topic: News Stories}, deduplicate: true}
questions: {id: question_id, text: question, answer: answer, relevant: [document_id]}
unanswerable: {answer: \"The answer is not found in the document.\"}
retrieval: {limit: 5, headline: RR@5, measures: [R@1, nDCG@5]}
settings: {processing: {chunk_size: null}}
";

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(text, Origin::File("sets/my.yaml".into()))
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn reads_every_key() {
    let manifest = parse(REPLIQA).unwrap();
    let hub = Source::Hub {
        repo: "ServiceNow/repliqa".to_owned(),
        revision: "main".to_owned(),
        files: vec!["data/repliqa_3-*.parquet".to_owned()],
    };
    assert_eq!(manifest.sources().collect::<Vec<_>>(), [&hub, &hub]);
    assert_eq!(
        manifest.documents.columns.text,
        ["document_extracted".parse().unwrap()]
    );
    assert_eq!(
        manifest.documents.columns.deduplicate,
        Deduplicate::Identical
    );
    assert!(
        manifest
            .documents
            .columns
            .filter
            .accepts(&[json!("News Stories")])
    );
    assert!(manifest.is_unanswerable(" The answer is not found in the document.\n"));
    assert_eq!(manifest.retrieval.limit.get(), 5);
    let measures: Vec<String> = manifest
        .retrieval
        .measures
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        measures,
        ["RR@5", "R@1", "nDCG@5"],
        "the headline is reported too"
    );
    assert_eq!(manifest.settings["processing"], json!({"chunk_size": null}));
}

#[test]
fn an_unknown_key_names_line_and_nearest() {
    assert_eq!(
        error(
            &REPLIQA
                .replace("licence", "x")
                .replace("unanswerable:", "unanswerabel:")
        ),
        "sets/my.yaml:6: unknown key `unanswerabel`, did you mean `unanswerable`?"
    );
    assert_eq!(
        error(&REPLIQA.replace("text: question", "txt: question")),
        "sets/my.yaml:5: unknown key `txt`, did you mean `text`?"
    );
    assert_eq!(
        error(&REPLIQA.replace("limit: 5", "zzz: 5")),
        "sets/my.yaml:7: unknown key `zzz`; known here: limit, headline, measures, ignore_identical_ids"
    );
}

#[test]
fn a_wrong_value_names_its_line() {
    assert!(error(&REPLIQA.replace("limit: 5", "limit: 0")).starts_with("sets/my.yaml:7: "));
    assert!(
        error(&REPLIQA.replace("headline: RR@5", "headline: QQ@5")).starts_with("sets/my.yaml:7: ")
    );
    assert_eq!(
        error(&REPLIQA.replace("text: question,", "text: \"a[].b\",")),
        "sets/my.yaml:5: column `a[].b`: `[]` may stand at the end only"
    );
    assert_eq!(
        error(&REPLIQA.replace("deduplicate: true", "deduplicate: last")),
        "sets/my.yaml:4: invalid value: string \"last\", expected `true`, `false` or `first`"
    );
}

#[test]
fn a_missing_table_is_named() {
    let lines = REPLIQA
        .lines()
        .filter(|line| !line.starts_with("documents"));
    let without_documents = lines.collect::<Vec<_>>().join("\n");
    assert!(
        error(&without_documents).ends_with("missing key `documents`"),
        "{}",
        error(&without_documents)
    );
}

#[test]
fn contradictions_are_errors() {
    let with_source = |source: &str| {
        let line = REPLIQA.lines().nth(2).unwrap();
        error(&REPLIQA.replace(line, source))
    };
    assert_eq!(
        with_source("licence: none"),
        "sets/my.yaml:4: a source needs `repo` or `path`"
    );
    assert_eq!(
        with_source("source: {repo: a/b, path: c.csv}"),
        "sets/my.yaml:3: a source has `repo` or `path`, not both"
    );
    assert_eq!(
        with_source("source: {repo: b, files: x.parquet}"),
        "sets/my.yaml:3: `repo: b` is not of the form `owner/name`"
    );
    assert_eq!(
        with_source("source: {repo: a/b}"),
        "sets/my.yaml:3: a `repo` needs `files`: one or more globs such as `data/*.parquet`"
    );
    assert_eq!(
        with_source("source: {path: a.csv, revision: main}"),
        "sets/my.yaml:3: `revision` belongs to a `repo`, not to a `path`"
    );
    for source in ["{path: a, files: 'x['}", "{repo: a/b, files: 'x['}"] {
        assert_eq!(
            with_source(&format!("source: {source}")),
            "sets/my.yaml:3: error parsing glob 'x[': unclosed character class; missing ']'"
        );
    }
    assert_eq!(
        error(&REPLIQA.replace(", relevant: [document_id]", "")),
        "sets/my.yaml:5: nothing says which documents are relevant: give `questions.relevant` or `judgements`"
    );
}

#[test]
fn tables_inherit_what_they_leave_out() {
    let manifest = parse(
        "name: beir\nsource: {repo: mteb/x, revision: v1}\n\
         documents: {source: {files: corpus/*.parquet}, uri: _id, text: [title, text]}\n\
         questions: {source: {path: mine.csv}, id: _id, text: text}\n\
         judgements: {source: {files: '**/test*.parquet'}, query: query-id, document: corpus-id, grade: score}\n",
    )
    .unwrap();
    let hub = |glob: &str| Source::Hub {
        repo: "mteb/x".to_owned(),
        revision: "v1".to_owned(),
        files: vec![glob.to_owned()],
    };
    assert_eq!(manifest.documents.source, hub("corpus/*.parquet"));
    assert_eq!(manifest.judgements.unwrap().source, hub("**/test*.parquet"));
    assert_eq!(
        manifest.questions.source,
        Source::Path {
            path: "sets/mine.csv".into(),
            files: vec![]
        }
    );
}

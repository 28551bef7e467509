//! Manifests, valid and invalid.

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
            .rest_of(&[json!("News Stories")])
            .is_some()
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
        "the headline is reported, and comes first"
    );
    assert_eq!(
        manifest.settings.to_value(),
        json!({"processing": {"chunk_size": null}})
    );
    let chunk_size = manifest.settings.deepest(&["processing", "chunk_size"]);
    assert_eq!(chunk_size.and_then(|entry| entry.line), Some(8));
}

#[test]
fn a_measure_may_have_any_of_its_names() {
    let spelled = REPLIQA
        .replace("headline: RR@5", "headline: MRR@5")
        .replace("[R@1, nDCG@5]", "[recip_rank, MAP@10, map_cut_5, RR@5]");
    let measures = parse(&spelled).unwrap().retrieval.measures;
    let measures: Vec<String> = measures.iter().map(ToString::to_string).collect();
    assert_eq!(measures, ["RR@5", "RR", "AP@10", "AP@5"]);
}

#[test]
fn unanswerable_needs_a_column_of_answers() {
    assert_eq!(
        error(&REPLIQA.replace(" answer: answer,", "")),
        "sets/my.yaml:6: `unanswerable` compares reference answers, but `questions.answer` names no column"
    );
    let unset = REPLIQA.replace(
        "unanswerable: {answer: \"The answer is not found in the document.\"}",
        "unanswerable: {answer: []}",
    );
    assert_eq!(
        parse(&unset.replace(" answer: answer,", ""))
            .unwrap()
            .unanswerable,
        [""; 0]
    );
}

#[test]
fn an_unknown_key_names_line_and_nearest() {
    assert_eq!(
        error(
            &REPLIQA
                .replace("licence", "x")
                .replace("unanswerable:", "unanswerabel:")
        ),
        "sets/my.yaml:6: unknown key `unanswerabel`; did you mean `unanswerable`?"
    );
    assert_eq!(
        error(&REPLIQA.replace("text: question", "txt: question")),
        "sets/my.yaml:5: unknown key `txt`; did you mean `text`?"
    );
    assert_eq!(
        error(&REPLIQA.replace("limit: 5", "zzz: 5")),
        "sets/my.yaml:7: unknown key `zzz`; the keys here are limit, headline, measures, ignore_identical_ids, incomplete_judgements"
    );
}

#[test]
fn a_wrong_value_names_its_line() {
    assert_eq!(
        error(&REPLIQA.replace("limit: 5", "limit: 0")),
        "sets/my.yaml:7:13: expected a whole number of at least 1, found `0`"
    );
    assert_eq!(
        error(&REPLIQA.replace("headline: RR@5", "headline: QQ@5")),
        "sets/my.yaml:7:33: unknown measure `QQ@5`; known are `11pt_avg`, `AP` (or `MAP`), `Bpref`, `ERR`, `G`, `IPrec`, `Judged`, \
         `NERR8`, `NERR9`, `NERR10`, `P`, `R`, `RBP`, `RR` (or `MRR`), `Rndcg`, `Rprec`, `Rprec_mult`, `SetAP`, `SetF`, `SetP`, \
         `SetR`, `SetRelP`, `Success`, `binG`, `infAP`, `nDCG`, `ndcg_rel`, `relative_P` and `unj`"
    );
    assert_eq!(
        error(&REPLIQA.replace("text: question,", "text: \"a[].b\",")),
        "sets/my.yaml:5:36: column `a[].b`: `[]` is allowed at the end only"
    );
    assert_eq!(
        error(&REPLIQA.replace("deduplicate: true", "deduplicate: last")),
        "sets/my.yaml:4:96: expected `true`, `false` or `first`, found the text \"last\""
    );
}

#[test]
fn invalid_yaml_is_reported_with_line_and_column() {
    assert_eq!(
        error(&format!("{REPLIQA}name: again\n")),
        "sets/my.yaml:9:1: duplicate key `name`"
    );
    assert_eq!(
        error(&format!("{REPLIQA}---\n{REPLIQA}")),
        "sets/my.yaml:10:1: more than one YAML document: only one is read, so nothing can follow `---`"
    );
    assert_eq!(error("- a\n- b\n"), "sets/my.yaml:1:1: expected a mapping");
}

#[test]
fn settings_are_a_mapping_or_nothing() {
    let with =
        |settings: &str| REPLIQA.replace("settings: {processing: {chunk_size: null}}", settings);
    for nothing in ["", "settings:", "settings: {}"] {
        let manifest = parse(&with(nothing)).unwrap();
        assert_eq!(manifest.settings.to_value(), json!({}), "{nothing:?}");
    }
    assert_eq!(
        error(&with("settings: [a]")),
        "sets/my.yaml:8: `settings` must be a mapping such as `{search: {limit: 5}}`"
    );
}

#[test]
fn a_missing_table_is_named() {
    let lines = REPLIQA
        .lines()
        .filter(|line| !line.starts_with("documents"));
    let without_documents = lines.collect::<Vec<_>>().join("\n");
    assert!(
        error(&without_documents).ends_with("but no documents: add `documents`"),
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
        "sets/my.yaml:5: the manifest does not say which documents are relevant: add `questions.relevant` or `judgements`"
    );
}

#[test]
fn a_manifest_without_documents_has_answers_or_labels_and_no_judgements() {
    let questions = |keys: &str, more: &str| {
        format!("name: q\nquestions: {{source: {{path: q.csv}}, text: question{keys}}}\n{more}")
    };
    let manifest = parse(&questions(", answer: 'answers[]'", "")).unwrap();
    assert!(!manifest.has_documents());
    assert_eq!(manifest.sources().count(), 1);
    let labels = "labels: {measure: faithfulness, errors: kind, pass: PASS}\n";
    let labelled = parse(&questions(", metadata: kind", labels)).unwrap();
    assert_eq!(labelled.labels.unwrap().errors, ["kind"]);
    for (keys, more, message) in [
        (
            "",
            "",
            "sets/my.yaml:2: a manifest without `documents` needs reference answers: add `questions.answer`, or `documents`",
        ),
        (
            ", answer: a, relevant: r",
            "",
            "sets/my.yaml:2: the manifest has judgements, but no documents: add `documents`",
        ),
        (
            ", metadata: [other]",
            labels,
            "sets/my.yaml:3: `labels.errors` names `kind`, which `questions.metadata` does not keep",
        ),
    ] {
        assert_eq!(error(&questions(keys, more)), message);
    }
}

#[test]
fn judgements_of_list_elements_are_of_one_question_each() {
    let with = |columns: &str| {
        error(&format!(
            "name: j\nsource: {{path: a.csv}}\ndocuments: {{uri: id, text: text}}\n\
             questions: {{id: id, text: q}}\njudgements: {{{columns}}}\n"
        ))
    };
    for columns in [
        "query: 'ids[]', document: 'docs[]'",
        "query: id, document: doc, grade: 'grades[]'",
    ] {
        assert_eq!(
            with(columns),
            "sets/my.yaml:5: `[]` belongs to `judgements.document`, and with it to `grade`: a row is about one question"
        );
    }
}

#[test]
fn tables_inherit_missing_keys() {
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

#[test]
fn metadata_of_questions_has_distinct_names_of_whole_columns() {
    let with = |columns: &str| {
        error(&REPLIQA.replace(
            "relevant: [document_id]}",
            &format!("relevant: [document_id], metadata: {columns}}}"),
        ))
    };
    assert_eq!(
        with("[topic, topic]"),
        "sets/my.yaml:5: `questions.metadata` names `topic` twice"
    );
    assert_eq!(
        with("'topics[]'"),
        "sets/my.yaml:5: `questions.metadata` keeps whole values, not list elements: write `topics` without `[]`"
    );
    assert!(
        with("answerable")
            .starts_with("sets/my.yaml:5: `questions.metadata` cannot keep a column `answerable`")
    );
}

//! Cells that hold lists of ids, and cells that only look like one.

use super::*;

#[test]
fn a_field_of_csv_may_hold_a_list_of_ids() {
    let tables = tables(&[
        ("docs.csv", "id,text\nd1,one\nd2,two\n[x],three\n"),
        (
            "questions.csv",
            "text,relevant\nfirst,\"[\"\"d1\"\", \"\"d2\"\"]\"\nsecond,d2\nthird,[x]\nfourth,[]\n",
        ),
    ]);
    let manifest = "documents: {source: {path: docs.csv}, uri: id, text: text}\n\
                    questions: {source: {path: questions.csv}, text: text, relevant: relevant}\n";
    let read = tables.collection(manifest).questions().unwrap();
    let relevant: Vec<Vec<&str>> = read
        .questions
        .iter()
        .map(|question| question.relevant.relevant().collect())
        .collect();
    let none: &[&str] = &[];
    assert_eq!(relevant, [&["d1", "d2"][..], &["d2"], &["[x]"], none]);
}

/// A corpus of `a`, `b`, `é` and `new york`, with one question whose relevant documents are the cell.
fn judging(cell: &str) -> (Tables, &'static str) {
    let field = cell.replace('"', "\"\"");
    let tables = tables(&[
        (
            "docs.csv",
            "id,text\na,one\nb,two\né,three\nnew york,four\n[rec],five\n",
        ),
        (
            "questions.csv",
            &format!("text,relevant\nfirst,a\nsecond,\"{field}\"\n"),
        ),
    ]);
    let manifest = "documents: {source: {path: docs.csv}, uri: id, text: text}\n\
                    questions: {source: {path: questions.csv}, text: text, relevant: relevant}\n";
    (tables, manifest)
}

#[test]
fn a_list_of_ids_in_another_notation_is_recognised_and_its_own_is_told() {
    for (cell, separator) in [
        ("a,b", "`,`"),
        ("a, b", "`,`"),
        ("a;b", "`;`"),
        ("a|b", "`|`"),
        ("a b", "blanks"),
        ("a\tb", "tabs"),
        ("{a,b}", "`,`"),
        ("('a', 'b')", "`,`"),
    ] {
        let (tables, manifest) = judging(cell);
        let shown = Value::from(cell);
        assert_eq!(
            tables.questions_error(manifest),
            format!(
                "judgements name a document that is not in the corpus, or has no text there: `{cell}`; questions.csv:3: \
                 column `relevant` holds {shown}, which split at {separator} names documents that are there; a list of ids \
                 is written as a JSON array, `[\"a\", \"b\"]`, and in a field of CSV `\"[\"\"a\"\", \"\"b\"\"]\"`"
            )
        );
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        let counts = allowed.questions().unwrap().counts;
        assert_eq!((counts.unknown_documents, counts.misread_documents), (1, 1));
    }
    let (tables, manifest) = judging("a,c");
    assert!(
        tables
            .questions_error(manifest)
            .ends_with("`a,c`; allow it to score it as never found")
    );
    let (tables, manifest) = judging("new york");
    assert!(tables.collection(manifest).questions().is_ok());
}

#[test]
fn what_begins_like_a_list_has_to_be_one() {
    for (cell, list) in [
        ("['a', 'b']", "`[\"a\", \"b\"]`"),
        ("['a' 'b']", "`[\"a\", \"b\"]`"),
        ("[a]", "`[\"a\"]`"),
        ("[\"a\", \"b\"", "`[\"a\", \"b\"]`"),
        ("[x,y,z,w]", "`[\"x\", \"y\", \"z\", …]`"),
    ] {
        let (tables, manifest) = judging(cell);
        let refused = tables.questions_error(manifest);
        let begins =
            "questions.csv:3: column `relevant` begins like a list and is no JSON array: \"[";
        assert!(
            refused.starts_with(begins) && refused.contains(list),
            "{refused}"
        );
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        assert_eq!(tables.message(&allowed.questions().unwrap_err()), refused);
    }
    let (tables, manifest) = judging("[rec]");
    assert!(
        tables.collection(manifest).questions().is_ok(),
        "an id may begin so"
    );
}

#[test]
fn an_id_that_differs_by_what_nobody_sees_is_told() {
    let (tables, manifest) = judging(" b ");
    assert!(tables.questions_error(manifest).ends_with(
        "questions.csv:3: column `relevant` holds \" b \", which without the white space around it is a document that is \
         there; remove the white space"
    ));
    let (tables, manifest) = judging("e\u{301}");
    assert!(tables.questions_error(manifest).ends_with(
        "which in another Unicode normalization is a document that is there; write both files in the same (NFC)"
    ));
    let judged = beir("q1,d1,1\nq1,d1 d2,1\n");
    assert!(judged.questions_error(BEIR).ends_with(
        "qrels.csv:3: column `corpus-id` holds \"d1 d2\", which split at blanks names documents that are there; write a row \
         for each document"
    ));
}

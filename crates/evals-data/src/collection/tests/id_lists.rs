//! Cells that contain lists of ids, and cells that only look like lists.

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
fn a_list_in_another_notation_is_recognised_and_the_right_one_is_suggested() {
    for (cell, separator) in [
        ("a,b", "`,`"),
        ("a, b", "`,`"),
        ("a;b", "`;`"),
        ("a|b", "`|`"),
        ("a b", "spaces"),
        ("a\tb", "tabs"),
        ("{a,b}", "`,`"),
        ("('a', 'b')", "`,`"),
    ] {
        let (tables, manifest) = judging(cell);
        let shown = Value::from(cell);
        assert_eq!(
            tables.questions_error(manifest),
            format!(
                "judgements name a document missing from the corpus or without text there: `{cell}`; questions.csv:3: \
                 column `relevant` holds {shown}, which split at {separator} names documents of the corpus; write a list of \
                 ids as a JSON array, `[\"a\", \"b\"]`, in a field of CSV as `\"[\"\"a\"\", \"\"b\"\"]\"`"
            )
        );
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        let counts = allowed.questions().unwrap().counts;
        assert_eq!((counts.unknown_documents, counts.misread_documents), (1, 1));
    }
    let (tables, manifest) = judging("a,c");
    assert!(tables.questions_error(manifest).ends_with("`a,c`"));
    let (tables, manifest) = judging("new york");
    assert!(tables.collection(manifest).questions().is_ok());
}

#[test]
fn a_cell_that_starts_like_a_list_must_be_one() {
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
            "questions.csv:3: column `relevant` starts with `[` but is not a JSON array: \"[";
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
fn an_id_that_differs_invisibly_is_reported() {
    let (tables, manifest) = judging(" b ");
    assert!(tables.questions_error(manifest).ends_with(
        "questions.csv:3: column `relevant` holds \" b \", which without the white space around it names a document of \
         the corpus; remove the white space"
    ));
    let (tables, manifest) = judging("e\u{301}");
    assert!(tables.questions_error(manifest).ends_with(
        "which in another Unicode normalization names a document of the corpus; write both files in the same one (NFC)"
    ));
    let judged = beir("q1,d1,1\nq1,d1 d2,1\n");
    assert!(judged.questions_error(BEIR).ends_with(
        "qrels.csv:3: column `corpus-id` holds \"d1 d2\", which split at spaces names documents of the corpus; write a row \
         for each document"
    ));
}

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

const LIST: &str =
    "write it as a JSON array, `[\"a\", \"b\"]`, in a field of CSV as `\"[\"\"a\"\", \"\"b\"\"]\"`";

#[test]
fn an_id_that_looks_like_a_list_is_named_with_the_right_notation() {
    for cell in [
        "a,b",
        "a, b",
        "a;b",
        "a|b",
        "a b",
        "a\tb",
        "{a,b}",
        "('a', 'b')",
    ] {
        let (tables, manifest) = judging(cell);
        let refused = tables.questions_error(manifest);
        let named = format!("` names `{cell}`; ");
        assert!(
            refused.contains("questions.csv:3: question `q-") && refused.contains(&named),
            "{refused}"
        );
        let advice = format!("; if it is a list of ids, {LIST}");
        assert!(refused.ends_with(&advice), "{refused}");
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        assert_eq!(allowed.questions().unwrap().counts.unknown_documents, 1);
    }
    let (tables, manifest) = judging("c");
    assert!(tables.questions_error(manifest).ends_with("names `c`"));
    let (tables, manifest) = judging("new york");
    assert!(tables.collection(manifest).questions().is_ok());
    let judged = beir("q1,d1,1\nq1,d1 d2,1\n");
    assert!(
        judged
            .questions_error(BEIR)
            .ends_with("; if it is a list of ids, write a row for each document")
    );
}

#[test]
fn a_cell_that_starts_like_a_list_must_be_one() {
    for cell in [
        "['a', 'b']",
        "['a' 'b']",
        "[a]",
        "[\"a\", \"b\"",
        "[x,y,z,w]",
    ] {
        let (tables, manifest) = judging(cell);
        let refused = tables.questions_error(manifest);
        let begins =
            "questions.csv:3: column `relevant` starts with `[` but is not a JSON array: \"[";
        assert!(
            refused.starts_with(begins) && refused.ends_with(LIST),
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

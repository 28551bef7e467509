//! Tests of JSON documents as tables.

use serde_json::{Value, json};

use crate::reader::tests::file;

/// The cells of the columns, row by row.
fn cells(document: &str, columns: &[&str]) -> Vec<Vec<Value>> {
    let rows = file("a.json", document.as_bytes()).read(columns);
    rows.unwrap().into_iter().map(|(_, cells)| cells).collect()
}

fn error(document: &[u8], columns: &[&str]) -> String {
    file("a.json", document).error(columns)
}

#[test]
fn the_usual_shapes_give_the_same_rows() {
    let wanted = [[json!("1"), json!("One?")], [json!("2"), json!("Two?")]];
    for document in [
        r#"[{"id": "1", "q": "One?"}, {"id": "2", "q": "Two?"}]"#,
        r#" {"queries": [{"id": "1", "q": "One?"}, {"id": "2", "q": "Two?"}]} "#,
        r#"{"version": 1, "data": [{"id": "1", "q": "One?"}, {"id": "2", "q": "Two?"}], "by": ["a"]}"#,
        r#"{"corpus": [{"id": "d", "text": "x"}], "queries": [{"id": "1", "q": "One?"}, {"id": "2", "q": "Two?"}]}"#,
        "{\"id\": \"1\", \"q\": \"One?\"}\n{\"id\": \"2\", \"q\": \"Two?\"}\n",
    ] {
        assert_eq!(cells(document, &["id", "q"]), wanted, "{document}");
    }
    assert_eq!(
        cells(r#"{"id": "1", "q": "One?"}"#, &["id", "q"]),
        wanted[..1],
        "one line of JSON Lines"
    );
    assert!(cells("[]", &["id"]).is_empty() && cells("\n", &["id"]).is_empty());
}

#[test]
fn the_keys_of_an_object_are_a_column() {
    let keyed = r#"{"1": {"q": "One?", "value": 7}, "2": {"q": "Two?"}}"#;
    assert_eq!(
        cells(keyed, &["key", "q"]),
        [[json!("1"), json!("One?")], [json!("2"), json!("Two?")]]
    );
    assert_eq!(
        cells(keyed, &["value"]),
        [[json!(7)], [json!({"q": "Two?"})]],
        "a field of that name comes first"
    );
    let plain = r#"{"1": "One?", "2": "Two?"}"#;
    assert_eq!(
        cells(plain, &["key", "value"]),
        [[json!("1"), json!("One?")], [json!("2"), json!("Two?")]]
    );
    let judged = r#"{"1": {"d1": 2, "d2": 0}, "2": {"d3": 1}}"#;
    assert_eq!(
        cells(judged, &["key", "value"])[0],
        [json!("1"), json!({"d1": 2, "d2": 0})]
    );
    let lists = r#"{"1": [{"id": "d1"}], "2": [{"id": "d2"}]}"#;
    assert_eq!(
        cells(lists, &["key", "value"])[1],
        [json!("2"), json!([{"id": "d2"}])]
    );
    let one = r#"{"1": [{"id": "d1"}]}"#;
    assert_eq!(cells(one, &["key"]), [[json!("1")]]);
}

#[test]
fn rows_know_their_lines() {
    let document = "[\n  {\"id\": 1},\n\n  {\n    \"id\": 2\n  }\n]\n";
    let rows = file("a.json", document.as_bytes()).read(&["id"]).unwrap();
    let places: Vec<String> = rows.into_iter().map(|(place, _)| place).collect();
    assert_eq!(places, ["a.json:2", "a.json:4"]);
}

#[test]
fn brackets_and_quotes_inside_texts_are_text() {
    let document = r#"[{"id": "]}\\\"", "q": "[{,"}, {"id": "b", "q": "é\u00e9"}]"#;
    assert_eq!(
        cells(document, &["id", "q"]),
        [[json!("]}\\\""), json!("[{,")], [json!("b"), json!("éé")]]
    );
}

#[test]
fn what_is_no_table_says_where_and_why() {
    for (document, message) in [
        (
            "42",
            "a.json:1: not valid JSON: it must start with `[` or `{`",
        ),
        (
            "[{\"id\": 1}\n{\"id\": 2}]",
            "a.json:2: not valid JSON: `{` is in the place of `,` or `]`",
        ),
        (
            "[{\"id\": 1},\n]",
            "a.json:2: not valid JSON: no comma may stand before `]`",
        ),
        (
            "[{\"id\": 1},\n{\"id\": nope}]",
            "a.json:2: not valid JSON: expected ident",
        ),
        (
            "[{\"id\": 1},\n{\"id\": 2",
            "a.json:2: the file ends in the middle of this object",
        ),
        (
            "[{\"id\": 1}",
            "a.json:1: not valid JSON: the file ends, but `,` or `]` is expected",
        ),
        (
            "[{\"id\": 1}] x",
            "a.json:1: not valid JSON: text follows the end of the document",
        ),
        ("[1, 2]", "a.json:1: not a JSON object, but a number"),
        (
            "{id: 1}",
            "a.json:1: not valid JSON: `i` is in the place of a key in quotes",
        ),
        (
            "[{\"name\": 1}]",
            "`a.json` has no column `id`; its columns are `name`",
        ),
        (
            r#"{"a": [{"id": 1}], "b": [{"id": 2}], "c": 3}"#,
            "a.json:1: not valid JSON: several lists of objects could be the table: `a`, `b`; keep each in a file of its own",
        ),
    ] {
        assert_eq!(error(document.as_bytes(), &["id"]), message, "{document}");
    }
    assert_eq!(
        error(b"[{\"id\":\n\"\xff\"}]", &["id"]),
        "a.json:2: the text is not UTF-8"
    );
    let deep = format!("[{}", "[".repeat(100_000));
    assert!(error(deep.as_bytes(), &["id"]).contains("the file ends in the middle"));
}

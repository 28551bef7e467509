//! Invalid CSV and JSON Lines, and the messages about them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn csv_error(text: &str) -> String {
    file("a.csv", text.as_bytes()).error(&["id", "text"])
}

fn json_error(text: &str) -> String {
    file("a.jsonl", text.as_bytes()).error(&["id"])
}

#[test]
fn csv_that_would_lose_rows_names_the_line_of_its_quote() {
    assert_eq!(
        csv_error("id,text\n1,\"one\n2,two\n3,three\n"),
        "a.csv:2: the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
    );
    assert_eq!(
        csv_error("id,text\n1,one\n2,\"two\n3,\"three\"\n"),
        "a.csv:3: the quote that opens a field here is closed on line 4, but more text follows before the field ends; a \
         quote inside a quoted field is written twice (`\"\"`)"
    );
    assert!(
        csv_error("id,\"text\n1,one\n")
            .starts_with("a.csv:1: the quote that opens a field here is never closed")
    );
}

#[test]
fn ragged_csv_names_its_line_whatever_ends_lines() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["id,text", "1,one", "2,two,too", "3,three", ""].join(end);
        assert_eq!(
            csv_error(&text),
            "a.csv:3: 3 fields where the header has 2; a field that holds the separator, a quote or a line break needs \
             quotes around it",
            "{end:?}"
        );
    }
    assert!(csv_error("id,text\n1\n").starts_with("a.csv:2: 1 fields where the header has 2;"));
}

#[test]
fn another_separator_is_used_if_the_comma_does_not_fit() {
    for separator in [";", "\t"] {
        let text = "id;text;note\n1;\"a; \t, b\";\n2;c, d;e\n".replace(';', separator);
        let rows = file("a.csv", text.as_bytes())
            .read(&["text", "id"])
            .unwrap();
        let first = format!("a{separator} \t, b");
        assert_eq!(
            rows[0],
            ("a.csv:2".to_owned(), vec![json!(first), json!("1")])
        );
        assert_eq!(rows[1].1, [json!("c, d"), json!("2")]);
        let quoted = format!("\"id\"{separator}\"text\"\n\"1\"{separator}\"one\"\n");
        let rows = file("a.csv", quoted.as_bytes())
            .read(&["id", "text"])
            .unwrap();
        assert_eq!(rows[0].1, [json!("1"), json!("one")]);
    }
    // The comma takes precedence if it fits, whatever the names in the header contain.
    let rows = file("a.csv", b"id;text,text\n1;2,3\n")
        .read(&["text", "id;text"])
        .unwrap();
    assert_eq!(rows[0].1, [json!("3"), json!("1;2")]);
}

#[test]
fn a_missing_column_comes_with_the_likely_separator() {
    assert_eq!(
        csv_error("id;body\n1;one\n"),
        "`a.csv` has no column `text`; its columns are `id`, `body`, separated by `;`"
    );
    assert_eq!(
        csv_error("\"id\"\t\"body\"\n"),
        "`a.csv` has no column `text`; its columns are `id`, `body`, separated by tabs"
    );
    assert_eq!(
        csv_error("id\n1\n"),
        "`a.csv` has no column `text`; its columns are `id`"
    );
}

#[test]
fn a_repeated_column_is_refused_if_it_is_requested() {
    let fixture = file("a.csv", b"id,text,text,note,note\n1,a,b,c,d\n");
    assert_eq!(
        fixture.error(&["id", "text"]),
        "`a.csv` has two columns `text`; rename one of them"
    );
    assert_eq!(fixture.read(&["id"]).unwrap()[0].1, [json!("1")]);
}

#[test]
fn text_that_is_not_utf8_is_found_on_its_line_inside_a_row() {
    assert_eq!(
        file("a.csv", b"id,text\r\n1,\"one\r\ntwo \xff\"\r\n").error(&["id", "text"]),
        "a.csv:3: the text is not UTF-8"
    );
    let utf16: Vec<u8> = "\u{feff}id,text\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        file("a.csv", &utf16).error(&["id"]),
        "a.csv:1: the text is not UTF-8"
    );
    assert_eq!(
        file("a.jsonl", b"\n{\"id\": \"\xff\"}\n").error(&["id"]),
        "a.jsonl:2: the text is not UTF-8"
    );
}

#[test]
fn a_header_alone_has_no_rows_and_does_not_include_the_byte_order_mark() {
    for text in [
        "id,text",
        "id,text\n",
        "\u{feff}id,text\r\n",
        "\u{feff}\"id\",text\n\n\n",
    ] {
        assert!(
            file("a.csv", text.as_bytes())
                .read(&["id", "text"])
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_cannot_be_read() {
    let whole = gzipped(&"1,one\n".repeat(1000).into_bytes());
    for name in ["a.csv.gz", "a.jsonl.gz"] {
        let message = file(name, &whole[..whole.len() - 9]).error(&["1", "one"]);
        assert!(!message.contains("row"), "{message}");
    }
}

#[test]
fn broken_json_names_the_line_of_the_file_and_nothing_else() {
    for end in ["\n", "\r\n"] {
        let text = ["{\"id\": 1}", "", "  ", "{\"id\": tru}", "{\"id\": 3}"].join(end);
        assert_eq!(
            json_error(&text),
            "a.jsonl:4: not valid JSON: expected ident at byte 11",
            "{end:?}"
        );
    }
    assert_eq!(
        json_error("{\"id\": \"é\" 1}\n"),
        "a.jsonl:1: not valid JSON: expected `,` or `}` at byte 13"
    );
    for end in ["\n", "\r\n"] {
        let spread = "{\"id\": 1}{end}{\"id\": \"abc{end}{\"id\": 3}{end}".replace("{end}", end);
        assert_eq!(
            json_error(&spread),
            "a.jsonl:2: not valid JSON: the object does not end on this line, but JSON Lines needs one object on each line; \
             `jq -c .` converts it",
            "{end:?}"
        );
    }
    assert_eq!(
        json_error("{\"id\": 1}\n{\"id\": \"abc\n"),
        "a.jsonl:2: the file ends in the middle of this object"
    );
    assert_eq!(
        json_error("<html>\n"),
        "a.jsonl:1: not valid JSON: expected value at byte 1"
    );
    for text in ["\"a\"", "1.5", "null", "true"] {
        let message = json_error(text);
        let begins = "a.jsonl:1: not valid JSON: invalid type: ";
        assert!(
            message.starts_with(begins) && message.contains("expected a map"),
            "{message}"
        );
    }
}

#[test]
fn json_with_other_than_one_object_on_each_line_is_refused_with_a_remedy() {
    let spread = "a.jsonl:1: not valid JSON: the object does not end on this line, but JSON Lines needs one object on each line; \
                  `jq -c .` converts it";
    assert_eq!(json_error("{\n  \"id\": 1\n}\n"), spread);
    assert_eq!(json_error("{\"id\": 1,\r\n \"text\": \"a\"}\r\n"), spread);
    let array = "a.jsonl:1: not valid JSON: an array starts here, but JSON Lines needs one object on each line; `jq -c '.[]'` \
                 converts it";
    for text in [
        "[\n{\"id\": 1},\n{\"id\": 2}\n]\n",
        "[{\"id\": 1}, {\"id\": 2}]",
        "[]",
    ] {
        assert_eq!(json_error(text), array);
    }
    for text in ["{\"id\": 1},\n{\"id\": 2}\n", "{\"id\": 1}{\"id\": 2}\n"] {
        assert_eq!(
            json_error(text),
            "a.jsonl:1: not valid JSON: trailing characters at byte 10"
        );
    }
    for text in [
        "{\"id\": 1}\n{\"id\": \"cut",
        "{\"id\": 1}\n{\"id\": \n",
        "{\"id\": 1}\r\n{",
    ] {
        assert_eq!(
            json_error(text),
            "a.jsonl:2: the file ends in the middle of this object"
        );
    }
}

#[test]
fn a_row_that_decompresses_without_end_is_refused() {
    let huge = gzipped(&vec![b'x'; ROW_LIMIT + (1 << 20)]);
    assert!(huge.len() < ROW_LIMIT / 50, "{}", huge.len());
    assert_eq!(
        file("a.jsonl.gz", &huge).error(&["id"]),
        "a.jsonl.gz:1: the value that starts here is larger than 128 MiB"
    );
    assert_eq!(
        file("a.csv.gz", &huge).error(&["id"]),
        "a.csv.gz:1: the row that starts here is larger than 128 MiB"
    );
}

/// Pieces with a meaning in either format.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "id", "text", ",", ";", "\t", "\"", "\n", "\r\n", "\r", "\0", "{", "}", "[", "]", ":", "1",
        "\u{feff}", "é", "\\", " ",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_rows_or_an_error_on_one_of_its_lines(pieces in prop::collection::vec(piece(), 0..24)) {
        let rest = pieces.concat();
        let lines = rest.matches(['\n', '\r']).count() as u64 + 2;
        for (name, text) in [("a.csv", format!("id,text\n{rest}")), ("a.jsonl", format!("{{\"id\":1,\"text\":2}}\n{rest}"))] {
            let table = TableFile { name: name.to_owned(), uri: name.to_owned(), content: FileContent::InMemory(Bytes::from(text)) };
            for row in table.rows(&columns(&["id", "text"])).into_iter().flatten() {
                let place = match row {
                    Ok(row) => row.place,
                    Err(DataError::Row { place, .. }) => place,
                    Err(other) => panic!("{other:?}"),
                };
                prop_assert!(place.number >= 1 && place.number <= lines, "{place}");
            }
        }
    }
}

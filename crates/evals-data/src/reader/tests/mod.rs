//! Tests of the readers, with small tables in every format.

mod damaged;
mod refused;

use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, ListBuilder, NullArray,
    RecordBatch, StringArray, StringBuilder, StructArray,
};
use arrow::datatypes::Int32Type;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use serde_json::json;

use super::*;

pub(super) struct Fixture {
    _folder: tempfile::TempDir,
    file: TableFile,
}

pub(super) fn file(name: &str, bytes: &[u8]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = TableFile {
        name: name.to_owned(),
        uri: name.to_owned(),
        content: FileContent::OnDisk(path),
    };
    Fixture {
        _folder: folder,
        file,
    }
}

pub(super) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn parquet(columns: Vec<(&str, ArrayRef)>, rows_per_group: usize) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows_per_group))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(super) fn columns(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

impl Fixture {
    pub(super) fn read(&self, names: &[&str]) -> Result<Vec<(String, Vec<Value>)>, DataError> {
        let rows = self.file.rows(&columns(names))?;
        rows.map(|row| row.map(|row| (row.place.to_string(), row.cells)))
            .collect()
    }

    pub(super) fn error(&self, names: &[&str]) -> String {
        let error = self.read(names).unwrap_err();
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        text
    }
}

const JSON: &[u8] = b"{\"id\": 1, \"tags\": [\"a\"], \"context\": {\"title\": [\"T\"]}}\n\n{\"id\": 2, \"tags\": null}\n";

#[test]
fn json_lines_give_values_by_path_and_count_every_line() {
    for (name, bytes) in [
        ("a.jsonl", JSON.to_vec()),
        ("a.ndjson.gz", gzipped(JSON)),
        ("A.JSONL", JSON.to_vec()),
    ] {
        let rows = file(name, &bytes)
            .read(&["context.title", "id", "tags"])
            .unwrap();
        assert_eq!(
            rows[0],
            (
                format!("{name}:1"),
                vec![json!(["T"]), json!(1), json!(["a"])]
            )
        );
        assert_eq!(
            rows[1],
            (
                format!("{name}:3"),
                vec![json!(null), json!(2), json!(null)]
            )
        );
    }
}

#[test]
fn nan_as_python_writes_it_is_a_missing_value() {
    let line = r#"{"a": NaN, "b": [NaN, "NaN \"NaN\" \\"], "NaN": NaN}"#;
    let rows = file("a.jsonl", line.as_bytes()).read(&["a", "b", "NaN"]);
    let cells = vec![json!(null), json!([null, "NaN \"NaN\" \\"]), json!(null)];
    assert_eq!(rows.unwrap()[0].1, cells);
    let broken = file("a.jsonl", br#"{"a": NaN, "b": Nan}"#).error(&["a"]);
    assert!(
        broken.starts_with("a.jsonl:1: not valid JSON: expected"),
        "{broken}"
    );
}

#[test]
fn a_json_column_that_no_early_object_has_is_missing() {
    let fixture = file("a.jsonl", JSON);
    assert_eq!(
        fixture.error(&["id", "titel"]),
        "`a.jsonl` has no column `titel`; its columns are `id`, `tags`, `context`"
    );
}

#[test]
fn csv_knows_quotes_lines_and_a_byte_order_mark() {
    let text = "\u{feff}id,text\n1,\"two\nlines, one \"\"row\"\"\"\n2,\n";
    for (name, bytes) in [
        ("a.csv", text.as_bytes().to_vec()),
        ("a.csv.gz", gzipped(text.as_bytes())),
    ] {
        let rows = file(name, &bytes).read(&["text", "id"]).unwrap();
        assert_eq!(
            rows[0],
            (
                format!("{name}:2"),
                vec![json!("two\nlines, one \"row\""), json!("1")]
            )
        );
        assert_eq!(
            rows[1],
            (format!("{name}:4"), vec![json!(null), json!("2")]),
            "an empty field is null"
        );
    }
}

#[test]
fn bad_csv_names_its_line() {
    assert_eq!(
        file("a.csv", b"id,text\n1,a\n").error(&["body"]),
        "`a.csv` has no column `body`; its columns are `id`, `text`"
    );
    assert_eq!(
        file("a.csv", b"").error(&["body"]),
        "`a.csv` has no column `body`; it has no columns"
    );
    assert_eq!(
        file("a.csv", b"id,text\n1,a\n2,\xff\n").error(&["text"]),
        "a.csv:3: the text is not UTF-8"
    );
}

#[test]
fn parquet_gives_every_kind_of_value_across_row_groups() {
    let titles: ArrayRef = Arc::new(StringArray::from(vec!["t1", "t2", "t3"]));
    let context = StructArray::try_from(vec![("title", titles)]).unwrap();
    let bytes = parquet(
        vec![
            ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            (
                "text",
                Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])),
            ),
            ("context", Arc::new(context)),
            (
                "score",
                Arc::new(Float64Array::from(vec![0.5, f64::NAN, 1.0])),
            ),
            (
                "topic",
                Arc::new(DictionaryArray::<Int32Type>::from_iter(["x", "y", "x"])),
            ),
            (
                "blob",
                Arc::new(BinaryArray::from(vec![&b"ok"[..], b"ok", b"ok"])),
            ),
            ("nothing", Arc::new(NullArray::new(3))),
        ],
        2,
    );
    let rows = file("a.parquet", &bytes)
        .read(&[
            "context.title",
            "text",
            "id",
            "score",
            "topic",
            "blob",
            "nothing",
        ])
        .unwrap();
    let cells: Vec<Vec<Value>> = rows.iter().map(|(_, cells)| cells.clone()).collect();
    assert_eq!(
        cells[0],
        [
            json!("t1"),
            json!("a"),
            json!(1),
            json!(0.5),
            json!("x"),
            json!("ok"),
            json!(null)
        ]
    );
    assert_eq!(
        cells[1],
        [
            json!("t2"),
            json!(null),
            json!(2),
            json!(null),
            json!("y"),
            json!("ok"),
            json!(null)
        ]
    );
    assert_eq!(
        cells[2],
        [
            json!("t3"),
            json!("c"),
            json!(3),
            json!(1.0),
            json!("x"),
            json!("ok"),
            json!(null)
        ]
    );
    assert_eq!(
        rows[2].0, "a.parquet, row 3",
        "rows count on across row groups"
    );
}

#[test]
fn parquet_columns_are_found_through_structs_only() {
    let mut tags = ListBuilder::new(StringBuilder::new());
    tags.append_value([Some("a"), Some("b")]);
    let inner: ArrayRef = Arc::new(Int64Array::from(vec![7]));
    let outer = StructArray::try_from(vec![("skipped", inner.clone()), ("kept", inner)]).unwrap();
    let bytes = parquet(
        vec![
            ("before", Arc::new(Int64Array::from(vec![1]))),
            ("tags", Arc::new(tags.finish())),
            ("outer", Arc::new(outer)),
            ("outer.kept", Arc::new(Int64Array::from(vec![8]))),
        ],
        10,
    );
    let fixture = file("a.parquet", &bytes);
    for inside in ["tags.list", "tags.list.item", "tags.item", "before.x"] {
        assert_eq!(
            fixture.error(&[inside]),
            format!(
                "`a.parquet` has no column `{inside}`; its columns are `before`, `tags`, `outer`, `outer.kept`"
            )
        );
    }
    let rows = fixture.read(&["outer.kept", "tags"]).unwrap();
    assert_eq!(
        rows[0].1,
        [json!(8), json!(["a", "b"])],
        "the top-level name wins"
    );
    assert_eq!(
        fixture.read(&["outer", "outer.skipped"]).unwrap()[0].1,
        [json!({"skipped": 7, "kept": 7}), json!(7)]
    );
}

#[test]
fn bad_parquet_says_why() {
    let bytes = parquet(
        vec![(
            "blob",
            Arc::new(BinaryArray::from(vec![&b"ok"[..], b"\xff"])),
        )],
        10,
    );
    assert_eq!(
        file("a.parquet", &bytes).error(&["blob"]),
        "a.parquet, row 2: the text is not UTF-8"
    );
    assert_eq!(
        file("a.parquet", &bytes).error(&["text"]),
        "`a.parquet` has no column `text`; its columns are `blob`"
    );
    assert!(
        file("a.parquet", b"<html>")
            .error(&["x"])
            .starts_with("`a.parquet` is not readable parquet: ")
    );
}

#[test]
fn an_unknown_extension_names_the_known_ones() {
    assert_eq!(
        file("a.xlsx", b"").error(&["id"]),
        "`a.xlsx` has an unknown format: the known extensions are .parquet, .jsonl, .ndjson, .json, .csv, .tsv, .jsonl.gz, .ndjson.gz, .json.gz, .csv.gz, .tsv.gz, .md, .markdown, .txt, .text, .html, .htm"
    );
    assert!(matches!(
        file("a.parquet.gz", b"").read(&["id"]),
        Err(DataError::File { .. })
    ));
}

#[test]
fn a_parquet_file_is_read_with_all_its_columns() {
    let ids: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let scores: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.0]));
    let bytes = parquet(vec![("id", ids), ("the.score", scores)], 1);
    let table = file("replies.parquet", &bytes);
    let FileContent::OnDisk(path) = &table.file.content else {
        panic!("the table is on the disk")
    };
    let rows = parquet_objects(path).unwrap();
    let rows: Vec<_> = rows.map(|row| Value::from(row.unwrap().1)).collect();
    assert_eq!(
        rows,
        [
            json!({"id": "a", "the.score": 0.5}),
            json!({"id": null, "the.score": 1.0}),
        ]
    );
    let damaged = file("damaged.parquet", &bytes[..bytes.len() - 5]);
    let FileContent::OnDisk(path) = &damaged.file.content else {
        panic!("the table is on the disk")
    };
    assert!(parquet_objects(path).is_err());
}

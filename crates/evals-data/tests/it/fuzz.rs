//! Fuzz targets: whatever a manifest, a table or a page of the hub's list contains, reading it gives valid values or an error.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use evals_data::foreign::{hub_page, rows};
use evals_data::{Column, DataError, Manifest, ManifestError, Origin, Place, Source};
use evals_fuzz::Target;
use evals_yaml::Tree;
use parquet::arrow::ArrowWriter;
use serde_json::{Map, Value};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

fn columns(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// Checks that an error names a line of the text, or the one after the last.
fn assert_points_into(line: u64, text: &[u8], error: &dyn std::error::Error) {
    let ends = text.iter().filter(|byte| matches!(byte, b'\n' | b'\r'));
    let lines = ends.count() as u64 + 1;
    assert!(
        (1..=lines).contains(&line),
        "line {line} of {lines}: {error}"
    );
}

/// The line that an error about a table names, if it names one.
fn line_of(error: &DataError) -> Option<u64> {
    match error {
        DataError::Row { place, .. } => Some(number(place)),
        _ => None,
    }
}

fn number(place: &Place) -> u64 {
    let place = place.to_string();
    let (_, number) = place.rsplit_once(':').unwrap();
    number.parse().unwrap()
}

fn assert_is_sound(manifest: &Manifest) {
    assert!(!manifest.name.trim().is_empty(), "a name");
    assert!(matches!(manifest.settings, Tree::Mapping(_)), "settings");
    let retrieval = &manifest.retrieval;
    assert!(retrieval.measures.contains(&retrieval.headline), "headline");
    let (documents, questions) = (&manifest.documents.columns, &manifest.questions.columns);
    assert!(!documents.text.is_empty(), "a text");
    assert!(
        documents.uri.each() || !documents.text.iter().any(Column::each),
        "one id for many texts"
    );
    assert_ne!(
        questions.relevant.is_empty(),
        manifest.judgements.is_none(),
        "one source of judgements"
    );
    let named = [&documents.uri, questions.asked()];
    for column in documents
        .text
        .iter()
        .chain(named)
        .chain(&questions.relevant)
    {
        assert_eq!(column.to_string().parse().as_ref(), Ok(column));
    }
    for source in manifest.sources() {
        match source {
            Source::Hub { repo, files, .. } => {
                let (owner, name) = repo.split_once('/').unwrap();
                assert!(!owner.is_empty() && !name.is_empty() && !name.contains('/'));
                assert!(!files.is_empty(), "`{repo}` without files");
            }
            Source::Path { .. } | Source::Nothing => {}
            Source::Bundled { name } => panic!("`{name}` is bundled"),
        }
    }
}

#[test]
fn a_manifest_is_sound_or_its_error_names_a_line() {
    Target::new("manifest", CORPUS)
        .seed("name: tiny\nsource: {path: rows.csv}\ndocuments: {uri: id, text: text}\nquestions: {text: question, relevant: id}\n")
        .seed(include_str!("../../../../datasets/hotpotqa.yaml"))
        .seed(include_str!("../../../../datasets/repliqa.yaml"))
        .seed(include_str!("../../../../datasets/wix.yaml"))
        .dictionary([
            "~", "[]", "{}", "- ", ": ", "\n  ", "\t", "&a ", "*a", "<<: ", "!!binary ", "|\n", ">-\n", "---\n", "...\n", "? ",
            "\u{feff}", "\u{85}", "\u{2028}", "\0", ".inf", "0x7f", "1e999", "\"\\ud800\"", "judgements:", "relevant:", "where:",
            "deduplicate: first", "settings:", "each[]", "**/[", "unanswerable: {answer: x}",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let error = match Manifest::parse(&text, Origin::Memory) {
                Ok(manifest) => return assert_is_sound(&manifest),
                Err(error) => error,
            };
            match &error {
                ManifestError::Invalid { line, .. } => {
                    assert_points_into(*line, text.as_bytes(), &error);
                }
                ManifestError::Yaml { error: yaml, .. } => {
                    assert_points_into(yaml.line, text.as_bytes(), &error);
                }
                other => panic!("{other}"),
            }
        });
}

#[test]
fn rows_of_csv_are_those_that_are_written_from_them() {
    let columns = columns(&["id", "text"]);
    let read = |text: &[u8]| -> Result<Vec<Vec<Value>>, DataError> {
        rows("a.csv", text.to_vec(), &columns)?.collect()
    };
    Target::new("csv", CORPUS)
        .seed("id,text\n1,one\n2,\"two\nlines, one \"\"row\"\"\"\r\n\r\n3,\n")
        .seed("\u{feff}text;x;id\rc;;1\r\"b\";\"\";2")
        .seed("id\ttext\n1\t5\" screen\n")
        .dictionary([
            "\"",
            "\"\"",
            ",",
            ";",
            "\t",
            "\r",
            "\n",
            "\r\n",
            "\0",
            "\u{feff}",
            "\u{2028}",
            "id,text\n",
            "\"\n\"",
        ])
        .run(|input| {
            let found = match read(input) {
                Ok(found) => found,
                Err(error) => {
                    if let Some(line) = line_of(&error) {
                        assert_points_into(line, input, &error);
                    }
                    return;
                }
            };
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["id", "text"]).unwrap();
            for row in &found {
                assert_ne!(row.len(), 0);
                let cell = |cell: &Value| match cell {
                    Value::Null => String::new(),
                    cell => cell
                        .as_str()
                        .filter(|text| !text.is_empty())
                        .unwrap()
                        .to_owned(),
                };
                writer.write_record(row.iter().map(cell)).unwrap();
            }
            let written = writer.into_inner().unwrap();
            assert_eq!(read(&written).unwrap(), found);
        });
}

/// The result of a plain JSON parser for a line.
fn plain_object(line: &[u8]) -> Option<Map<String, Value>> {
    let text = std::str::from_utf8(line).ok()?;
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

#[test]
fn rows_of_json_lines_are_those_that_any_parser_gives() {
    let names = ["id", "text"];
    let columns = columns(&names);
    Target::new("json-lines", CORPUS)
        .seed("{\"id\": 1, \"text\": \"one\"}\n\n{\"id\": 2, \"text\": null, \"more\": {\"a\": [1.5]}}\r\n{\"id\": 3}")
        .seed("\u{feff}{\"text\": \"\\u00e9\", \"id\": -1e-7}\n\u{feff}{\"id\": 18446744073709551615, \"text\": []}\n")
        .dictionary([
            "\n", "\r", "\u{feff}", "\\ud83d", "\\u0000", "1e999", "-0.0", "99999999999999999999", "null", "[", "{\"id\":", "}",
            "\"id\":1,", "\0", "//", "NaN", " ",
        ])
        .run(|input| {
            let text = input.strip_prefix("\u{feff}".as_bytes()).unwrap_or(input);
            let lines = text.split(|byte| *byte == b'\n');
            let mut expected = lines.filter(|line| !line.trim_ascii().is_empty());
            let found = match rows("a.jsonl", input.to_vec(), &columns) {
                Ok(found) => found,
                Err(error) => {
                    if let Some(line) = line_of(&error) {
                        assert_points_into(line, input, &error);
                        let mut lines = text.split(|byte| *byte == b'\n');
                        let line = lines.nth(usize::try_from(line - 1).unwrap()).unwrap();
                        assert_eq!(plain_object(line), None, "{error}");
                    }
                    return;
                }
            };
            for row in found {
                let object = plain_object(expected.next().unwrap());
                match row {
                    Ok(cells) => {
                        let object = object.unwrap();
                        let plain = names.map(|name| object.get(name).cloned().unwrap_or_default());
                        assert_eq!(cells, plain);
                    }
                    Err(error) => {
                        assert_eq!(object, None, "{error}");
                        return;
                    }
                }
            }
            assert_eq!(expected.next(), None, "a line without a row");
        });
}

/// A file with texts, numbers and lists.
fn parquet() -> Vec<u8> {
    let texts = StringArray::from(vec![Some("one"), None, Some("drei")]);
    let lists = [Some(vec![Some(1), None]), None, Some(vec![])];
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("text", Arc::new(texts)),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn rows_of_parquet_have_the_kinds_of_their_columns() {
    let columns = columns(&["id", "text", "list"]);
    Target::new("parquet", CORPUS)
        .seed(parquet())
        .dictionary([
            "PAR1".as_bytes(),
            "PARE".as_bytes(),
            &[0xff, 0xff, 0xff, 0xff, 0x0f],
            &[0x00],
            &[0x15, 0x00],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f],
        ])
        .run(|input| {
            let Ok(found) = rows("a.parquet", input.to_vec(), &columns) else {
                return;
            };
            // A damaged file may claim more rows than it has, and then ends in an error long before these.
            for row in found.take(100_000) {
                let Ok(row) = row else { return };
                assert_eq!(row.len(), columns.len());
            }
        });
}

#[test]
fn a_hub_page_lists_files_inside_of_sizes_that_add_up() {
    Target::new("hub-page", CORPUS)
        .seed(r#"[{"type":"directory","path":"data","oid":"a"},{"type":"file","path":"data/a.parquet","oid":"0","size":134,"lfs":{"oid":"abc","size":9,"pointerSize":134}},{"type":"file","path":"README.md","oid":"1","size":7}]"#)
        .dictionary([
            "..", "/", "//", "./", "\\\\", ":", "\\u0000", "\\u002e\\u002e", "null", "-1", "1e3", "562949953421312",
            "18446744073709551615", "18446744073709551616", "\"sha256\":", "\"type\":\"file\",", "[", "{", "\\ud800",
        ])
        .run(|input| {
            let Ok(files) = hub_page(input) else { return };
            let mut sum = 0_u64;
            for (path, size) in &files {
                let parts: Vec<&str> = path.split(['/', '\\', ':']).collect();
                assert_eq!(parts.join("/"), *path, "separators of other systems");
                assert!(
                    !parts.iter().any(|part| ["", ".", ".."].contains(part)),
                    "{path}"
                );
                assert!(*size <= 1 << 49, "{size}");
                sum = sum.checked_add(*size).unwrap();
            }
            // A parser that keeps everything refuses broken characters in values that nobody reads.
            let Ok(page) = serde_json::from_slice::<Vec<Value>>(input) else {
                return;
            };
            let entries = page.iter().filter(|entry| entry["type"] == "file");
            let listed: Vec<&Value> = entries.map(|entry| &entry["path"]).collect();
            let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(listed, paths);
        });
}

#[test]
fn a_json_document_gives_rows_or_an_error_with_a_line_and_the_rows_of_its_lines() {
    let columns = columns(&["id", "q"]);
    let read = |name: &str, text: &[u8]| -> Result<Vec<Vec<Value>>, DataError> {
        rows(name, text.to_vec(), &columns)?.collect()
    };
    Target::new("json-document", CORPUS)
        .seed(r#"[{"id": 1, "q": "a"}, {"id": "b]", "q": null}]"#)
        .seed("{\"queries\": [{\"id\": 1, \"q\": {\"x\": [1, 2]}}], \"v\": 1}\n")
        .seed("{\"a\": {\"id\": 1,\n\"q\": 2}, \"b\": {\"id\": 1}}")
        .dictionary([
            "[", "]", "{", "}", ",", ":", "\"", "\\", "\\\"", "null", "1e999", "\u{feff}", "{}",
            "[]", "\\ud800",
        ])
        .run(|input| {
            let found = match read("a.json", input) {
                Ok(found) => found,
                Err(error) => {
                    if let Some(line) = line_of(&error) {
                        assert_points_into(line, input, &error);
                    }
                    return;
                }
            };
            // An array as another parser reads it.
            if let Ok(Value::Array(whole)) = serde_json::from_slice::<Value>(input) {
                let cells = |row: &Value| {
                    let cell = |name: &str| row.get(name).cloned().unwrap_or_default();
                    vec![cell("id"), cell("q")]
                };
                assert_eq!(found, whole.iter().map(cells).collect::<Vec<_>>());
            }
        });
}

#[test]
fn any_text_is_one_document_or_an_error_with_a_line() {
    let columns = columns(&["uri", "title", "text", "*"]);
    Target::new("text-file", CORPUS)
        .seed("---\ntitle: a\ntags: [b]\n---\n# Heading\n\n```\ncode\n```\n")
        .seed("<title>a</title><h1>b</h1><p>c<br>d<pre>e</pre><script>f</script>&amp;&#xe9;")
        .dictionary([
            "---\n",
            "...\n",
            "===\n",
            "# ",
            "~~~\n",
            "<h2>",
            "</",
            "<svg>",
            "</svg>",
            "<!--",
            "&nbsp;",
            "<![CDATA[",
            "<textarea>",
        ])
        .run(|input| {
            for name in ["a.md", "a.html", "a.txt"] {
                let read: Result<Vec<Vec<Value>>, DataError> =
                    rows(name, input.to_vec(), &columns).and_then(Iterator::collect);
                match read {
                    Ok(rows) => {
                        assert_eq!(rows.len(), 1);
                        assert_eq!(rows[0][0], name);
                        assert!(rows[0][2].is_string() && rows[0][3].is_object());
                    }
                    Err(DataError::Row { place, .. }) => {
                        let error = std::io::Error::other("of a text");
                        assert_points_into(number(&place), input, &error);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        });
}

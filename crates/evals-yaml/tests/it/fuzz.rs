//! Fuzz targets: reading any text gives a value or an error at a place of the text, and a value is written and read unchanged.

use evals_fuzz::Target;
use evals_yaml::{Document, YamlError, json, to_yaml, yaml11};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// Checks that places are those of a text, or directly behind its end or the end of a line.
fn assert_point_into<'e>(text: &str, errors: impl IntoIterator<Item = &'e YamlError>) {
    let lines = text.split(['\n', '\r']).count() as u64;
    let columns = text.chars().count() as u64 + 1;
    for error in errors {
        assert!(
            (1..=lines).contains(&error.line),
            "{lines} lines: {error:?}"
        );
        assert!((1..=columns).contains(&error.column), "{error:?}");
    }
}

fn check(read: Result<Document, YamlError>, text: &str) {
    let document = match read {
        Ok(document) => document,
        Err(error) => return assert_point_into(text, [&error]),
    };
    assert_point_into(text, document.errors.iter().chain(&document.warnings));
    let value = document.root.to_value();
    let written = to_yaml(&value);
    let again = yaml11::read(&written).unwrap();
    assert_eq!(again.root.to_value(), value, "{written}");
    assert_eq!(
        (again.errors, again.warnings),
        (vec![], vec![]),
        "{written}"
    );
}

#[test]
fn yaml() {
    Target::new("yaml11", CORPUS)
        .seed("a: &x {b: [1, 'c'], <<: {d: 1:30}}\ne: *x\n")
        .seed("- |\n  one\n  two\n- !!set {a, b}\n- ? {k: .nan}\n  : \"\\u00e9\"\n")
        .seed("010: 0x1F\nyes: 2021-05-08\n? - a\n: >-\n  b\n")
        .dictionary([
            "&x ", "*x", "<<: ", "!!", "- ", ": ", "\n  ", "? ", "|", ">", "'", "\"", "[", "{",
            ".inf", "1_0", "~", "#", "%YAML", "---\n",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            check(yaml11::read(&text), &text);
        });
}

#[test]
fn json_texts() {
    Target::new("json", CORPUS)
        .seed(r#"{"a": [1, -2.5e3, "b\u00e9\n"], "c": {"d": null}, "a": true}"#)
        .seed("[NaN, 12345678901234567890123, 1e999]")
        .dictionary([
            "\\ud800",
            "\"",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "-Infinity",
            "1e",
            "0",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let read = json::read(&text);
            // A second parser agrees, except where it refuses numbers and depths that are refused here in other ways.
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
                && let Ok(document) = &read
            {
                assert_eq!(document.root.to_value(), value);
            }
            if let Ok(document) = &read
                && document.errors.is_empty()
            {
                let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
                assert!(
                    serde_json::from_str::<serde_json::Value>(plain).is_ok(),
                    "{text}"
                );
            }
            check(read, &text);
        });
}

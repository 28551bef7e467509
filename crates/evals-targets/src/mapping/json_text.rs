//! JSON as programs write it, Python's not-a-number included.

use std::borrow::Cow;

use serde_json::Value;

use super::{MappingError, levels};

/// Reads the text of a reply as JSON. `NaN`, `Infinity` and `-Infinity`, which Python writes and JSON does not have, become texts.
pub(super) fn parse(text: &str) -> Result<Value, MappingError> {
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if let Cow::Owned(repaired) = with_texts_for_numbers(text)
        && let Ok(value) = serde_json::from_str(&repaired)
    {
        return Ok(value);
    }
    if text.trim().is_empty() {
        return Err(MappingError::of_text("the reply is empty", text));
    }
    let start: String = text.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    if ["<!doctype", "<html", "<head"]
        .iter()
        .any(|tag| start.starts_with(tag))
    {
        return Err(MappingError::of_text(
            "the reply is a web page, not JSON; check the address",
            text,
        ));
    }
    let error = error.to_string();
    let problem = if error.starts_with("recursion limit exceeded") {
        levels::problem()
    } else {
        format!("the reply is not JSON: {error}")
    };
    Err(MappingError::of_text(problem, text))
}

/// Puts `NaN`, `Infinity` and `-Infinity` in quotes where they stand outside of a text.
fn with_texts_for_numbers(text: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let (mut kept, mut at, mut quoted) = (0, 0, false);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 2,
            b'"' => {
                quoted = !quoted;
                at += 1;
            }
            _ if quoted => at += 1,
            _ => {
                let words = ["NaN", "-Infinity", "Infinity"];
                let Some(word) = words
                    .iter()
                    .find(|word| bytes[at..].starts_with(word.as_bytes()))
                else {
                    at += 1;
                    continue;
                };
                repaired.push_str(&text[kept..at]);
                repaired.extend(["\"", word, "\""]);
                at += word.len();
                kept = at;
            }
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(&text[kept..]);
    Cow::Owned(repaired)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pythons_numbers_become_texts() {
        let text = r#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN", "é": 1}"#;
        assert_eq!(
            parse(text).unwrap(),
            json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "c": "NaN \" NaN", "é": 1})
        );
    }

    #[test]
    fn what_is_no_json_is_named() {
        for empty in ["", " \n"] {
            assert_eq!(parse(empty).unwrap_err().to_string(), "the reply is empty");
        }
        for (text, start) in [
            (
                "<!DOCTYPE html><title>Sign in</title>",
                "the reply is a web page, not JSON; check the address; the reply begins with `<!DOCTYPE",
            ),
            (
                "{\"a\": 1",
                "the reply is not JSON: EOF while parsing an object at line 1 column 7; the reply begins with `{\"a\": 1`",
            ),
            ("NaN NaN", "the reply is not JSON"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(start), "{message}");
        }
    }
}

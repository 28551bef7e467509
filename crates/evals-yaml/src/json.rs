//! JSON with the place of every value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::error::YamlError;
use crate::node::{Content, Document, Key, MOST_LEVELS, Member, Members, Node, Place};

/// Reads JSON. Faulty syntax is an error, and so are `NaN` and `Infinity`, which Python's `json` writes; numbers that are too large are
/// among the document's [errors](Document::errors). A key that occurs twice takes its last value, with a warning.
pub fn read(text: &str) -> Result<Document, YamlError> {
    read_from(text.strip_prefix('\u{feff}').unwrap_or(text), 1)
}

/// Reads JSON that begins on this line of its file, as [`read`] does.
pub fn read_from(text: &str, line: u64) -> Result<Document, YamlError> {
    let root = serde_json::from_str(text).map_err(|error| syntax(text, line, &error))?;
    let mut reader = Reader {
        rest: text,
        place: Place { line, column: 1 },
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let root = reader.node(root, 1)?;
    let Reader {
        errors,
        mut warnings,
        ..
    } = reader;
    // A key turns out to be there twice after its value was read.
    warnings.sort_by_key(|warning| (warning.line, warning.column));
    Ok(Document {
        root,
        errors,
        warnings,
    })
}

/// Makes nodes of values whose syntax was checked.
struct Reader<'t> {
    /// The text from the last value on.
    rest: &'t str,
    /// The place of the last value.
    place: Place,
    errors: Vec<YamlError>,
    warnings: Vec<YamlError>,
}

impl<'t> Reader<'t> {
    fn node(&mut self, raw: &'t RawValue, level: usize) -> Result<Node, YamlError> {
        let written = raw.get();
        let place = self.advance_to(written);
        if level > MOST_LEVELS {
            return Err(place.error(format!("nested more than {MOST_LEVELS} levels deep")));
        }
        let content = match written.as_bytes()[0] {
            b'{' => {
                let mut members = Members::default();
                let RawMembers(list) = parsed(written, place)?;
                for (key, value) in list {
                    let member = self.member(key, value, level)?;
                    self.warnings.extend(members.insert(member));
                }
                Content::Mapping(members.list)
            }
            b'[' => {
                let items: Vec<&RawValue> = parsed(written, place)?;
                let items = items.into_iter().map(|item| self.node(item, level + 1));
                Content::List(items.collect::<Result<_, _>>()?)
            }
            b'-' | b'0'..=b'9' => Content::Scalar(self.number(written, place)),
            _ => Content::Scalar(parsed(written, place)?),
        };
        Ok(Node { place, content })
    }

    fn member(
        &mut self,
        key: &'t RawValue,
        value: &'t RawValue,
        level: usize,
    ) -> Result<Member, YamlError> {
        let place = self.advance_to(key.get());
        let key = Key {
            text: parsed(key.get(), place)?,
            is_text: true,
            place,
        };
        let value = self.node(value, level + 1)?;
        Ok(Member { key, value })
    }

    fn number(&mut self, written: &str, place: Place) -> Value {
        let Ok(number) = serde_json::from_str::<Number>(written) else {
            self.errors.push(place.not_finite(written));
            return Value::Null;
        };
        let is_whole = !written.contains(['.', 'e', 'E']);
        if is_whole && number.is_f64() && written != "-0" {
            self.warnings.push(place.rounded(written, &number));
        }
        Value::Number(number)
    }

    /// The place of a part of the text. Parts come in the order of the text.
    fn advance_to(&mut self, part: &str) -> Place {
        let offset = part.as_ptr().addr() - self.rest.as_ptr().addr();
        let (passed, rest) = self.rest.split_at(offset);
        self.rest = rest;
        for character in passed.chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.place
    }
}

/// Reads a part of the text whose syntax was checked. Half a surrogate pair in a text is still possible.
fn parsed<'t, T: Deserialize<'t>>(written: &'t str, place: Place) -> Result<T, YamlError> {
    serde_json::from_str(written).map_err(|error| place.error(reason(&error)))
}

/// The members of an object, those that occur twice too.
struct RawMembers<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = RawMembers<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = object.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// An error of the syntax. Its column counts bytes.
fn syntax(text: &str, first_line: u64, error: &serde_json::Error) -> YamlError {
    let line = text.split('\n').nth(error.line().saturating_sub(1));
    let line = line.unwrap_or_default();
    let before = error.column().saturating_sub(1).min(line.len());
    let before = (0..=before).rev().find(|at| line.is_char_boundary(*at));
    let (before, rest) = line.split_at(before.unwrap_or(0));
    let place = Place {
        line: first_line + error.line().saturating_sub(1) as u64,
        column: before.chars().count() as u64 + 1,
    };
    let names = ["NaN", "Infinity"];
    match names.into_iter().find(|name| rest.starts_with(name)) {
        Some(name) => place.not_finite(name),
        None => place.error(reason(error)),
    }
}

/// The message of an error without the place.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_keys_have_their_places() {
        let text = "{\"a\": [1, \"é\", {\"b\": null}],\n \"c\\n\": -2.5e1}";
        let Document {
            root,
            errors,
            warnings,
        } = read(text).unwrap();
        assert_eq!(
            root.to_value(),
            json!({"a": [1, "é", {"b": null}], "c\n": -25.0})
        );
        let b = root.member("a").unwrap().value.items().unwrap()[2]
            .member("b")
            .unwrap();
        assert_eq!(
            (b.key.place.to_string(), b.value.place.to_string()),
            ("1:17".into(), "1:22".into())
        );
        assert_eq!(root.member("c\n").unwrap().key.place.to_string(), "2:2");
        assert_eq!((errors, warnings), (vec![], vec![]));
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_all_reported() {
        let read =
            read("[1, -1e999,\n1e999, {\"a\": 1, \"a\": 123456789012345678901234567890}]").unwrap();
        let places = |list: &[YamlError]| -> Vec<(u64, u64)> {
            list.iter()
                .map(|error| (error.line, error.column))
                .collect()
        };
        assert_eq!(places(&read.errors), [(1, 5), (2, 1)]);
        assert_eq!(places(&read.warnings), [(2, 17), (2, 22)]);
    }

    #[test]
    fn faulty_syntax_is_refused_at_its_place() {
        let cases = [
            ("", "1:1: EOF while parsing a value"),
            ("{\"é\": 1,}", "1:9: key must be a string"),
            ("[1 2]", "1:4: expected `,` or `]`"),
            ("{\n  a: 1}", "2:3: key must be a string"),
            ("[nope]", "1:3: expected ident"),
            ("[01]", "1:3: invalid number"),
            ("[\"\\q\"]", "1:4: invalid escape"),
            ("[\"\\ud800\"]", "1:2: unexpected end of hex escape"),
            ("1 1", "1:3: trailing characters"),
            ("'a'", "1:1: expected value"),
        ];
        for (text, wanted) in cases {
            let error = read(text).unwrap_err();
            let found = format!("{}:{}: {error}", error.line, error.column);
            assert_eq!(found, wanted, "{text:?}");
        }
        for name in ["NaN", "[Infinity", "[-Infinity"] {
            let error = read(name).unwrap_err();
            assert!(error.message.contains("is not a finite number"), "{error}");
        }
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        assert_eq!(
            read(&deep).unwrap_err().message,
            "nested more than 100 levels deep"
        );
    }
}

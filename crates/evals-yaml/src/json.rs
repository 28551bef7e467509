//! JSON with the place of every value.

use serde_json::{Number, Value};

use crate::error::YamlError;
use crate::node::{Content, Document, Key, MOST_LEVELS, Member, Members, Node, Place};
use crate::yaml11::{not_finite, rounded};

/// Reads JSON. Faulty syntax is an error; `NaN`, `Infinity` and `-Infinity`, which Python's `json` writes, are among the
/// document's [errors](Document::errors). A key that occurs twice takes its last value, with a warning.
pub fn read(text: &str) -> Result<Document, YamlError> {
    read_from(text.strip_prefix('\u{feff}').unwrap_or(text), 1)
}

/// Reads JSON that begins on this line of its file, as [`read`] does.
pub fn read_from(text: &str, line: u64) -> Result<Document, YamlError> {
    let mut reader = Reader {
        rest: text,
        place: Place { line, column: 1 },
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    reader.blanks();
    let root = reader.value(1)?;
    reader.blanks();
    if !reader.rest.is_empty() {
        return Err(reader.place.error("nothing may follow the value"));
    }
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

struct Reader<'t> {
    rest: &'t str,
    place: Place,
    errors: Vec<YamlError>,
    warnings: Vec<YamlError>,
}

impl<'t> Reader<'t> {
    fn value(&mut self, level: usize) -> Result<Node, YamlError> {
        let place = self.place;
        if level > MOST_LEVELS {
            return Err(place.error(format!("nested more than {MOST_LEVELS} levels deep")));
        }
        match self.rest.as_bytes().first() {
            Some(b'{') => self.object(level),
            Some(b'[') => self.array(level),
            Some(b'"') => Ok(Node::scalar(place, self.string()?)),
            Some(_) => self.word(),
            None => Err(place.error("the text ends where a value is expected")),
        }
    }

    fn object(&mut self, level: usize) -> Result<Node, YamlError> {
        let place = self.place;
        let mut members = Members::default();
        self.take(1);
        self.blanks();
        if !self.byte(b'}') {
            loop {
                let key = self.key()?;
                self.blanks();
                if !self.byte(b':') {
                    return Err(self
                        .place
                        .error(format!("`:` is missing after {}", quoted(&key.text))));
                }
                self.blanks();
                let value = self.value(level + 1)?;
                self.warnings.extend(members.insert(Member { key, value }));
                self.blanks();
                if self.byte(b'}') {
                    break;
                }
                self.comma('}')?;
            }
        }
        let content = Content::Mapping(members.list);
        Ok(Node { place, content })
    }

    fn key(&mut self) -> Result<Key, YamlError> {
        let place = self.place;
        if !self.rest.starts_with('"') {
            return Err(place.error("a key in double quotes is expected here"));
        }
        let text = self.string()?;
        Ok(Key {
            text,
            is_text: true,
            place,
        })
    }

    fn array(&mut self, level: usize) -> Result<Node, YamlError> {
        let place = self.place;
        let mut items = Vec::new();
        self.take(1);
        self.blanks();
        if !self.byte(b']') {
            loop {
                items.push(self.value(level + 1)?);
                self.blanks();
                if self.byte(b']') {
                    break;
                }
                self.comma(']')?;
            }
        }
        let content = Content::List(items);
        Ok(Node { place, content })
    }

    /// Takes the comma before a further member or item.
    fn comma(&mut self, close: char) -> Result<(), YamlError> {
        let place = self.place;
        if !self.byte(b',') {
            return Err(place.error(format!("`,` or `{close}` is expected here")));
        }
        self.blanks();
        if self.rest.starts_with(close) {
            return Err(place.error(format!("no comma may stand before `{close}`")));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, YamlError> {
        let place = self.place;
        let mut escaped = false;
        let end = self.rest.bytes().enumerate().skip(1).find(|(_, byte)| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else {
            return Err(place.error("the closing `\"` is missing"));
        };
        let literal = self.take(end + 1);
        serde_json::from_str(literal).map_err(|error| {
            let message = error.to_string();
            let (reason, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
            place.error(reason)
        })
    }

    /// Reads a number or one of the names.
    fn word(&mut self) -> Result<Node, YamlError> {
        let place = self.place;
        let length = self.rest.find(|next: char| {
            !(next.is_ascii_alphanumeric() || matches!(next, '-' | '+' | '.' | '_'))
        });
        let word = self.take(length.unwrap_or(self.rest.len()));
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" | "Infinity" | "-Infinity" => {
                self.errors.push(not_finite(word, place));
                Value::Null
            }
            "" => {
                let next = self.rest.chars().next().unwrap_or(' ');
                return Err(place.error(format!("unexpected character `{next}`")));
            }
            number => Value::Number(self.number(number, place)?),
        };
        Ok(Node::scalar(place, value))
    }

    fn number(&mut self, word: &str, place: Place) -> Result<Number, YamlError> {
        let unknown = || {
            let hint = if word.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
                "is no number"
            } else {
                "is no value; a text needs double quotes"
            };
            place.error(format!("`{}` {hint}", shortened(word)))
        };
        match serde_json::from_str::<Number>(word) {
            Ok(number) => {
                let is_whole = !word.contains(['.', 'e', 'E']);
                if is_whole && number.is_f64() && word != "-0" {
                    self.warnings.push(rounded(word, &number, place));
                }
                Ok(number)
            }
            Err(error) if error.to_string().starts_with("number out of range") => {
                self.errors.push(not_finite(word, place));
                Ok(Number::from(0))
            }
            Err(_) => Err(unknown()),
        }
    }

    fn blanks(&mut self) {
        let blanks = self.rest.bytes();
        let blanks = blanks.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let length = blanks.count();
        self.take(length);
    }

    fn byte(&mut self, wanted: u8) -> bool {
        let is_there = self.rest.as_bytes().first() == Some(&wanted);
        if is_there {
            self.take(1);
        }
        is_there
    }

    /// Takes this many bytes, which end at a character's boundary.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        for character in taken.chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        taken
    }
}

fn quoted(key: &str) -> String {
    format!("the key `{}`", shortened(key))
}

fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
            read("[NaN, 1, -Infinity,\n1e999, {\"a\": 1, \"a\": 123456789012345678901234567890}]")
                .unwrap();
        let places = |list: &[YamlError]| -> Vec<(u64, u64)> {
            list.iter()
                .map(|error| (error.line, error.column))
                .collect()
        };
        assert_eq!(places(&read.errors), [(1, 2), (1, 10), (2, 1)]);
        assert_eq!(places(&read.warnings), [(2, 17), (2, 22)]);
    }

    #[test]
    fn faulty_syntax_is_refused_at_its_place() {
        let cases = [
            ("", "1:1: the text ends where a value is expected"),
            ("{\"a\": 1,}", "1:8: no comma may stand before `}`"),
            ("[1 2]", "1:4: `,` or `]` is expected here"),
            ("{\n  a: 1}", "2:3: a key in double quotes is expected here"),
            (
                "[nope]",
                "1:2: `nope` is no value; a text needs double quotes",
            ),
            ("[01]", "1:2: `01` is no number"),
            ("[\"a]", "1:2: the closing `\"` is missing"),
            ("[\"\\q\"]", "1:2: invalid escape"),
            ("{\"a\" 1}", "1:6: `:` is missing after the key `a`"),
            ("1 1", "1:3: nothing may follow the value"),
            ("'a'", "1:1: unexpected character `'`"),
        ];
        for (text, wanted) in cases {
            let error = read(text).unwrap_err();
            let found = format!("{}:{}: {error}", error.line, error.column);
            assert_eq!(found, wanted, "{text:?}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(
            read(&deep).unwrap_err().message,
            "nested more than 100 levels deep"
        );
    }
}

//! Matches a reply to its request by the id that both carry. In a guarded protocol nobody can guess the ids.

use std::fmt::Debug;

use serde_json::Value;

/// How the lines of a worker are read.
pub trait Protocol: Debug + Send + Sync {
    /// Parses a line. By default it has to be JSON. The error names the problem without the line.
    fn parse(&self, line: &[u8]) -> Result<Value, String> {
        parse_json(line)
    }

    /// The id of the request that a reply is for: by default its `id`, a text or a number.
    fn id(&self, reply: &Value) -> Option<String> {
        match reply.get("id")? {
            Value::Null => None,
            Value::String(id) => Some(id.clone()),
            id => Some(id.to_string()),
        }
    }

    /// Whether replies carry texts of somebody who gains by forging one. Then the id of each request ends in a random word that only
    /// its process knows, a reply needs that id, and a second line for a request is a fault of that request. Errors and replies show
    /// the id without the word, because they are part of reports.
    fn is_guarded(&self) -> bool {
        false
    }

    /// Whether a line without an id can be a reply at all. A greeting such as `{"status": "ready"}` should be none: it would be taken
    /// for the reply to the first request, and the reply to that for the second one's.
    fn is_reply(&self, line: &Value) -> bool;

    /// What a reply looks like, for the message about a line that is none: ``an object such as `{"id": …, "answer": …}` ``.
    fn expected(&self) -> &'static str;
}

/// Parses a line. The error has the column alone, because a line is one line. Programs on Windows begin their output with a byte order
/// mark.
pub(crate) fn parse_json(line: &[u8]) -> Result<Value, String> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let parsed = serde_json::from_slice(line);
    parsed.map_err(|error| {
        error
            .to_string()
            .replace(" at line 1 column ", " at column ")
    })
}

/// Hexadecimal digits of the part that all words of a process share, and of the part that each word has alone: 64 bits.
const DIGITS: usize = 16;

/// Makes the ids of one process's requests, and takes the words out of what the process writes.
///
/// All words begin alike, so that one is recognised in any text without a list of them.
#[derive(Debug)]
pub(super) struct Guard {
    mark: String,
}

impl Guard {
    pub(super) fn new() -> Self {
        Self {
            mark: format!("~{}", random()),
        }
    }

    /// The id with a new word behind it.
    pub(super) fn id(&self, id: &str) -> String {
        format!("{id}{}{}", self.mark, random())
    }

    /// A text without the words.
    pub(super) fn without_words(&self, text: &str) -> String {
        let mut parts = text.split(&self.mark);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |shown, part| {
            let digits = part.bytes().take(DIGITS);
            shown + &part[digits.take_while(u8::is_ascii_hexdigit).count()..]
        })
    }

    /// A value whose texts and keys have no words.
    pub(super) fn clean(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text.contains(&self.mark) => self.without_words(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.clean(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let clean =
                    fields.map(|(key, value)| (self.without_words(&key), self.clean(value)));
                Value::Object(clean.collect())
            }
            other => other,
        }
    }
}

/// A word that nobody had before.
pub(super) fn random() -> String {
    let number = getrandom::u64().expect("the system gives random numbers to every process");
    format!("{number:0DIGITS$x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_line() {
        let line = "\u{feff}{\"answer\": 1}";
        assert!(parse_json(line.as_bytes()).is_ok());
        let error = parse_json(b"{").unwrap_err();
        assert_eq!(error, "EOF while parsing an object at column 1");
    }
}

#[cfg(test)]
mod guard_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_id_has_a_word_of_its_own_that_no_report_shows() {
        let guard = Guard::new();
        let (one, other) = (guard.id("a"), guard.id("a"));
        assert_ne!(one, other);
        let said = format!(
            "after {one}, {other}dead and the first half of {}",
            &one[..20]
        );
        assert_eq!(
            guard.without_words(&said),
            "after a, adead and the first half of a"
        );
        let reply = json!({"id": one, other: [format!("{}f", guard.id("b"))]});
        assert_eq!(guard.clean(reply), json!({"id": "a", "a": ["bf"]}));
    }
}

//! How a worker's lines are read.

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

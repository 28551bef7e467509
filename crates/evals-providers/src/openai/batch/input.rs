//! The input file of a batch: a line for each request.

use serde::Serialize;
use serde_json::Value;

use super::endpoint::CHAT;

/// One request of a batch.
#[derive(Debug, Serialize)]
struct Line<'a> {
    custom_id: &'a str,
    method: &'static str,
    url: &'static str,
    body: &'a Value,
}

/// The line of a request, with its line feed.
pub(super) fn line(id: &str, body: &Value) -> Vec<u8> {
    let line = Line {
        custom_id: id,
        method: "POST",
        url: CHAT,
        body,
    };
    let mut text = serde_json::to_vec(&line).expect("texts and JSON can be written as JSON");
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_as_openai_documents_it() {
        let text = line("a1", &json!({"model": "m"}));
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\"custom_id\":\"a1\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\":\"m\"}}\n"
        );
    }
}

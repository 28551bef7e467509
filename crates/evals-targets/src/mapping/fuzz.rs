//! Fuzz targets for replies. A stream is read the same however it is cut into pieces, and a recorded reply is read back unchanged.

use evals_fuzz::Target;
use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::path::{Path, PathValues};
use super::{Event, EventDecoder, Mapping, MappingError, StreamReader, StreamState};
use crate::recorded::read_back;
use crate::settings::{ResponseSettings, StreamSettings};
use crate::{Reply, TargetSettings};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// The mapping without settings, and one that names every field.
fn mappings() -> [Mapping; 2] {
    let configured = json!({
        "id": "$.id", "answer": "$.out.text", "documents": "$.out.hits[*]", "document_id": "$._id", "document_text": "$.body",
        "document_score": "$.score", "citations": "$..cited", "refused": "$.no", "model": "$.model", "version": "$.v",
        "usage": {"input_tokens": "$.in", "output_tokens": "$.out_tokens"}, "latency_ms": "$.ms", "tool_calls": "$.tools",
        "attributes": "$.attributes", "metrics": "$.metrics", "error": "$.error",
    });
    let configured: ResponseSettings = serde_json::from_value(configured).unwrap();
    [ResponseSettings::default(), configured].map(|settings| Mapping::new(&settings).unwrap())
}

/// A reply says something, and reads back from its record as it was. An error shows one short line of what was sent.
fn check(read: Result<Reply, MappingError>) {
    match read {
        Ok(mut reply) => {
            assert!(
                reply.answer.is_some()
                    || reply.documents.is_some()
                    || reply.refused == Some(true)
                    || reply.tool_calls.is_some()
                    || reply.spans.is_some()
            );
            let mut again = read_back(&reply);
            // No number that is not finite equals itself.
            for reply in [&mut reply, &mut again] {
                reply.metrics.retain(|_, metric| metric.is_finite());
            }
            assert_eq!(again, reply);
        }
        Err(error) => {
            assert!(error.beginning.chars().count() <= 201, "{error}");
            assert!(!error.beginning.chars().any(char::is_control), "{error}");
        }
    }
}

fn nested_lists(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

#[test]
fn replies() {
    let mappings = mappings();
    Target::new("reply", CORPUS)
        .seed(r#"{"id": "a", "answer": "x", "documents": ["d", {"id": 1, "score": 0.5, "title": "t", "text": "u"}], "citations": ["d"], "refused": false}"#)
        .seed(r#"{"answer": 1e300, "usage": {"input_tokens": 1, "output_tokens": 2}, "latency_seconds": 0.1, "metrics": {"a": 1.5, "b": NaN}, "attributes": {"k": [-Infinity]}}"#)
        .seed(r#"{"tool_calls": [{"name": "f", "arguments": {"a": 1}}], "spans": [{"name": "s", "seconds": 1}], "version": 7, "model": "m"}"#)
        .seed(r#"{"choices": [{"message": {"content": "x", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}"#)
        .seed(r#"{"out": {"text": "x", "hits": [{"_id": 1, "score": 2, "body": "b"}]}, "in": 1, "out_tokens": 2, "ms": 3.5, "cited": ["1"]}"#)
        .seed(format!(r#"{{"answer": {}}}"#, nested_lists(99)))
        .seed(format!(r#"{{"tool_calls": [{{"name": "f", "arguments": {}}}]}}"#, nested_lists(97)))
        .seed(format!(r#"{{"tool_calls": [{{"name": "f", "arguments": "{}"}}]}}"#, nested_lists(100)))
        .dictionary([
            "null", "true", "NaN", "-Infinity", "1e999", "-0.0", "18446744073709551616", "[]", "{}", "\"\"", "\"\\ud800\"", "\"\\u0000\"",
            "\"error\": ", "\"answer\": ", "\"seconds\": ", "<html>",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                assert_eq!(Mapping::parse(&text), Ok(value), "JSON is not repaired");
            }
            for mapping in &mappings {
                check(Mapping::parse(&text).and_then(|json| mapping.read(&json)));
            }
        });
}

/// The events of a whole stream, as the HTML standard describes them.
fn events_of_the_whole(stream: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut kind, mut data) = (String::new(), Vec::new());
    // An empty line ends the last event, too.
    for line in text.split('\n').chain([""]) {
        if line.is_empty() {
            let kind = std::mem::take(&mut kind);
            let data = std::mem::take(&mut data);
            if !data.is_empty() {
                let data = data.join("\n");
                events.push(Event { kind, data });
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data.push(value.to_owned()),
            "event" => kind = value.to_owned(),
            _ => {}
        }
    }
    events
}

fn reply_of(
    events: &[Event],
    reader: &StreamReader,
    mapping: &Mapping,
) -> Result<Reply, MappingError> {
    let mut state = StreamState::default();
    for event in events {
        reader.take(&mut state, event)?;
    }
    reader.finish(state, mapping)
}

#[test]
fn streams() {
    let mappings = mappings();
    let configured = json!({"text": "$..t", "done": "end"});
    let configured: StreamSettings = serde_json::from_value(configured).unwrap();
    let readers = [StreamSettings::default(), configured]
        .map(|settings| StreamReader::new(&settings).unwrap());
    Target::new("stream", CORPUS)
        .seed("\u{feff}: hello\ndata: a\n\nevent: error\r\ndata:b\r\ndata:  ü\r\n\r\nid: 1\n\ndata\n\ndata: last")
        .seed("data: {\"choices\": [{\"delta\": {\"content\": \"Pa\"}}]}\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"ris\"}}], \"documents\": [\"d\"]}\n\ndata: [DONE]\n\n")
        .seed("\u{feff}\u{feff}data: no field\n\ndata: a\n")
        .seed("data: {\"t\": \"a\"}\r\rdata: {\"x\": {\"t\": \"b\"}, \"id\": 1}\r\rdata: end\r\r")
        .dictionary(["\r", "\n", "\r\n", "data:", "event:", "event: error\n", "\u{feff}", "[DONE]", "{", "\"t\": ", "\n\n"])
        .run(|input| {
            let whole = events_of_the_whole(input);
            let longest = input.len().max(1);
            for piece in [1, 2, 3, 7, longest] {
                let mut decoder = EventDecoder::default();
                let mut events = Vec::new();
                for piece in input.chunks(piece) {
                    events.extend(decoder.push(piece));
                }
                events.extend(decoder.finish());
                assert_eq!(events, whole, "in pieces of {piece}");
            }
            for reader in &readers {
                for mapping in &mappings {
                    check(reply_of(&whole, reader, mapping));
                }
            }
        });
}

#[test]
fn paths() {
    let replies = [
        json!({"a": {"b": [1, {"c": "x", "*": 2}], "b.c": 3}, "": {"'": [4], "\"": 5}, "é": {"]": 6, "[0]": 7}}),
        json!([[[1, 2], {"a": 3}], {"a": [], "b": {}}, null]),
        json!("text"),
    ];
    Target::new("path", CORPUS)
        .seed("$.a.b[1]['c']")
        .seed("$['a'][\"b.c\"]")
        .seed("$.a.b[?@.c == 'x' && count(@.*) > 1].c")
        .seed("$ .é [ ']' ]")
        .seed("$..a[0:2,-1]")
        .seed("$['\\'']['\\u005d']")
        .dictionary([
            "$",
            ".",
            "..",
            "*",
            "[",
            "]",
            "'",
            "\"",
            "\\",
            "?",
            "@",
            ":",
            ",",
            "-1",
            " ",
            "\n",
            "length(",
            "match(@, '.*')",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let Ok(path) = Path::parse("`x`".to_owned(), &text) else {
                return;
            };
            let Ok(expression) = JsonPath::parse(&text) else {
                panic!("`{text}` is a path to one reader alone");
            };
            for reply in &replies {
                let nodes = expression.query(reply).all();
                match path.find(reply) {
                    PathValues::One(value) => assert_eq!(nodes, [value], "`{text}` in {reply}"),
                    PathValues::Many(values) => assert_eq!(nodes, values, "`{text}` in {reply}"),
                    PathValues::Missing => {
                        assert!(nodes.iter().all(|it| it.is_null()), "`{text}` in {reply}");
                    }
                }
            }
            // What one path of the settings may be, another may be.
            let settings = json!({"address": "http://h", "response": {"documents": text}});
            TargetSettings::from_value(settings)
                .unwrap()
                .check()
                .unwrap();
        });
}

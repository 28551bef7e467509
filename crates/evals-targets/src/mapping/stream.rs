//! Server-sent events, and a reply out of them.

use serde_json::{Map, Value};

use super::MappingError;
use super::chat_completion::WrittenCompletion;
use super::path::{Path, PathValues};
use super::reader::Mapping;
use crate::Reply;
use crate::settings::{SettingsProblem, StreamSettings};

/// The text of an event in OpenAI's protocol.
const USUAL_TEXT: &str = "$.choices[0].delta.content";
/// The data that ends a stream in OpenAI's protocol.
const USUAL_END: &str = "[DONE]";

/// How events become a reply.
#[derive(Clone, Debug)]
pub struct StreamReader {
    text: Path,
    is_configured: bool,
    done: Option<String>,
}

/// The part of a reply that has arrived.
#[derive(Debug, Default)]
pub struct StreamState {
    text: String,
    has_text: bool,
    /// Whether an event was text itself, so that one that only begins like an object is text too.
    is_plain: bool,
    /// Why the model declined, and why it stopped, in OpenAI's protocol.
    refusal: String,
    finish_reason: Option<String>,
    merged: Map<String, Value>,
    done: bool,
}

impl StreamReader {
    /// The reader of these settings.
    ///
    /// # Errors
    ///
    /// `text` is not a JSONPath.
    pub fn new(settings: &StreamSettings) -> Result<Self, SettingsProblem> {
        let path = settings.text.as_deref().unwrap_or(USUAL_TEXT);
        let text = Path::parse(format!("`stream.text` (`{path}`)"), path)
            .map_err(|message| SettingsProblem::new("stream.text", message))?;
        Ok(Self {
            text,
            is_configured: settings.text.is_some(),
            done: settings.done.clone(),
        })
    }

    /// Takes an event. Returns whether it brought text.
    ///
    /// # Errors
    ///
    /// The event reports an error, or its data cannot be read.
    pub fn take(&self, state: &mut StreamState, event: &Event) -> Result<bool, MappingError> {
        let data = event.data.as_str();
        if state.done {
            return Ok(false);
        }
        if event.kind == "error" {
            return Err(MappingError::of_text("the stream reports an error", data).reported());
        }
        if data == self.done.as_deref().unwrap_or(USUAL_END) {
            state.done = true;
            return Ok(false);
        }
        let looks_like_json = data.starts_with('{');
        // A key after the brace is the beginning of an object that the connection tore.
        let is_brace_of_text =
            state.is_plain && !data.starts_with("{\"") && Mapping::parse(data).is_err();
        let is_text = !looks_like_json || is_brace_of_text;
        if is_text && !self.is_configured {
            state.text += data;
            state.has_text = true;
            state.is_plain = true;
            return Ok(!data.is_empty());
        }
        let parsed = Mapping::parse(data).map_err(|error| MappingError {
            problem: error.problem.replace("the reply", "an event of the stream"),
            ..error
        })?;
        if parsed.get("error").is_some_and(|error| !error.is_null()) {
            return Err(MappingError::of_text("the stream reports an error", data).reported());
        }
        let before = state.text.len();
        let values = match self.text.find(&parsed) {
            PathValues::Missing => Vec::new(),
            PathValues::One(value) => vec![value],
            PathValues::Many(values) => values,
        };
        for value in values {
            let Value::String(text) = value else {
                let problem = format!("{} is not a text", self.text.place);
                return Err(MappingError::of_text(problem, data));
            };
            state.text += text;
            state.has_text = true;
        }
        if !self.is_configured {
            state.take_ending(&parsed);
        }
        if let Value::Object(fields) = parsed {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            state.merged.extend(fields);
        }
        Ok(state.text.len() > before)
    }

    /// The reply, after the last event.
    ///
    /// # Errors
    ///
    /// The stream ended before the event that `done` names, or it brought neither a text nor documents.
    pub fn finish(&self, state: StreamState, mapping: &Mapping) -> Result<Reply, MappingError> {
        if let Some(done) = &self.done
            && !state.done
        {
            let problem = format!("the stream ended without the event `{done}`");
            return Err(MappingError::of_text(problem, &state.text));
        }
        let written = WrittenCompletion {
            text: state.has_text.then_some(state.text),
            refusal: Some(state.refusal).filter(|refusal| !refusal.is_empty()),
            finish_reason: state.finish_reason,
        };
        mapping.read_merged(state.merged, written)
    }
}

impl StreamState {
    fn take_ending(&mut self, event: &Value) {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str);
        if let Some(refusal) = text("/choices/0/delta/refusal") {
            self.refusal += refusal;
        }
        if let Some(reason) = text("/choices/0/finish_reason") {
            self.finish_reason = Some(reason.to_owned());
        }
    }

    /// Whether the event that ends the stream has arrived.
    pub fn is_done(&self) -> bool {
        self.done
    }
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its type, such as `message` or `error`. Empty if the stream does not say.
    pub kind: String,
    /// Its data, of which several lines are joined by line breaks.
    pub data: String,
}

/// Cuts the bytes of a stream into events, as the HTML standard says. Bytes may arrive in any pieces.
#[derive(Debug, Default)]
pub struct EventDecoder {
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed belongs to the same line break.
    after_return: bool,
    started: bool,
    event: Event,
    has_data: bool,
}

impl EventDecoder {
    /// Takes bytes and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(*byte),
            }
        }
        events
    }

    /// Ends the stream, and returns the event that no empty line followed.
    pub fn finish(mut self) -> Option<Event> {
        let completed = if self.line.is_empty() {
            None
        } else {
            self.end_line()
        };
        completed.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = if std::mem::replace(&mut self.started, true) {
            &*line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        };
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.kind),
            // A comment, an id, or a field that nobody knows.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::ResponseSettings;

    fn read(settings: Value, response: Value, events: &[&str]) -> Result<Reply, String> {
        let settings: StreamSettings = serde_json::from_value(settings).unwrap();
        let response: ResponseSettings = serde_json::from_value(response).unwrap();
        let (reader, mapping) = (
            StreamReader::new(&settings).unwrap(),
            Mapping::new(&response).unwrap(),
        );
        let mut state = StreamState::default();
        for data in events {
            let event = Event {
                data: (*data).to_owned(),
                ..Event::default()
            };
            reader
                .take(&mut state, &event)
                .map_err(|error| error.to_string())?;
        }
        reader
            .finish(state, &mapping)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_pieces_of_openais_protocol_are_joined() {
        let reply = read(
            json!(true),
            json!({}),
            &[
                r#"{"choices": [{"delta": {"role": "assistant"}}]}"#,
                r#"{"choices": [{"delta": {"content": "Pa"}}], "model": "m"}"#,
                r#"{"choices": [{"delta": {"content": "ris"}}]}"#,
                r#"{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}"#,
                "[DONE]",
                "after the end",
            ],
        )
        .unwrap();
        assert_eq!(reply.answer, Some("Paris".into()));
        assert_eq!(reply.model.as_deref(), Some("m"));
        assert_eq!(reply.usage.unwrap().output_tokens, 2);
    }

    #[test]
    fn a_refusal_in_pieces_is_joined() {
        let pieces = [
            r#"{"choices": [{"delta": {"role": "assistant", "content": "", "refusal": null}}]}"#,
            r#"{"choices": [{"delta": {"refusal": "I cannot "}}]}"#,
            r#"{"choices": [{"delta": {"refusal": "help."}}]}"#,
            r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#,
            "[DONE]",
        ];
        for skipped in [0, 1] {
            let reply = read(json!(true), json!({}), &pieces[skipped..]).unwrap();
            assert_eq!(reply.answer, Some("I cannot help.".into()));
            assert_eq!(reply.refused, Some(true));
        }
    }

    #[test]
    fn a_stream_that_is_cut_says_why() {
        let piece = |text: &str| json!({"choices": [{"delta": {"content": text}}]}).to_string();
        let end = r#"{"choices": [{"delta": {}, "finish_reason": "length"}]}"#;
        let reply = read(json!(true), json!({}), &[&piece("Pa"), end, "[DONE]"]).unwrap();
        assert_eq!(reply.answer, Some("Pa".into()));
        assert_eq!(reply.attributes["finish_reason"], "length");
        for events in [vec![end], vec![&piece(""), end]] {
            let message = read(json!(true), json!({}), &events).unwrap_err();
            assert!(
                message.starts_with("the completion has no text"),
                "{message}"
            );
        }
    }

    #[test]
    fn other_events_bring_documents_beside_the_text() {
        let reply = read(
            json!({"text": "$.token", "done": "end"}),
            json!({"documents": "$.sources[*]", "document_id": "$.doc"}),
            &[
                r#"{"sources": [{"doc": "d1"}]}"#,
                r#"{"token": "Pa"}"#,
                r#"{"token": "ris"}"#,
                "end",
            ],
        )
        .unwrap();
        assert_eq!(reply.answer, Some("Paris".into()));
        assert_eq!(reply.documents.unwrap()[0].id.as_deref(), Some("d1"));
    }

    #[test]
    fn data_that_is_no_json_is_text() {
        let reply = read(json!(true), json!({}), &["Pa", "ris is", "", " nice"]).unwrap();
        assert_eq!(reply.answer, Some("Paris is nice".into()));
        let reply = read(json!(true), json!({}), &["fn main() ", "{", "}"]).unwrap();
        assert_eq!(reply.answer, Some("fn main() {}".into()));
    }

    #[test]
    fn a_stream_that_fails_or_ends_early_is_no_reply() {
        for (settings, events, start) in [
            (
                json!({"done": "[DONE]"}),
                vec!["Pa"],
                "the stream ended without the event `[DONE]`; the reply begins with `Pa`",
            ),
            (
                json!(true),
                vec!["Pa", r#"{"error": {"code": 502}}"#],
                "the stream reports an error; the reply begins with `{\"error\"",
            ),
            (
                json!(true),
                vec!["{\"choices\": [{\"de"],
                "an event of the stream is not JSON",
            ),
            (
                json!({"text": "$.n"}),
                vec![r#"{"n": 5}"#],
                "`stream.text` (`$.n`) is not a text",
            ),
            (
                json!(true),
                vec![],
                "the reply has neither `answer` nor `documents`",
            ),
        ] {
            let message = read(settings, json!({}), &events).unwrap_err();
            assert!(message.starts_with(start), "{message}");
        }
    }
}

#[cfg(test)]
mod events_tests {
    use super::*;

    fn decoded(stream: &str, piece: usize) -> Vec<(String, String)> {
        let mut decoder = EventDecoder::default();
        let pieces = stream.as_bytes().chunks(piece);
        let mut events: Vec<Event> = pieces.flat_map(|piece| decoder.push(piece)).collect();
        events.extend(decoder.finish());
        events
            .into_iter()
            .map(|event| (event.kind, event.data))
            .collect()
    }

    #[test]
    fn events_are_the_same_in_any_pieces() {
        let stream = "\u{feff}: hello\ndata: a\n\nevent: error\r\ndata:b\r\ndata:  ü\r\n\r\nid: 1\n\ndata\n\ndata: last";
        let expected = [("", "a"), ("error", "b\n ü"), ("", ""), ("", "last")];
        let expected = expected.map(|(kind, data)| (kind.to_owned(), data.to_owned()));
        for piece in 1..stream.len() {
            assert_eq!(decoded(stream, piece), expected, "{piece}");
        }
    }

    #[test]
    fn a_stream_without_data_has_no_events() {
        assert_eq!(decoded("event: ping\n\n: nothing\n\n", 3), []);
        assert_eq!(decoded("\r\n\r\n", 1), []);
    }
}

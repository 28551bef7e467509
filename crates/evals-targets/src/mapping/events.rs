//! Server-sent events.

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

//! The answers of a script.

use std::time::Duration;

use serde_json::Value;

/// The server's reaction to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    /// Answers as the protocol says: conversations with this, everything else as [`Reaction::Sound`].
    Say(Saying),
    /// Answers as the protocol says, whatever was asked.
    Sound,
    /// Answers with a status, headers and a body.
    Status(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Says nothing for as long as anybody listens.
    Hang,
    /// Answers with pieces of a body and pauses between them.
    Drip(Vec<String>, Duration),
    /// Answers with lines of JSON, each sent as a chunk of its own.
    Lines(Vec<Value>, Ending),
    /// Answers with server-sent events, each sent as a chunk of its own.
    Events(Vec<String>, Ending),
    /// Sends half of a body and resets the connection.
    Reset,
    /// Sends half of a body and closes the connection as if that were all.
    Close,
}

/// How a stream of lines ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    /// As HTTP ends a body.
    Whole,
    /// The connection is closed in the middle of the body.
    Cut,
    /// Nothing follows, and the connection stays open.
    Silence,
}

/// A model's reply, and the form in which the server sends it.
#[derive(Clone, Debug)]
pub(crate) struct Saying {
    pub(crate) text: String,
    pub(crate) reasoning: Option<String>,
    /// `finish_reason` or `done_reason`; none is left out.
    pub(crate) finish: Option<&'static str>,
    /// Tokens of the prompt and of the reply; none are left out.
    pub(crate) usage: Option<(u64, u64)>,
    /// Whether the reply comes in pieces.
    pub(crate) streamed: bool,
    /// How long the model takes.
    pub(crate) after: Duration,
}

impl Saying {
    /// A reply without anything special to it. The prompt counts 25 tokens.
    pub(crate) fn of(text: &str) -> Saying {
        Saying {
            text: text.to_owned(),
            reasoning: None,
            finish: Some("stop"),
            usage: Some((25, 7)),
            streamed: false,
            after: Duration::ZERO,
        }
    }
}

impl Reaction {
    /// A model that says this.
    pub(crate) fn say(text: &str) -> Reaction {
        Reaction::Say(Saying::of(text))
    }

    /// An answer with JSON in it.
    pub(crate) fn json(status: u16, body: &Value) -> Reaction {
        let headers = vec![("content-type", "application/json".to_owned())];
        Reaction::Status(status, headers, body.to_string().into_bytes())
    }

    /// An answer with a text in it, or with bytes that are none.
    pub(crate) fn body(status: u16, body: impl Into<Vec<u8>>) -> Reaction {
        Reaction::Status(status, Vec::new(), body.into())
    }

    /// The server has too much to do; `retry_after` is sent as it is.
    pub(crate) fn busy(retry_after: Option<&str>) -> Reaction {
        let headers = retry_after.map(|value| ("retry-after", value.to_owned()));
        Reaction::Status(429, headers.into_iter().collect(), b"{}".to_vec())
    }
}

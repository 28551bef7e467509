//! Bodies of answers, and a limit to their size for each kind of answer.
//!
//! A server may send anything, and a compressed megabyte may expand to a gigabyte. So bodies are read in pieces as they are
//! decompressed, up to the limit.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{Encoding, UTF_8};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use evals_models::without_lone_surrogates;

/// The kind of answer that a request expects, and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Its name in messages.
    pub(crate) what: &'static str,
    pub(crate) limit: Limit,
}

/// The most bytes of a body after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(usize);

/// Why a body is incomplete.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is larger than its limit.
    TooLarge,
    /// The connection was lost.
    Lost(reqwest::Error),
}

const MEGABYTE: usize = 1 << 20;

/// The most components of a vector, twice as many as the largest known model has.
const COMPONENTS: usize = 16_384;
/// Bytes of a component with all its digits, exponent, comma and white space.
const COMPONENT: usize = 32;
/// Bytes of a score with its names and numbers, without its text.
const RANK: usize = 1_024;
/// Bytes of the longest way to write a byte in JSON: `\u0000`.
const ESCAPED: usize = 6;

impl Expected {
    /// A chat model's reply, limited to 32 MiB. Servers that always stream send about 200 bytes for each token. The limit still
    /// holds several times the longest replies.
    pub(crate) const fn reply(what: &'static str) -> Self {
        Self::at_most(what, 32 * MEGABYTE)
    }

    /// A server's description of its models.
    pub(crate) const fn facts(what: &'static str) -> Self {
        Self::at_most(what, 8 * MEGABYTE)
    }

    /// The replies of a whole batch, limited to 16 GiB: 50,000 replies of 300 KiB each.
    pub(crate) const fn batch(what: &'static str) -> Self {
        Self::at_most(what, (16 << 10) * MEGABYTE)
    }

    /// A vector for each text.
    pub(crate) const fn embeddings(texts: usize) -> Self {
        let vectors = texts.saturating_mul(COMPONENTS * COMPONENT);
        Self::at_most("embeddings", vectors.saturating_add(MEGABYTE))
    }

    /// A score for each text. Servers may send the texts back with the scores.
    pub(crate) fn scores(texts: &[String]) -> Self {
        let ranks = texts.iter().map(|text| text.len() * ESCAPED + RANK);
        Self::at_most("scores", MEGABYTE + ranks.sum::<usize>())
    }

    const fn at_most(what: &'static str, bytes: usize) -> Self {
        let limit = Limit(bytes.div_ceil(MEGABYTE).saturating_mul(MEGABYTE));
        Self { what, limit }
    }
}

impl Limit {
    /// The limit of an error's body, of which the rest is ignored.
    pub(crate) const ERROR: Self = Self(MEGABYTE);

    /// Whether a body may have as many bytes.
    pub(crate) fn allows(self, bytes: usize) -> bool {
        bytes <= self.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} MiB", self.0 / MEGABYTE)
    }
}

/// Reads a body to its end.
pub(crate) async fn read(response: &mut Response, limit: Limit) -> Result<Vec<u8>, Unread> {
    match beginning(response, limit).await? {
        (body, true) => Ok(body),
        (_, false) => Err(Unread::TooLarge),
    }
}

/// Reads as much of a body as the limit allows. The flag says whether that is all of it.
pub(crate) async fn beginning(
    response: &mut Response,
    Limit(limit): Limit,
) -> Result<(Vec<u8>, bool), Unread> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(Unread::Lost)? {
        let room = limit - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Ok((body, false));
        }
    }
    Ok((body, true))
}

/// The encoding that the server names for its text, unless it is UTF-8.
pub(crate) fn charset(response: &Response) -> Option<&'static Encoding> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let parameters = kind.split(';').skip(1);
    let mut parameters = parameters.filter_map(|parameter| parameter.split_once('='));
    let (_, label) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    let encoding = Encoding::for_label(label.trim().trim_matches('"').as_bytes())?;
    (encoding != UTF_8).then_some(encoding)
}

/// A body that a JSON parser can read: text without a byte order mark, with U+FFFD for bytes and escapes that stand for no character.
/// A reply is worth having with a character lost, and another attempt would cost money again.
pub(crate) fn legible(body: Vec<u8>) -> Vec<u8> {
    let body = match String::from_utf8(body) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    let text = body.trim_start_matches('\u{feff}');
    match without_lone_surrogates(text) {
        Cow::Borrowed(text) if text.len() == body.len() => body.into_bytes(),
        text => text.into_owned().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_grow_with_what_is_asked_for() {
        let limit = |expected: Expected| expected.limit.to_string();
        assert_eq!(limit(Expected::reply("a reply")), "32 MiB");
        assert_eq!(limit(Expected::embeddings(1)), "2 MiB");
        assert_eq!(limit(Expected::embeddings(64)), "33 MiB");
        assert_eq!(limit(Expected::scores(&[])), "1 MiB");
        assert_eq!(limit(Expected::scores(&["x".repeat(MEGABYTE)])), "8 MiB");
        assert_eq!(Expected::embeddings(usize::MAX).limit, Limit(usize::MAX));
    }

    #[test]
    fn what_stands_for_no_character_is_replaced() {
        let legible = |body: &[u8]| String::from_utf8(legible(body.to_vec())).unwrap();
        assert_eq!(
            legible(b"{\"a\": \"\xff\\ud800\"}"),
            "{\"a\": \"\u{fffd}\\ufffd\"}"
        );
        assert_eq!(legible("\u{feff}{}".as_bytes()), "{}");
        assert_eq!(legible("{\"é\"}".as_bytes()), "{\"é\"}");
    }
}

//! Bodies of answers, of which no more is read than can belong to what was asked for.
//!
//! A server may send anything, and a megabyte that is compressed may stand for a gigabyte. So bodies are read in pieces as they
//! are decompressed, up to a limit.

use std::borrow::Cow;
use std::fmt;

use reqwest::Response;

use evals_models::without_lone_surrogates;

/// What a request asks for, and how much of an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// What messages call it.
    pub(crate) what: &'static str,
    pub(crate) limit: Limit,
}

/// Most bytes of a body after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(usize);

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is larger than its limit.
    TooLarge,
    /// The connection was lost.
    Lost(reqwest::Error),
}

const MEGABYTE: usize = 1 << 20;

/// Most components of a vector, of which the largest known model has half.
const COMPONENTS: usize = 16_384;
/// A component with all its digits, exponent, comma and white space.
const COMPONENT: usize = 32;
/// A rank with its names and numbers, without its text.
const RANK: usize = 1_024;
/// The longest way to write a byte in JSON: `\u0000`.
const ESCAPED: usize = 6;

impl Expected {
    /// A reply of a chat model: some times what the longest have, be each token of them an event of its own, which servers that
    /// always stream send in about 200 bytes.
    pub(crate) const fn reply(what: &'static str) -> Self {
        Self::at_most(what, 32 * MEGABYTE)
    }

    /// What a server tells of its models.
    pub(crate) const fn facts(what: &'static str) -> Self {
        Self::at_most(what, 8 * MEGABYTE)
    }

    /// A vector for each of some texts.
    pub(crate) const fn embeddings(texts: usize) -> Self {
        let vectors = texts.saturating_mul(COMPONENTS * COMPONENT);
        Self::at_most("embeddings", vectors.saturating_add(MEGABYTE))
    }

    /// A score for each of some texts, which servers send back with it.
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
    /// An error's message. What is beyond it is not worth reading.
    pub(crate) const ERROR: Self = Self(MEGABYTE);
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

/// Reads as much of a body as the limit allows, and says whether that is all.
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

/// A body as JSON can be read of it: text without a mark of its byte order, with U+FFFD for bytes and escapes that stand for no
/// character. A model's words are worth having with a character lost, and asking again would be paid for again.
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

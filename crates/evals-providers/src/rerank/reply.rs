//! The scores in a server's answer.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::server::Server;
use crate::traffic::AttemptError;
use evals_messages::quantity;
use evals_models::{Failure, Usage};

/// The name of the answer in messages.
const EXPECTED: &str = "scores";

/// The scores of a batch in the order of its texts.
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) scores: Vec<f32>,
    pub(super) usage: Option<Usage>,
}

/// The server left texts out, although the request did not limit how many to return.
#[derive(Debug, Error)]
#[error("{server} gave no score for {missing} of {}", quantity::of(*texts, "text"))]
struct MissingError {
    server: String,
    missing: usize,
    texts: usize,
}

/// The server's answer. Any field may be missing, because servers differ in what they send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RerankAnswer {
    #[serde(alias = "data")]
    results: Vec<ScoreRow>,
    usage: Option<TokenCounts>,
    meta: Option<CohereMeta>,
    error: Value,
}

#[derive(Debug, Deserialize)]
struct ScoreRow {
    index: usize,
    /// The name that most servers use.
    relevance_score: Option<f32>,
    /// The name that text-embeddings-inference uses. A server may send both.
    score: Option<f32>,
}

#[derive(Debug, Deserialize)]
struct TokenCounts {
    #[serde(default, alias = "input_tokens")]
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// The place of Cohere's token counts.
#[derive(Debug, Deserialize)]
struct CohereMeta {
    tokens: Option<TokenCounts>,
}

impl Scores {
    /// Reads an answer about the texts at `place` among all texts. Messages number the texts by their place among all.
    pub(super) fn read(
        server: &Server,
        body: &[u8],
        place: &Range<usize>,
    ) -> Result<Self, AttemptError> {
        let answer = answer(body).map_err(|error| {
            server.malformed(EXPECTED, &String::from_utf8_lossy(body), Some(error))
        })?;
        if !answer.error.is_null() {
            return Err(server.refused_inside(&json!({"error": answer.error})));
        }
        let tokens = answer.usage.or(answer.meta.and_then(|meta| meta.tokens));
        Ok(Self {
            scores: scores(server, answer.results, place)?,
            usage: tokens.and_then(|tokens| {
                Some(Usage {
                    input_tokens: tokens.prompt_tokens.or(tokens.total_tokens)?,
                    ..Usage::default()
                })
            }),
        })
    }
}

/// An object with `results`, or `data`, or the bare rows.
fn answer(body: &[u8]) -> Result<RerankAnswer, serde_json::Error> {
    let json: Value = serde_json::from_slice(body)?;
    if json.is_array() {
        let results = serde_json::from_value(json)?;
        return Ok(RerankAnswer {
            results,
            ..RerankAnswer::default()
        });
    }
    serde_json::from_value(json)
}

fn scores(
    server: &Server,
    rows: Vec<ScoreRow>,
    place: &Range<usize>,
) -> Result<Vec<f32>, AttemptError> {
    let texts = place.len();
    let unsound = |found: String| server.unexpected(EXPECTED, &found, None);
    let mut scores: Vec<Option<f32>> = vec![None; texts];
    for row in rows {
        let Some(slot) = scores.get_mut(row.index) else {
            let index = row.index;
            return Err(unsound(format!("a score of text {index} of {texts}")));
        };
        let Some(score) = row.relevance_score.or(row.score) else {
            continue;
        };
        let text = place.start + row.index;
        if !score.is_finite() {
            return Err(unsound(format!("a score of text {text} beyond all bounds")));
        }
        if slot.replace(score).is_some() {
            return Err(unsound(format!("two scores of text {text}")));
        }
    }
    let missing = scores.iter().filter(|score| score.is_none()).count();
    if missing > 0 {
        let server = server.name();
        let error = MissingError {
            server,
            missing,
            texts,
        };
        return Err(AttemptError::new(Failure::Content, error));
    }
    Ok(scores.into_iter().flatten().collect())
}

//! Reads a reply as a ranking and as an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use evals_metrics::{Ranking, RankingError, ScoredDocument};
use evals_models::Finish;
use evals_targets::Reply;
use serde_json::Value;
use thiserror::Error;

use super::matching::{Matched, Matcher};
use crate::answering::Refusals;
use crate::qa::Answer;
use crate::{Missing, Passage, Retrieved};

/// Why a reply cannot be measured.
#[derive(Debug, Error)]
pub enum ReadingError {
    /// It has nothing that a benchmark measures.
    #[error("the target's reply has neither an answer nor documents")]
    Nothing,
    /// The answer is a list or an object.
    #[error("the target's answer is {kind}, not a text: {start}")]
    NotAText {
        /// `a list` or `an object`.
        kind: &'static str,
        /// The beginning of the answer.
        start: String,
    },
    /// The documents do not form a ranking.
    #[error("the target's documents cannot be ranked")]
    Ranking(#[from] RankingError),
}

/// Most characters of an answer in an error.
const SHOWN: usize = 200;

/// Fails for a reply that has nothing to measure.
pub(super) fn check(reply: &Reply) -> Result<(), ReadingError> {
    let answered = given(reply).is_some() || reply.refused == Some(true);
    if answered || reply.documents.is_some() {
        Ok(())
    } else {
        Err(ReadingError::Nothing)
    }
}

/// The ranking of a reply. `matched` are its documents, in their order. The document with the id `left_out` does not count.
pub(super) fn retrieved(
    reply: &Reply,
    matched: &[Matched],
    k: NonZeroUsize,
    left_out: Option<&str>,
) -> Result<Retrieved, ReadingError> {
    let others = matched.iter().filter(|it| Some(it.id.as_str()) != left_out);
    Ok(Retrieved {
        ranking: ranking(others, k)?,
        missing: reply
            .documents
            .is_none()
            .then_some(Missing::Documents)
            .into_iter()
            .collect(),
        ..Retrieved::default()
    })
}

/// The answer of a reply. `matched` are its documents, in their order.
pub(super) fn answer(
    reply: &Reply,
    matched: &[Matched],
    k: NonZeroUsize,
    matcher: &Matcher,
    refusals: &Refusals,
) -> Result<Answer, ReadingError> {
    let text = given(reply).map(text).transpose()?;
    let refused = match (reply.refused, &text) {
        (Some(refused), _) => refused,
        (None, Some(text)) => refusals.refuses(text),
        (None, None) => false,
    };
    let citations = citations(reply, matched, matcher);
    let missing = [
        (reply.documents.is_none(), Missing::Documents),
        (text.is_none() && !refused, Missing::Answer),
        (reply.citations.is_none(), Missing::Citations),
    ];
    let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
    Ok(Answer {
        text: text.unwrap_or_default(),
        refused,
        citations: citations.documents,
        unknown_citations: citations.unknown,
        finish: Finish::Unknown,
        passages: passages(reply, matched),
        ranking: ranking(matched.iter(), k)?,
        searches: None,
        missing: missing.map(|(_, missing)| missing).collect(),
    })
}

/// The answer of a reply. `null` answers no question.
fn given(reply: &Reply) -> Option<&Value> {
    reply.answer.as_ref().filter(|answer| !answer.is_null())
}

/// The answer as a text. Numbers and truth values are texts too.
fn text(answer: &Value) -> Result<String, ReadingError> {
    let kind = match answer {
        Value::String(text) => return Ok(text.clone()),
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(answer.to_string()),
    };
    Err(ReadingError::NotAText {
        kind,
        start: answer.to_string().chars().take(SHOWN).collect(),
    })
}

/// The first `k` documents, each once. The scores fall from the first to the last, so the order of the list decides and there are
/// no ties.
fn ranking<'m>(
    matched: impl Iterator<Item = &'m Matched>,
    k: NonZeroUsize,
) -> Result<Ranking, RankingError> {
    let mut seen = BTreeSet::new();
    let distinct = matched.filter(|it| seen.insert(it.id.as_str()));
    let documents: Vec<&Matched> = distinct.take(k.get()).collect();
    let scores = (1..=documents.len()).rev();
    Ranking::new(
        documents
            .into_iter()
            .zip(scores)
            .map(|(document, score)| ScoredDocument {
                id: document.id.clone(),
                score: exact(score),
            }),
    )
}

/// The documents with a text, in their order.
fn passages(reply: &Reply, matched: &[Matched]) -> Vec<Passage> {
    let documents = reply.documents.as_deref().unwrap_or_default();
    let mut ordinals: BTreeMap<&str, u32> = BTreeMap::new();
    let scores = (1..=documents.len()).rev();
    let passages = documents.iter().zip(matched).zip(scores);
    passages
        .filter_map(|((document, matched), score)| {
            let ordinal = ordinals.entry(&matched.id).or_default();
            let passage = Passage {
                document: matched.id.clone(),
                title: document.title.clone(),
                ordinal: *ordinal,
                text: document.text.clone()?,
                score: exact(score),
            };
            *ordinal += 1;
            Some(passage)
        })
        .collect()
}

/// The citations of a reply.
struct Cited {
    /// The distinct documents, in the order of their first citation.
    documents: Vec<String>,
    /// Citations that name neither a document of the reply nor one of the corpus.
    unknown: usize,
}

fn citations(reply: &Reply, matched: &[Matched], matcher: &Matcher) -> Cited {
    let mut cited = Cited {
        documents: Vec::new(),
        unknown: 0,
    };
    let returned = reply.documents.iter().flatten().zip(matched);
    let returned: BTreeMap<&str, &Matched> = returned
        .filter_map(|(document, matched)| Some((document.id.as_deref()?, matched)))
        .collect();
    for citation in reply.citations.iter().flatten() {
        let document = match returned.get(citation.as_str()) {
            Some(matched) => Some((*matched).clone()),
            None => matcher.id(citation),
        };
        match document {
            None => cited.unknown += 1,
            Some(Matched { id, .. }) if cited.documents.contains(&id) => {}
            Some(Matched { id, .. }) => cited.documents.push(id),
        }
    }
    cited
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^24, which no list of documents reaches"
)]
fn exact(score: usize) -> f32 {
    score as f32
}

//! Reads a reply as a ranking and as an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use evals_metrics::{Ranking, RankingError, ScoredDocument};
use evals_models::Finish;
use evals_targets::Reply;
use serde_json::Value;
use thiserror::Error;

use super::matching::{Matched, Matcher, ScoreUse};
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

/// The largest score, which leaves room for smaller ones in single precision on both sides of zero.
const LARGEST: f64 = 1e38;

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
    with_passages: bool,
) -> Result<Retrieved, ReadingError> {
    let others = matched.iter().enumerate();
    let others = others.filter(|(_, it)| Some(it.id.as_str()) != left_out);
    let mut passages = Vec::new();
    let documents = reply.documents.as_deref().unwrap_or_default();
    // Measures of only those passages that have a text would be of a different system.
    if with_passages && documents.iter().all(|document| document.text.is_some()) {
        passages = self::passages(reply, matched, kept_scores(reply).as_deref());
        passages.retain(|passage| Some(passage.document.as_str()) != left_out);
    }
    Ok(Retrieved {
        passages,
        ranking: ranking(others, kept_scores(reply).as_deref(), k)?,
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
    let scores = kept_scores(reply);
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
        passages: passages(reply, matched, scores.as_deref()),
        ranking: ranking(matched.iter().enumerate(), scores.as_deref(), k)?,
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

/// The scores of a reply's documents; `None` if a document lacks one.
fn scores(reply: &Reply) -> Option<Vec<f64>> {
    let documents = reply.documents.as_ref()?.iter();
    let is_single = |score: &f64| score.abs() <= LARGEST;
    let scores = documents.map(|document| document.score.filter(is_single));
    let scores: Vec<f64> = scores.collect::<Option<_>>()?;
    (!scores.is_empty()).then_some(scores)
}

/// Whether no document has a higher score than the one before it. The order of the list is the ranking, and wins over such scores.
fn is_in_order(scores: &[f64]) -> bool {
    scores.is_sorted_by(|one, next| one >= next)
}

fn kept_scores(reply: &Reply) -> Option<Vec<f64>> {
    scores(reply).filter(|scores| is_in_order(scores))
}

/// What becomes of a reply's scores; `None` for a reply without scores.
pub(super) fn score_use(reply: &Reply) -> Option<ScoreUse> {
    scores(reply).map(|scores| {
        if is_in_order(&scores) {
            ScoreUse::Kept
        } else {
            ScoreUse::OutOfOrder
        }
    })
}

/// The first `k` documents, each once, with the scores of their places in the list, or else with scores that count down to 1.
fn ranking<'m>(
    matched: impl Iterator<Item = (usize, &'m Matched)>,
    scores: Option<&[f64]>,
    k: NonZeroUsize,
) -> Result<Ranking, RankingError> {
    let mut seen = BTreeSet::new();
    let distinct = matched.filter(|(_, it)| seen.insert(it.id.as_str()));
    let documents: Vec<(usize, &Matched)> = distinct.take(k.get()).collect();
    let mut before: Option<(&str, f32)> = None;
    let ranks = (1..=documents.len()).rev().map(exact);
    let scored = documents
        .into_iter()
        .zip(ranks)
        .map(|((place, document), rank)| {
            let score = scores.map_or(rank, |scores| below(before, &document.id, scores[place]));
            before = Some((&document.id, score));
            ScoredDocument {
                id: document.id.clone(),
                score,
            }
        });
    Ranking::new(scored)
}

/// The score in single precision, or the next smaller number that keeps the document behind the one `before` it. Of equal scores,
/// `trec_eval` has the greater id first.
fn below(before: Option<(&str, f32)>, id: &str, score: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rankings hold single precision"
    )]
    let score = score as f32;
    match before {
        Some((previous, least)) if score > least || (score >= least && id > previous) => {
            least.next_down()
        }
        _ => score,
    }
}

/// The documents with a text, in their order.
fn passages(reply: &Reply, matched: &[Matched], scores: Option<&[f64]>) -> Vec<Passage> {
    let documents = reply.documents.as_deref().unwrap_or_default();
    let mut ordinals: BTreeMap<&str, u32> = BTreeMap::new();
    let ranks = (1..=documents.len()).rev().enumerate();
    let passages = documents.iter().zip(matched).zip(ranks);
    passages
        .filter_map(|((document, matched), (place, rank))| {
            let ordinal = ordinals.entry(&matched.id).or_default();
            let passage = Passage {
                document: matched.id.clone(),
                title: document.title.clone(),
                ordinal: *ordinal,
                text: document.text.clone()?,
                score: scores.map_or(exact(rank), |scores| below(None, "", scores[place])),
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

//! What retrieved passages bring of the evidence, whatever the chunker: recall, precision and intersection over union of spans.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::Undefined;
use crate::arithmetic::{as_f64, share};

/// A part of a document: gold evidence, or a retrieved passage.
///
/// Offsets are half-open and count characters (Unicode scalar values), as slices of a Python string do. Any other unit gives the same
/// kinds of numbers if evidence and passages share it. A span whose end is not after its start has no characters.
///
/// A text that was found in no document is a passage of a document without evidence: it lowers precision, as any text beside the
/// evidence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'d> {
    /// The id of the document.
    pub document: &'d str,
    /// The offset of the first character.
    pub start: usize,
    /// The offset after the last character.
    pub end: usize,
    /// How many tokens the passage has. Used by [`Depth::Tokens`] only.
    pub tokens: usize,
}

/// How many of the retrieved passages count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The best k passages.
    Passages(NonZeroUsize),
    /// The best passages that fit this many tokens together. Of the first passage that does not fit, the beginning counts: the share of its
    /// characters that is the share of its tokens that fit. Long passages would otherwise lose whole passages to rounding.
    Tokens(NonZeroUsize),
}

/// What passages bring of the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanScores {
    /// The share of the evidence that the passages contain.
    pub recall: f64,
    /// The share of the passages that is evidence. `None` without passages.
    pub precision: Option<f64>,
    /// Intersection over union of evidence and passages.
    pub iou: f64,
}

/// Measures a question's passages, best first, by its evidence.
///
/// ```text
/// recall    = |E ∩ R| / |E|
/// precision = |E ∩ R| / |R|
/// IoU       = |E ∩ R| / (|R| + |E \ R|)
/// ```
///
/// where E are the characters of the evidence and R those of the passages. A character of `E ∩ R`, of E and of `E \ R` counts once, even if
/// spans overlap. `|R|` is the sum of the passages' lengths, so that a character in two overlapping passages counts twice: a model
/// reads it twice.
///
/// # Errors
///
/// [`Undefined::NoEvidence`] without evidence, as for an unanswerable question. Without passages, recall and `iou` are 0, and precision
/// is undefined.
///
/// Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma Technical Report (2024), section "Metrics", which counts
/// tokens. The authors' code (`chunking_evaluation`), like this function, counts characters. It measures the documents of one corpus as a
/// single text, and takes passages that only touch evidence for hits of length 0.
///
/// ```
/// use evals_metrics::{Depth, Span, span_scores};
///
/// let span = |start, end| Span { document: "guide", start, end, tokens: 20 };
/// let passages = [span(120, 200), span(80, 130)];
/// let scores = span_scores(&[span(100, 140)], &passages, Depth::Passages(1.try_into()?))?;
/// assert_eq!((scores.recall, scores.precision, scores.iou), (0.5, Some(0.25), 0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn span_scores(
    evidence: &[Span<'_>],
    passages: &[Span<'_>],
    depth: Depth,
) -> Result<SpanScores, Undefined> {
    let gold = merged(evidence);
    let evidence: usize = gold
        .values()
        .flatten()
        .map(|(start, end)| end - start)
        .sum();
    if evidence == 0 {
        return Err(Undefined::NoEvidence);
    }
    let retrieved = within(passages, depth);
    let length: usize = retrieved.iter().map(length).sum();
    let brought = merged(&retrieved);
    let documents = gold
        .iter()
        .filter_map(|(id, of)| Some((of, brought.get(id)?)));
    let found: usize = documents.map(|(one, other)| shared(one, other)).sum();
    Ok(SpanScores {
        recall: share(found, evidence),
        precision: (length > 0).then(|| share(found, length)),
        iou: as_f64(found) / (as_f64(length) + as_f64(evidence - found)),
    })
}

/// The number of characters.
fn length(span: &Span<'_>) -> usize {
    span.end.saturating_sub(span.start)
}

/// The passages that count, the last one cut if it has to be.
fn within<'d>(passages: &[Span<'d>], depth: Depth) -> Vec<Span<'d>> {
    let mut left = match depth {
        Depth::Passages(k) => return passages.iter().take(k.get()).copied().collect(),
        Depth::Tokens(budget) => budget.get(),
    };
    let mut spans = Vec::new();
    for passage in passages {
        if passage.tokens <= left {
            spans.push(*passage);
            left -= passage.tokens;
            continue;
        }
        let product = length(passage) as u128 * left as u128;
        let kept = usize::try_from(product / passage.tokens as u128).unwrap_or(usize::MAX);
        spans.push(Span {
            end: passage.start.saturating_add(kept),
            ..*passage
        });
        break;
    }
    spans
}

/// The characters of spans, by document: ascending ranges that neither overlap nor touch.
fn merged<'d>(spans: &[Span<'d>]) -> BTreeMap<&'d str, Vec<(usize, usize)>> {
    let mut documents: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for span in spans.iter().filter(|span| length(span) > 0) {
        let ranges = documents.entry(span.document).or_default();
        ranges.push((span.start, span.end));
    }
    for ranges in documents.values_mut() {
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let is_joined = next.0 <= before.1;
            if is_joined {
                before.1 = before.1.max(next.1);
            }
            is_joined
        });
    }
    documents
}

/// How many characters two lists of ascending ranges share.
fn shared(one: &[(usize, usize)], other: &[(usize, usize)]) -> usize {
    let pairs = one
        .iter()
        .flat_map(|first| other.iter().map(move |second| (first, second)));
    let shared = pairs.map(|(first, second)| {
        let end = first.1.min(second.1);
        end.saturating_sub(first.0.max(second.0))
    });
    shared.sum()
}

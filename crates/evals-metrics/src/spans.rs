//! What retrieved passages bring of the evidence, whatever the chunker: recall, precision and intersection over union of spans.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Undefined;
use crate::arithmetic::{as_f64, share};

/// A part of a document: gold evidence, or a retrieved passage.
///
/// Offsets are half-open and count characters (Unicode scalar values), as slices of a Python string do. Any other unit gives the same
/// kinds of numbers if evidence and passages share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span<'d> {
    document: &'d str,
    start: usize,
    end: usize,
}

/// A span that contains no character.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the span {start} to {end} of document `{document}` is empty: its end has to be after its start"
)]
pub struct EmptySpan {
    /// The id of the document.
    pub document: String,
    /// The offset of the first character.
    pub start: usize,
    /// The offset after the last character.
    pub end: usize,
}

impl<'d> Span<'d> {
    /// The part of a document from `start` up to `end`, which is not part of it.
    ///
    /// # Errors
    ///
    /// The end is not after the start.
    pub fn new(document: &'d str, start: usize, end: usize) -> Result<Self, EmptySpan> {
        if start < end {
            Ok(Self {
                document,
                start,
                end,
            })
        } else {
            Err(EmptySpan {
                document: document.to_owned(),
                start,
                end,
            })
        }
    }

    /// The id of the document.
    pub fn document(&self) -> &'d str {
        self.document
    }

    /// The number of characters.
    #[expect(clippy::len_without_is_empty, reason = "no span is empty")]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    fn ends(&self) -> (usize, usize) {
        (self.start, self.end)
    }
}

/// A retrieved passage.
///
/// A text that was found in no document is a passage of a document without evidence: it lowers precision, as any text beside the
/// evidence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'d> {
    /// Where the passage stands in its document.
    pub span: Span<'d>,
    /// How many tokens the passage has. Used by [`Depth::Tokens`] only.
    pub tokens: usize,
}

/// How many of the retrieved passages count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// The best k passages.
    Passages(NonZeroUsize),
    /// The best passages that fit this many tokens together. Of the first passage that does not fit, the beginning counts: the share of its
    /// characters that is the share of its tokens that fit. Long passages would otherwise lose whole passages to rounding.
    Tokens(NonZeroUsize),
}

/// What passages bring of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
/// use evals_metrics::{Depth, Passage, Span, span_scores};
///
/// let evidence = [Span::new("guide", 100, 140)?];
/// let spans = [Span::new("guide", 120, 200)?, Span::new("guide", 80, 130)?];
/// let passages = spans.map(|span| Passage { span, tokens: 20 });
/// let best = Depth::Passages(1.try_into()?);
/// let scores = span_scores(&evidence, &passages, best)?;
/// assert_eq!((scores.recall, scores.precision, scores.iou), (0.5, Some(0.25), 0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn span_scores(
    evidence: &[Span<'_>],
    passages: &[Passage<'_>],
    depth: Depth,
) -> Result<SpanScores, Undefined> {
    let evidence = Regions::of(evidence.iter().copied());
    if evidence.len() == 0 {
        return Err(Undefined::NoEvidence);
    }
    let retrieved = within(passages, depth);
    let length: usize = retrieved.iter().map(Span::len).sum();
    let found = evidence.shared_with(&Regions::of(retrieved));
    Ok(SpanScores {
        recall: share(found, evidence.len()),
        precision: (length > 0).then(|| share(found, length)),
        iou: as_f64(found) / (as_f64(length) + as_f64(evidence.len() - found)),
    })
}

/// `Precision Ω`: the precision of a retriever that brings every passage with evidence, and no other. It is the best that a chunker
/// permits.
///
/// ```text
/// Precision Ω = |E ∩ C| / |C ∪ E|
/// ```
///
/// where C are the characters of all `passages` that share a character with the evidence. `passages` are all of the index, or at least
/// those of the documents with evidence. Every character counts once. If the chunker covers the documents, this is `|E| / |C|`.
///
/// # Errors
///
/// [`Undefined::NoEvidence`] without evidence.
///
/// Source: Smith and Troynikov, as for [`span_scores`]. The union with evidence that no passage contains is that of the authors' code.
pub fn precision_omega(evidence: &[Span<'_>], passages: &[Span<'_>]) -> Result<f64, Undefined> {
    let evidence = Regions::of(evidence.iter().copied());
    if evidence.len() == 0 {
        return Err(Undefined::NoEvidence);
    }
    let touched = passages.iter().copied();
    let touched = touched.filter(|passage| evidence.shared_with(&Regions::of([*passage])) > 0);
    let touched = Regions::of(touched);
    let found = evidence.shared_with(&touched);
    Ok(share(found, touched.len() + evidence.len() - found))
}

/// The spans of the passages that count, the last one cut if it has to be.
fn within<'d>(passages: &[Passage<'d>], depth: Depth) -> Vec<Span<'d>> {
    let budget = match depth {
        Depth::Passages(k) => {
            let best = passages.iter().take(k.get());
            return best.map(|passage| passage.span).collect();
        }
        Depth::Tokens(budget) => budget.get(),
    };
    let mut left = budget;
    let mut spans = Vec::new();
    for passage in passages {
        if passage.tokens <= left {
            spans.push(passage.span);
            left -= passage.tokens;
            continue;
        }
        let product = passage.span.len() as u128 * left as u128;
        let kept = usize::try_from(product / passage.tokens as u128).unwrap_or(usize::MAX);
        let Span {
            document, start, ..
        } = passage.span;
        spans.extend(Span::new(document, start, start.saturating_add(kept)));
        break;
    }
    spans
}

/// Characters of documents: ascending ranges that neither overlap nor touch.
struct Regions<'d>(BTreeMap<&'d str, Vec<(usize, usize)>>);

impl<'d> Regions<'d> {
    fn of(spans: impl IntoIterator<Item = Span<'d>>) -> Self {
        let mut documents: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for span in spans {
            documents
                .entry(span.document)
                .or_default()
                .push(span.ends());
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
        Self(documents)
    }

    /// The number of characters.
    fn len(&self) -> usize {
        let ranges = self.0.values().flatten();
        ranges.map(|(start, end)| end - start).sum()
    }

    /// How many characters both have.
    fn shared_with(&self, other: &Self) -> usize {
        let documents = self.0.iter();
        let pairs =
            documents.filter_map(|(document, ranges)| Some((ranges, other.0.get(document)?)));
        pairs.map(|(one, other)| shared(one, other)).sum()
    }
}

/// How many characters two lists of ascending ranges share.
fn shared(mut one: &[(usize, usize)], mut other: &[(usize, usize)]) -> usize {
    let mut sum = 0;
    while let ([first, ones @ ..], [second, others @ ..]) = (one, other) {
        sum += first.1.min(second.1).saturating_sub(first.0.max(second.0));
        if first.1 <= second.1 {
            one = ones;
        } else {
            other = others;
        }
    }
    sum
}

//! What the passages of a ranking bring of the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};
use evals_metrics::{self as metrics, Depth, Span, Undefined, span_scores};

use super::{Retrieval, Retrieved};
use crate::{EvidenceSpan, FoldedText, Missing, Passage, Question};

/// Recall, precision and intersection over union of the passages and the [evidence](Question::evidence), as [`span_scores`] defines them:
/// `span recall@5` of the best five passages, and `span recall@500 words` of the best passages that have 500 words together.
///
/// A passage is found in its document by its words, so neither the chunker nor the reader of the files matters, nor whether an index or a target
/// returned it. White space does not count. A passage that has something before or after the document's words, such as a title, is found
/// by the evidence in it. Any other passage lowers precision, as text beside the evidence does. Words are what white space separates, and in
/// scripts without it single characters: no tokenizer decides, so that systems with different models can be compared.
///
/// Outcomes are undefined for unanswerable questions, without evidence, if a document does not have its quote, and for passages without
/// texts. Fewer passages than wanted count as they are.
#[derive(Debug)]
pub struct SpanMeasures {
    texts: BTreeMap<String, String>,
    depths: Vec<Depth>,
}

/// The part of a document's text that precedes its first character: room for what a passage has before it.
const BEFORE: usize = 1 << 40;

impl SpanMeasures {
    /// The reasons for undefined outcomes, besides those of other measures.
    pub const REASONS: [&str; 3] = [Self::NO_DOCUMENT, Self::NO_QUOTE, Self::NO_TEXTS];

    const NO_DOCUMENT: &str = "the document of the evidence is not in the corpus";
    const NO_QUOTE: &str = "the document does not have the quoted evidence";
    const NO_TEXTS: &str = "the passages have no texts";

    /// Measures at each of `depths`. `texts` are those of the [documents with evidence](Self::documents), by id.
    pub fn new(texts: BTreeMap<String, String>, depths: Vec<Depth>) -> Self {
        Self { texts, depths }
    }

    /// The ids of the documents whose texts the measures need; none if no question has evidence.
    pub fn documents<'q>(questions: impl IntoIterator<Item = &'q Question>) -> BTreeSet<&'q str> {
        let answerable = questions.into_iter().filter(|it| it.answerable);
        let spans = answerable.flat_map(|question| &question.evidence);
        spans.map(|span| span.document.as_str()).collect()
    }

    /// The names of the outcomes at one depth.
    fn names(depth: Depth) -> [String; 3] {
        let place = match depth {
            Depth::Passages(k) => k.to_string(),
            Depth::Tokens(words) => format!("{words} words"),
        };
        ["recall", "precision", "IoU"].map(|name| format!("span {name}@{place}"))
    }

    fn outcomes(&self, evidence: &[EvidenceSpan], found: &Retrieved) -> Vec<Outcome> {
        let measured = self.measured(evidence, found);
        let at = |depth: &Depth| {
            let names = Self::names(*depth);
            let (spans, passages) = match &measured {
                Ok(measured) => measured,
                Err(reason) => return names.map(|name| Outcome::undefined(name, reason.as_str())),
            };
            let [recall, precision, iou] = names;
            match span_scores(spans, passages, *depth) {
                Ok(scores) => [
                    Outcome::score(recall, scores.recall),
                    match scores.precision {
                        Some(value) => Outcome::score(precision, value),
                        None => Outcome::undefined(precision, Undefined::EmptyRanking.to_string()),
                    },
                    Outcome::score(iou, scores.iou),
                ],
                Err(undefined) => [recall, precision, iou]
                    .map(|name| Outcome::undefined(name, undefined.to_string())),
            }
        };
        self.depths.iter().flat_map(at).collect()
    }

    /// Evidence and passages as spans of documents, or the reason why the measures are undefined.
    fn measured<'a>(
        &self,
        evidence: &'a [EvidenceSpan],
        found: &'a Retrieved,
    ) -> Result<(Vec<Span<'a>>, Vec<metrics::Passage<'a>>), String> {
        if found.missing.contains(&Missing::Documents) {
            return Err(Missing::Documents.reason().to_owned());
        }
        if evidence.is_empty() {
            return Err(Undefined::NoEvidence.to_string());
        }
        if found.passages.is_empty() && found.ranking.iter().next().is_some() {
            return Err(Self::NO_TEXTS.to_owned());
        }
        let mut documents: BTreeMap<&str, Document<'_>> = BTreeMap::new();
        for span in evidence {
            let text = self.texts.get(&span.document).ok_or(Self::NO_DOCUMENT)?;
            let document = documents
                .entry(&span.document)
                .or_insert_with(|| Document::new(text));
            document.add(span).ok_or(Self::NO_QUOTE)?;
        }
        for passage in &found.passages {
            if let Some(document) = documents.get_mut(passage.document.as_str()) {
                document.learn_stride(passage);
            }
        }
        let spans = documents.iter().flat_map(|(id, document)| {
            let quotes = document.evidence.iter();
            quotes.filter_map(|(place, _)| {
                Span::new(id, BEFORE + place.start, BEFORE + place.end).ok()
            })
        });
        let passages = found.passages.iter().filter_map(|passage| {
            let place = documents.get(passage.document.as_str());
            let place = place.and_then(|document| document.place(passage));
            let place = match place {
                Some(place) => place,
                // No evidence has these positions.
                None => 0..FoldedText::new(&passage.text).len(),
            };
            let span = Span::new(&passage.document, place.start, place.end).ok()?;
            let tokens = words(&passage.text);
            Some(metrics::Passage { span, tokens })
        });
        Ok((spans.collect(), passages.collect()))
    }
}

#[async_trait]
impl Evaluator<Retrieval> for SpanMeasures {
    fn name(&self) -> &'static str {
        "span measures"
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Retrieval>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let facts = &context.case.metadata;
        if facts.answerable {
            return Ok(self.outcomes(&facts.evidence, context.output));
        }
        let names = self.depths.iter().flat_map(|depth| Self::names(*depth));
        let undefined = |name| Outcome::undefined(name, Question::UNANSWERABLE);
        Ok(names.map(undefined).collect())
    }

    fn concerns(&self, case: &Case<Retrieval>) -> Option<Vec<Concern>> {
        let facts = &case.metadata;
        (!facts.answerable || facts.evidence.is_empty()).then(Vec::new)
    }
}

/// A document with evidence. All places count characters that are not white space.
struct Document<'t> {
    text: FoldedText<'t>,
    /// The places of the evidence, and the quotes.
    evidence: Vec<(Range<usize>, &'t str)>,
    /// How far apart the passages of the document begin, where a passage shows it: its place and its ordinal.
    stride: Option<(usize, usize)>,
}

impl<'t> Document<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text: FoldedText::new(text),
            evidence: Vec::new(),
            stride: None,
        }
    }

    /// Adds evidence; `None` if the document does not have the quote.
    fn add<'s: 't>(&mut self, span: &'s EvidenceSpan) -> Option<()> {
        let place = self.text.anchor(span)?;
        self.evidence
            .push((self.text.counted(&place), span.quote.as_str()));
        Some(())
    }

    /// Notes where a passage stands that stands at one place only.
    fn learn_stride(&mut self, passage: &Passage) {
        if let ([place], 1..) = (&*self.text.find_part(&passage.text), passage.ordinal) {
            self.stride = Some((self.text.counted(place).start, passage.ordinal as usize));
        }
    }

    /// The place of a passage: of equal places the one where a passage of its number is to be expected.
    fn place(&self, passage: &Passage) -> Option<Range<usize>> {
        let length = FoldedText::new(&passage.text).len();
        let ordinal = passage.ordinal as usize;
        let (start, number) = self.stride.unwrap_or((length, 1));
        let expected = start.saturating_mul(ordinal) / number;
        let places = self.text.find_part(&passage.text).into_iter();
        let places = places.map(|place| self.text.counted(&place));
        let found = places.min_by_key(|place| place.start.abs_diff(expected));
        let shifted = found.map(|place| BEFORE + place.start..BEFORE + place.end);
        shifted.or_else(|| self.place_by_evidence(&passage.text, length))
    }

    /// The place of a passage that the document does not have as it is, by the first evidence in it.
    fn place_by_evidence(&self, text: &str, length: usize) -> Option<Range<usize>> {
        let passage = FoldedText::new(text);
        let mut starts = self.evidence.iter().filter_map(|(place, quote)| {
            let before = passage.counted(passage.find(quote).first()?).start;
            Some(BEFORE + place.start - before)
        });
        starts.next().map(|start| start..start + length)
    }
}

/// The number of words of a text. A character of a script without spaces is one.
fn words(text: &str) -> usize {
    let is_word_alone = |it: &char| matches!(it, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    let of_run = |run: &str| run.chars().filter(is_word_alone).count().max(1);
    text.split_whitespace().map(of_run).sum()
}

#[cfg(test)]
mod tests {
    use evals_metrics::{Ranking, ScoredDocument};

    use super::*;

    const TEXT: &str = "The ferry Stormwick sails daily.\n\nIt carries 450 passengers, and 20 cars.\nIt sails daily. \
        The crossing takes 50 minutes. It sails daily.";

    fn passage(ordinal: u32, text: &str) -> Passage {
        Passage {
            document: "ferry".to_owned(),
            title: None,
            ordinal,
            text: text.to_owned(),
            score: 1.0,
        }
    }

    fn quote(document: &str, quote: &str, start: Option<usize>) -> EvidenceSpan {
        EvidenceSpan {
            document: document.to_owned(),
            quote: quote.to_owned(),
            start,
            end: None,
        }
    }

    fn found(passages: Vec<Passage>) -> Retrieved {
        let ferry = ScoredDocument {
            id: "ferry".to_owned(),
            score: 1.0,
        };
        Retrieved {
            ranking: Ranking::new([ferry]).unwrap(),
            passages,
            ..Retrieved::default()
        }
    }

    /// Recall, precision and intersection over union at a depth, or the reason for none.
    fn scores(depth: Depth, evidence: &[EvidenceSpan], found: &Retrieved) -> Vec<String> {
        let texts = BTreeMap::from([("ferry".to_owned(), TEXT.to_owned())]);
        let measures = SpanMeasures::new(texts, vec![depth]);
        let outcomes = measures.outcomes(evidence, found).into_iter();
        let shown = outcomes.map(|outcome| match outcome.value {
            evals::Value::Score(score) => format!("{score:.3}"),
            _ => outcome.reason.unwrap(),
        });
        shown.collect()
    }

    fn best(k: usize) -> Depth {
        Depth::Passages(k.try_into().unwrap())
    }

    #[test]
    fn chunkers_and_readers_that_cut_elsewhere_bring_the_same_evidence() {
        let evidence = [quote("ferry", "carries 450 passengers,", None)];
        let whole = found(vec![passage(1, "It carries 450\npassengers, and 20 cars.")]);
        assert_eq!(scores(best(1), &evidence, &whole)[0], "1.000");
        let halves = found(vec![
            passage(3, "It carries 450 passe"),
            passage(4, "ngers, AND 20 cars."),
        ]);
        assert_eq!(scores(best(2), &evidence, &halves)[0], "1.000");
        assert_eq!(
            scores(best(2), &evidence, &halves),
            scores(best(1), &evidence, &whole),
            "the same characters in two passages"
        );
        // `carries450passe` are 15 of the 21 characters of evidence and of the 17 of the passage.
        let half = scores(best(1), &evidence, &halves);
        assert_eq!(half, ["0.714", "0.882", "0.652"]);
    }

    #[test]
    fn a_title_before_a_passage_costs_precision_only() {
        // 13 characters, of 33 and of 41.
        let evidence = [quote("ferry", "450 passengers", None)];
        let bare = found(vec![passage(1, "It carries 450 passengers, and 20 cars.")]);
        let titled = found(vec![passage(
            1,
            "Ferries: It carries 450 passengers, and 20 cars.",
        )]);
        let [bare, titled] = [bare, titled].map(|it| scores(best(1), &evidence, &it));
        assert_eq!((&*bare[0], &*bare[1]), ("1.000", "0.394"));
        assert_eq!((&*titled[0], &*titled[1]), ("1.000", "0.317"));
    }

    #[test]
    fn ordinals_choose_among_equal_places() {
        let last = [quote("ferry", "It sails daily", Some(120))];
        let recall = |passages| scores(best(5), &last, &found(passages))[0].clone();
        assert_eq!(recall(vec![passage(4, "It sails daily.")]), "0.000");
        let crossing = passage(6, "The crossing takes 50 minutes.");
        let again = passage(7, "It sails daily.");
        assert_eq!(recall(vec![again.clone(), crossing.clone()]), "1.000");
        let before = passage(5, "It sails daily.");
        assert_eq!(recall(vec![before, crossing]), "0.000");
    }

    #[test]
    fn a_budget_counts_words_of_all_scripts() {
        assert_eq!(words(" two  words\n"), 2);
        assert_eq!(words("日本語の文章です。 ok"), 9);
        let evidence = [quote("ferry", "carries 450 passengers", None)];
        let found = found(vec![
            passage(0, "The ferry Stormwick sails daily."),
            passage(1, "It carries 450 passengers, and 20 cars."),
        ]);
        let within = |words: usize| {
            let words = Depth::Tokens(words.try_into().unwrap());
            scores(words, &evidence, &found)[0].clone()
        };
        assert_eq!(
            ["0.000", "1.000"],
            [5, 12].map(within).each_ref().map(|it| &**it)
        );
    }

    #[test]
    fn what_cannot_be_measured_has_a_reason() {
        let evidence = |text: &str| [quote("ferry", text, None)];
        let one = found(vec![passage(0, "It sails daily.")]);
        assert_eq!(
            scores(best(1), &[], &one)[0],
            Undefined::NoEvidence.to_string()
        );
        let none = scores(best(1), &evidence("500 passengers"), &one);
        assert_eq!(none, [SpanMeasures::NO_QUOTE; 3]);
        let elsewhere = [quote("train", "It sails daily", None)];
        assert_eq!(
            scores(best(1), &elsewhere, &one)[2],
            SpanMeasures::NO_DOCUMENT
        );
        let silent = found(Vec::new());
        assert_eq!(
            scores(best(1), &evidence("daily"), &silent)[0],
            SpanMeasures::NO_TEXTS
        );
        let empty = scores(best(1), &evidence("daily"), &Retrieved::default());
        assert_eq!((&*empty[0], &*empty[2]), ("0.000", "0.000"));
        let other = found(vec![passage(0, "Something else.")]);
        assert_eq!(scores(best(1), &evidence("daily"), &other), ["0.000"; 3]);
    }
}

//! What the passages of a ranking bring of the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};
use evals_metrics::{Depth, Span, Undefined, span_scores};

use super::{QuestionFacts, Retrieval, Retrieved};
use crate::{EvidenceSpan, FoldedText, Missing, Question};

/// Recall, precision and intersection over union of the passages and the [evidence](Question::evidence), as [`span_scores`] defines them:
/// `span recall@5` of the best five passages, and `span recall@500 words` of the best passages that have 500 words together.
///
/// A passage is found around the evidence by its words, so neither the chunker nor the reader of the files matters, nor whether an index or a
/// target returned it. White space does not count. Words that the document repeats bring the evidence wherever they were cut from. A
/// passage that has something before or after the document's words, such as a title, is found by the evidence in it. Any other passage lowers
/// precision, as text beside the evidence does. Words are what white space separates, and in scripts without it single characters: no tokenizer
/// decides, so that systems with different models can be compared.
///
/// Outcomes are undefined for unanswerable questions, without evidence, if a document does not have its quote, and for passages without
/// texts. Fewer passages than wanted count as they are.
#[derive(Debug)]
pub struct SpanMeasures {
    /// The documents with evidence as [`FoldedText`] compares them, by id.
    documents: BTreeMap<String, String>,
    /// Where the evidence stands that its document has.
    places: BTreeMap<EvidenceSpan, Place>,
    depths: Vec<Depth>,
}

/// Where evidence stands in the folded text of its document.
#[derive(Debug)]
struct Place {
    bytes: Range<usize>,
    characters: Range<usize>,
}

/// The part of a document's text that precedes its first character: room for what a passage has before it.
const BEFORE: usize = 1 << 40;

impl SpanMeasures {
    /// The reasons for undefined outcomes, besides those of other measures.
    pub const REASONS: [&str; 3] = [Self::NO_DOCUMENT, Self::NO_QUOTE, Self::NO_TEXTS];

    const NO_DOCUMENT: &str = "the document of the evidence is not in the corpus";
    const NO_QUOTE: &str = "the document does not have the quoted evidence";
    const NO_TEXTS: &str = "the passages have no texts";

    /// Measures at each of `depths`. `texts` are those of the documents of [the evidence](Self::evidence), by id.
    pub fn new(
        texts: BTreeMap<String, String>,
        evidence: &BTreeMap<&str, BTreeSet<&EvidenceSpan>>,
        depths: Vec<Depth>,
    ) -> Self {
        let mut places = BTreeMap::new();
        let documents = texts.into_iter().map(|(id, text)| {
            let text = FoldedText::new(&text);
            for span in evidence.get(&*id).into_iter().flatten() {
                if let Some(quote) = text.anchor(span) {
                    let bytes = text.in_folded(&quote);
                    let start = BEFORE + length(&text.folded()[..bytes.start]);
                    let characters = start..start + length(&text.folded()[bytes.clone()]);
                    places.insert((*span).clone(), Place { bytes, characters });
                }
            }
            (id, text.into_folded())
        });
        Self {
            documents: documents.collect(),
            places,
            depths,
        }
    }

    /// The evidence of the questions that the corpus answers, by document.
    pub fn evidence(questions: &[Question]) -> BTreeMap<&str, BTreeSet<&EvidenceSpan>> {
        let mut documents: BTreeMap<&str, BTreeSet<&EvidenceSpan>> = BTreeMap::new();
        let answerable = questions.iter().filter(|it| it.answerable);
        for span in answerable.flat_map(|question| &question.evidence) {
            documents.entry(&span.document).or_default().insert(span);
        }
        documents
    }

    /// The names of the outcomes at one depth.
    fn names(depth: Depth) -> [String; 3] {
        let place = match depth {
            Depth::Passages(k) => k.to_string(),
            Depth::Tokens(words) => format!("{words} words"),
        };
        ["recall", "precision", "IoU"].map(|name| format!("span {name}@{place}"))
    }

    fn outcomes(&self, question: &QuestionFacts, found: &Retrieved) -> Vec<Outcome> {
        let spans = self.spans(question, found);
        let at = |depth: &Depth| {
            let scores = spans.clone().and_then(|(gold, passages)| {
                let scores = span_scores(&gold, &passages, *depth);
                scores.map_err(|undefined| undefined.to_string())
            });
            let nothing = || Undefined::EmptyRanking.to_string();
            let values = match scores {
                Ok(it) => [Ok(it.recall), it.precision.ok_or_else(nothing), Ok(it.iou)],
                Err(reason) => [Err(reason.clone()), Err(reason.clone()), Err(reason)],
            };
            let outcomes = Self::names(*depth).into_iter().zip(values);
            let outcomes = outcomes.map(|(name, value)| match value {
                Ok(score) => Outcome::score(name, score),
                Err(reason) => Outcome::undefined(name, reason),
            });
            outcomes.collect::<Vec<_>>()
        };
        self.depths.iter().flat_map(at).collect()
    }

    /// Evidence and passages as spans of documents, or the reason why the measures are undefined.
    fn spans<'a>(
        &'a self,
        question: &'a QuestionFacts,
        found: &'a Retrieved,
    ) -> Result<(Vec<Span<'a>>, Vec<Span<'a>>), String> {
        if !question.answerable {
            return Err(Question::UNANSWERABLE.to_owned());
        }
        if found.missing.contains(&Missing::Documents) {
            return Err(Missing::Documents.reason().to_owned());
        }
        if question.evidence.is_empty() {
            return Err(Undefined::NoEvidence.to_string());
        }
        if found.passages.is_empty() && found.ranking.iter().next().is_some() {
            return Err(Self::NO_TEXTS.to_owned());
        }
        let gold = question.evidence.iter().map(|span| {
            let text = self
                .documents
                .get(&span.document)
                .ok_or(Self::NO_DOCUMENT)?;
            let place = self.places.get(span).ok_or(Self::NO_QUOTE)?;
            Ok((span, text.as_str(), place))
        });
        let gold: Vec<_> = gold.collect::<Result<_, &str>>()?;
        let passages = found.passages.iter().map(|passage| {
            let text = FoldedText::new(&passage.text);
            let own = gold.iter().filter(|it| it.0.document == passage.document);
            let around = own
                .clone()
                .find_map(|(_, document, place)| place.around(document, text.folded()));
            let quoted = || {
                own.clone()
                    .find_map(|(span, document, place)| place.in_passage(document, span, &text))
            };
            // No evidence is at the position 0.
            let start = around.or_else(quoted).unwrap_or(0);
            Span {
                document: &passage.document,
                start,
                end: start + length(text.folded()),
                tokens: words(&passage.text),
            }
        });
        let spans = gold.iter().map(|(span, _, place)| Span {
            document: &span.document,
            start: place.characters.start,
            end: place.characters.end,
            tokens: 0,
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
        Ok(self.outcomes(&context.case.metadata, context.output))
    }

    fn concerns(&self, case: &Case<Retrieval>) -> Option<Vec<Concern>> {
        let facts = &case.metadata;
        (!facts.answerable || facts.evidence.is_empty()).then(Vec::new)
    }
}

impl Place {
    /// Where a passage begins that has characters of this evidence.
    fn around(&self, document: &str, passage: &str) -> Option<usize> {
        let (start, end) = (self.bytes.start, self.bytes.end);
        let reach = passage.len().checked_sub(1)?;
        let from = document.floor_char_boundary(start.saturating_sub(reach));
        let to = document.ceil_char_boundary(end + reach);
        let at = from + document[from..to].find(passage)?;
        Some(if at < start {
            self.characters.start - length(&document[at..start])
        } else {
            self.characters.start + length(&document[start..at])
        })
    }

    /// Where a passage begins that has all of this evidence, and something else than the document beside it.
    fn in_passage(
        &self,
        document: &str,
        evidence: &EvidenceSpan,
        passage: &FoldedText<'_>,
    ) -> Option<usize> {
        let quote = passage.find(&evidence.quote).into_iter().next()?;
        let before = length(&passage.folded()[..passage.in_folded(&quote).start]);
        // Otherwise it is from another part of the document that has the same words.
        let is_other = !document.contains(passage.folded());
        is_other.then(|| self.characters.start - before)
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
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
    use crate::Passage;

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
        let wanted = BTreeMap::from([("ferry", evidence.iter().collect())]);
        let measures = SpanMeasures::new(texts, &wanted, vec![depth]);
        let facts = QuestionFacts {
            evidence: evidence.to_vec(),
            ..QuestionFacts::default()
        };
        let outcomes = measures.outcomes(&facts, found).into_iter();
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
    fn repeated_words_bring_the_evidence_and_other_parts_with_its_words_do_not() {
        let last = [quote("ferry", "It sails daily", Some(120))];
        let recall = |text| scores(best(5), &last, &found(vec![passage(4, text)]))[0].clone();
        assert_eq!(recall("It sails daily."), "1.000");
        assert_eq!(recall("50 minutes. It sails"), "0.583");
        assert_eq!(recall("20 cars.\nIt sails daily."), "0.000");
        assert_eq!(recall("Ferries: it sails daily."), "1.000");
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

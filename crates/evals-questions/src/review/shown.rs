//! The documents of a question as its reviewer sees them: the text around each piece of evidence.

use std::ops::Range;

use evals_rag::{EvidenceSpan, FoldedText};
use serde::Serialize;

use crate::Item;

/// How many bytes of a document are shown before and after a quote.
const AROUND: usize = 600;

/// The longest document that can be shown whole, in bytes: a page lays out as much without a pause.
const WHOLE: usize = 50_000;

/// Stands where a part of a document is left out.
const GAP: &str = " […] ";

/// A document beside the evidence of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownDocument {
    /// The id of the document.
    pub document: String,
    /// The text around the evidence, or the beginning of the document if it holds no evidence. Empty if the corpus does not have the document.
    pub parts: Vec<ShownPart>,
    /// The whole text, unless `parts` has it or it is longer than 50,000 bytes.
    pub whole: Option<Vec<ShownPart>>,
    /// The quotes that are not in it.
    pub lost: Vec<String>,
}

/// A part of a text, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownPart {
    /// The text.
    pub text: String,
    /// Whether the question's evidence quotes it.
    pub is_evidence: bool,
}

impl ShownDocument {
    /// The documents that a question names, those with evidence first. `text` has the text of a document that the corpus has.
    pub fn of<'t>(item: &Item, text: impl Fn(&str) -> Option<&'t str>) -> Vec<Self> {
        let mut shown: Vec<Self> = Vec::new();
        for document in item.documents() {
            if shown.iter().all(|it| it.document != document) {
                let spans = item.evidence.iter().filter(|it| it.document == document);
                shown.push(Self::beside(document, text(document), spans));
            }
        }
        shown
    }

    fn beside<'s>(
        document: &str,
        text: Option<&str>,
        spans: impl Iterator<Item = &'s EvidenceSpan>,
    ) -> Self {
        let text = text.unwrap_or_default();
        let folded = FoldedText::new(text);
        let (mut quotes, mut lost) = (Vec::new(), Vec::new());
        for span in spans {
            match folded.anchor(span) {
                Some(range) => quotes.push(range),
                None => lost.push(span.quote.clone()),
            }
        }
        quotes.sort_unstable_by_key(|quote| quote.start);
        let parts = parts(text, &quotes, AROUND);
        let whole = (text.len() <= WHOLE).then(|| self::parts(text, &quotes, text.len()));
        Self {
            document: document.to_owned(),
            whole: whole.filter(|whole| *whole != parts),
            parts,
            lost,
        }
    }
}

/// The quotes, in order of their beginnings, with `around` bytes before and after each; the opening of the text without quotes.
fn parts(text: &str, quotes: &[Range<usize>], around: usize) -> Vec<ShownPart> {
    let mut parts = Vec::new();
    let mut add = |text: &str, is_evidence| {
        if !text.is_empty() {
            let text = text.to_owned();
            parts.push(ShownPart { text, is_evidence });
        }
    };
    // An empty quote at the beginning shows the opening.
    let opening = quotes.is_empty().then_some(0..0);
    let mut end = 0;
    let mut quotes = opening.iter().chain(quotes).peekable();
    while let Some(quote) = quotes.next() {
        let from = text.floor_char_boundary(quote.start.saturating_sub(around));
        add(if from > end { GAP } else { "" }, false);
        // Of quotes that overlap, the rest of the later one.
        let start = quote.start.max(end);
        add(&text[from.clamp(end, start)..start], false);
        let quoted = quote.end.max(start);
        add(&text[start..quoted], true);
        end = text.ceil_char_boundary(quoted.saturating_add(around));
        end = quotes.peek().map_or(end, |next| end.min(next.start));
        end = end.max(quoted);
        add(&text[quoted..end], false);
    }
    add(if end < text.len() { GAP } else { "" }, false);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn item(quotes: &[(&str, &str)], relevant: &[&str]) -> Item {
        let span = |(document, quote): &(&str, &str)| EvidenceSpan {
            document: (*document).to_owned(),
            quote: (*quote).to_owned(),
            start: None,
            end: None,
        };
        Item {
            relevant: relevant.iter().map(|it| (*it).to_owned()).collect(),
            evidence: quotes.iter().map(span).collect(),
            ..Item::new("q", "What?", Kind::SingleFact)
        }
    }

    /// The parts as one text, evidence in brackets.
    fn marked(parts: &[ShownPart]) -> String {
        let marked = parts.iter().map(|part| {
            if part.is_evidence {
                format!("<{}>", part.text)
            } else {
                part.text.clone()
            }
        });
        marked.collect()
    }

    #[test]
    fn quotes_are_marked_and_overlapping_ones_are_one() {
        let text = "The ferry Åse carries 450 passengers in summer.";
        let item = item(
            &[
                ("d", "450 PASSENGERS"),
                ("d", "carries 450"),
                ("d", "ferry  Åse"),
            ],
            &["d", "e"],
        );
        let shown = ShownDocument::of(&item, |id| (id == "d").then_some(text));
        assert_eq!(
            marked(&shown[0].parts),
            "The <ferry Åse> <carries 450>< passengers> in summer."
        );
        assert_eq!(shown[0].whole, None, "all of it is shown");
        assert_eq!((&*shown[1].document, &shown[1].parts), ("e", &Vec::new()));
        assert_eq!(shown.len(), 2);
    }

    #[test]
    fn only_the_text_around_quotes_is_shown_of_a_long_document() {
        let rest = "Ö ".repeat(1_000);
        let text = format!("{rest}one quote{rest}another quote and one more{rest}");
        let item = item(
            &[("d", "one more"), ("d", "one quote"), ("d", "another")],
            &[],
        );
        let shown = ShownDocument::of(&item, |_| Some(&*text)).remove(0);
        let window = marked(&shown.parts);
        assert!(window.starts_with(" […] Ö Ö") && window.ends_with("Ö  […] "));
        assert!(window.contains("Ö <one quote>Ö"), "{window}");
        assert!(
            window.contains("Ö <another> quote and <one more>Ö"),
            "{window}"
        );
        assert_eq!(window.matches("[…]").count(), 3);
        assert!(window.len() < 4 * AROUND + 200);
        let whole = marked(&shown.whole.unwrap());
        assert_eq!(whole.replace(['<', '>'], ""), text);
        let huge = format!("{text}{}", "x ".repeat(2_500_000));
        let shown = ShownDocument::of(&item, |_| Some(&*huge)).remove(0);
        assert_eq!(shown.whole, None);
        assert_eq!(marked(&shown.parts), window);
    }

    #[test]
    fn a_document_without_a_quote_shows_its_opening_and_says_what_is_lost() {
        let text = "A text. ".repeat(500);
        let item = item(&[("d", "450 passengers")], &["e"]);
        let shown = ShownDocument::of(&item, |_| Some(&*text));
        assert_eq!(shown[0].lost, ["450 passengers"]);
        assert!(shown[1].lost.is_empty());
        for document in shown {
            assert!(marked(&document.parts).starts_with("A text. A text."));
            assert!(document.parts[0].text.len() <= AROUND + 4);
            assert_eq!(marked(&document.whole.unwrap()), text);
        }
    }
}

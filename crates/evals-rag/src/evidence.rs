//! The spans of documents that answer a question, found again by their quote.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a document that answers a question, or helps to.
///
/// The quote decides: [`FoldedText::find`] finds it in the document, whatever reader or chunker made the text. The positions only choose
/// among several places with the same words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EvidenceSpan {
    /// The id of the document.
    pub document: String,
    /// The words of the document.
    pub quote: String,
    /// The position of the first character in the document's text, counted from 0 in Unicode code points, as Python counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// The position after the last character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

impl EvidenceSpan {
    /// The spans without their positions, so that a case stays the same if its evidence moves within the document.
    pub(crate) fn quotes(spans: Vec<Self>) -> Vec<Self> {
        let (start, end) = (None, None);
        let spans = spans.into_iter();
        spans.map(|span| Self { start, end, ..span }).collect()
    }
}

/// A text in which quotes are found even if white space, case, typographic quotation marks or dashes differ, as between two readers of the
/// same file.
#[derive(Debug)]
pub struct FoldedText<'t> {
    text: &'t str,
    folded: String,
    /// The position in `text` of the character that each byte of `folded` comes from.
    origins: Vec<usize>,
}

impl<'t> FoldedText<'t> {
    /// Prepares `text`, in time proportional to its length.
    pub fn new(text: &'t str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut origins = Vec::with_capacity(text.len());
        for (at, character) in text.char_indices() {
            fold(character, &mut folded);
            origins.resize(folded.len(), at);
        }
        Self {
            text,
            folded,
            origins,
        }
    }

    /// The text in the form in which quotes are compared: in lower case, without white space.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// The same, without the text that it was made of.
    pub(crate) fn into_folded(self) -> String {
        self.folded
    }

    /// The ranges of bytes in which `quote` stands, in order and without overlaps. None if the quote is only white space. A quote is
    /// found as whole words: `15` does not contain the quote `5`.
    pub fn find(&self, quote: &str) -> Vec<Range<usize>> {
        let mut wanted = String::with_capacity(quote.len());
        quote.chars().for_each(|it| fold(it, &mut wanted));
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(offset) = self.folded[from..].find(&wanted) {
            let at = from + offset;
            let range = self.range(at..at + wanted.len());
            // A place that cuts a word may overlap the next one that does not.
            if self.is_whole(&range) {
                found.push(range);
                from = at + wanted.len();
            } else {
                from = at + width(&self.folded[at..]);
            }
        }
        found
    }

    /// The range in the text that a range of the folded text comes from.
    fn range(&self, folded: Range<usize>) -> Range<usize> {
        let last = self.origins[folded.end - 1];
        self.origins[folded.start]..last + width(&self.text[last..])
    }

    /// The range of the folded text that comes from a range of the text.
    pub(crate) fn in_folded(&self, range: &Range<usize>) -> Range<usize> {
        let place = |byte: usize| self.origins.partition_point(|origin| *origin < byte);
        place(range.start)..place(range.end)
    }

    /// The range of bytes of `span`'s quote: of several the one nearest to the span's start. `None` if the document does not have it.
    pub fn anchor(&self, span: &EvidenceSpan) -> Option<Range<usize>> {
        let near = span.start.map_or(0, |start| {
            let mut characters = self.text.char_indices();
            characters
                .nth(start)
                .map_or(self.text.len(), |(byte, _)| byte)
        });
        let found = self.find(&span.quote).into_iter();
        found.min_by_key(|range| range.start.abs_diff(near))
    }

    /// Whether no word of the text is cut at the ends of `range`.
    fn is_whole(&self, range: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let joined = |left: Option<&u8>, right: Option<&u8>| {
            left.zip(right).is_some_and(|(left, right)| {
                left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric()
            })
        };
        let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
        let last = range.end.checked_sub(1).and_then(|at| bytes.get(at));
        !joined(before, bytes.get(range.start)) && !joined(last, bytes.get(range.end))
    }
}

/// The bytes of the first character of a text.
fn width(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// Appends what counts of `character`.
fn fold(character: char, folded: &mut String) {
    match character {
        // A soft hyphen, and characters of no width.
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
        _ if character.is_whitespace() => {}
        '‘' | '’' | '‚' | '‛' | 'ʼ' => folded.push('\''),
        '“' | '”' | '„' | '«' | '»' => folded.push('"'),
        '‐' | '‑' | '‒' | '–' | '—' | '−' => folded.push('-'),
        _ => folded.extend(character.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::{EvidenceSpan, FoldedText};

    fn found<'t>(text: &'t str, quote: &str) -> Vec<&'t str> {
        let found = FoldedText::new(text).find(quote).into_iter();
        found.map(|range| &text[range]).collect()
    }

    #[test]
    fn a_quote_is_found_in_the_text_of_a_different_reader() {
        let text = "The “Storm\u{ad}wick”\n  carries – in\tSummer – 450 passengers.";
        assert_eq!(
            found(text, "the \"Stormwick\" carries - in summer - 450"),
            ["The “Storm\u{ad}wick”\n  carries – in\tSummer – 450"]
        );
        assert_eq!(found("İstanbul’da", "istanbul'da").len(), 0);
        assert_eq!(found("日本語の\n文章です。", "文章"), ["文章"]);
        assert_eq!(found("日本語の文\n章です。", "の文章"), ["の文\n章"]);
    }

    #[test]
    fn a_quote_is_found_as_whole_words_and_a_blank_one_not_at_all() {
        assert_eq!(found("15 of 5 and 52", "5"), ["5"]);
        assert_eq!(found("15 5 5", "5 5"), ["5 5"]);
        assert_eq!(found("5 5 5 5", "5 5").len(), 2);
        assert!(found("some words", " \n").is_empty());
        assert!(found("", "a").is_empty());
    }

    #[test]
    fn positions_choose_among_equal_places() {
        let text = "ä open. ä open. ä open.";
        let span = |start| EvidenceSpan {
            document: "d".to_owned(),
            quote: "open".to_owned(),
            start,
            end: None,
        };
        let folded = FoldedText::new(text);
        let at = |start| folded.anchor(&span(start)).map(|range| range.start);
        assert_eq!(at(None), Some(3));
        // The 10th character is the 12th byte.
        assert_eq!(at(Some(10)), Some(12));
        assert_eq!(at(Some(1000)), Some(21));
    }
}

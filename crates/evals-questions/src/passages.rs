//! Cuts documents into the passages that questions are about.

use std::ops::Range;

use evals_rag::text::sentences;

/// A passage with this many words may end where a paragraph does.
const ENOUGH: usize = 200;
/// No passage has more words, as long as a sentence can be cut.
const MOST: usize = 400;
/// What has fewer words, such as a heading, holds nothing to ask about.
const FEWEST: usize = 8;
/// A run of signs without a blank, such as encoded bytes, is cut after this many bytes.
const LONGEST: usize = 4_000;

/// The ranges of bytes of the passages of `text`, of about 200 to 400 words, from the start of a sentence to the end of one.
pub(crate) fn passages(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(Range<usize>, usize)> = None;
    for (piece, words) in pieces(text) {
        open = Some(match open.take() {
            Some((range, so_far))
                if so_far + words > MOST
                    || so_far >= ENOUGH && is_break(&text[range.end..piece.start]) =>
            {
                found.push((range, so_far));
                (piece, words)
            }
            Some((range, so_far)) => (range.start..piece.end, so_far + words),
            None => (piece, words),
        });
    }
    found.extend(open);
    let found = found.into_iter().filter(|(_, words)| *words >= FEWEST);
    found.map(|(range, _)| range).collect()
}

/// Whether a paragraph ends in the white space between two sentences.
fn is_break(between: &str) -> bool {
    between.matches('\n').count() > 1
}

/// The sentences with the number of their words, long ones in several pieces.
fn pieces(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for sentence in sentences(text) {
        // Only white space stands between sentences.
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        cut(sentence, |piece, words| {
            found.push((at + piece.start..at + piece.end, words));
        });
        at += sentence.len();
    }
    found
}

/// Passes the parts of a sentence to `take`, each with at most [`MOST`] words.
fn cut(sentence: &str, mut take: impl FnMut(Range<usize>, usize)) {
    let (mut start, mut count) = (0, WordCount::default());
    for (at, letter) in sentence.char_indices() {
        let may_end = letter.is_whitespace() || is_of_unspaced_script(letter);
        let is_endless = at - start >= LONGEST;
        if is_endless || count.words() >= MOST && may_end {
            // Few words, but as long as a passage.
            let words = count.words().max(if is_endless { ENOUGH } else { 0 });
            take(start..at, words);
            (start, count) = (at, WordCount::default());
        }
        count.add(letter);
    }
    take(start..sentence.len(), count.words());
}

/// Counts words; in scripts without spaces, two letters are one.
#[derive(Default)]
struct WordCount {
    spaced: usize,
    letters: usize,
    in_word: bool,
}

impl WordCount {
    fn add(&mut self, letter: char) {
        let is_part = letter.is_alphanumeric() && !is_of_unspaced_script(letter);
        self.letters += usize::from(is_of_unspaced_script(letter));
        self.spaced += usize::from(is_part && !self.in_word);
        self.in_word = is_part || self.in_word && !letter.is_whitespace();
    }

    fn words(&self) -> usize {
        self.spaced + self.letters.div_ceil(2)
    }
}

/// Whether a letter is Thai, Lao, Burmese, Khmer, Chinese or Japanese.
fn is_of_unspaced_script(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> usize {
        let mut count = WordCount::default();
        text.chars().for_each(|letter| count.add(letter));
        count.words()
    }

    #[test]
    fn passages_end_with_paragraphs_and_hold_all_sentences() {
        let paragraph = format!("{}\n\n", "The ferry sails at nine today. ".repeat(40));
        let text = paragraph.repeat(3);
        let found = passages(&text);
        assert_eq!(found.len(), 3);
        for range in &found {
            assert_eq!(words(&text[range.clone()]), 240);
            assert!(text[range.clone()].ends_with("today."));
        }
    }

    #[test]
    fn a_text_without_paragraphs_is_cut_between_sentences() {
        let text = "The ferry sails at nine today. ".repeat(500);
        let found = passages(&text);
        assert_eq!(found.len(), 8);
        let all: usize = found.iter().map(|it| words(&text[it.clone()])).sum();
        assert_eq!(all, 3_000);
        assert!(
            found
                .iter()
                .all(|it| words(&text[it.clone()]) <= MOST && text[it.clone()].ends_with('.'))
        );
    }

    #[test]
    fn short_documents_are_one_passage_and_headings_none() {
        let text = "  The small ferry to the island sails at nine.  ";
        assert_eq!(passages(text), vec![2..text.len() - 2]);
        for text in ["", " \n ", "# Ferry", "• • • • • • • • • •"] {
            assert!(passages(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn endless_sentences_are_cut_in_any_script() {
        for unit in ["word ", "文", "สวัสดี", "привет ", "0a1b2c3d", "🛳"] {
            let text = unit.repeat(300_000 / unit.len());
            let found = passages(&text);
            assert!(found.iter().all(|it| it.len() <= 4 * LONGEST), "{unit}");
            if words(&text) > MOST {
                assert!(found.len() > 10, "{unit}");
            }
        }
        let sentence = "渡し船は毎朝九時に島へ向けて出航します。";
        assert_eq!(words(sentence), 10);
        assert_eq!(passages(sentence).len(), 1);
    }

    #[test]
    fn a_document_of_five_megabytes_is_cut_at_once() {
        let text = "The ferry sails at nine today.\n\n".repeat(160_000);
        let found = passages(&text);
        // A paragraph has 6 words, so a passage has 204.
        assert_eq!(found.len(), 160_000_usize.div_ceil(34));
    }
}

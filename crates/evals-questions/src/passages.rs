//! Cuts documents into the passages that questions are about.

use std::ops::Range;

use evals_rag::text::sentences;

/// A passage of this many bytes may end where a paragraph does: some 200 words of English, or 400 characters of Chinese.
const ENOUGH: usize = 1_200;
/// No passage has more bytes.
const MOST: usize = 2_400;
/// What has fewer bytes of letters and digits, such as a heading, holds nothing to ask about.
const FEWEST: usize = 32;

/// The ranges of bytes of the passages of `text`, from the start of a sentence to the end of one.
pub(crate) fn passages(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for piece in pieces(text) {
        // Only white space stands between pieces.
        let fits = |last: &&mut Range<usize>| {
            let ends = text[last.end..piece.start].matches('\n').count() > 1;
            piece.end - last.start <= MOST && !(ends && last.len() >= ENOUGH)
        };
        match found.last_mut().filter(fits) {
            Some(last) => last.end = piece.end,
            None => found.push(piece),
        }
    }
    found.retain(|range| {
        let letters = text[range.clone()]
            .chars()
            .filter(|it| it.is_alphanumeric());
        letters.map(char::len_utf8).sum::<usize>() >= FEWEST
    });
    found
}

/// The sentences, long ones in several pieces.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for mut sentence in sentences(text) {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        while sentence.len() > MOST {
            let most = sentence.floor_char_boundary(MOST);
            let blank = sentence[..most].rfind(char::is_whitespace);
            // A run of signs without a blank, such as encoded bytes, is cut anywhere.
            let end = blank.filter(|blank| *blank >= ENOUGH).unwrap_or(most);
            found.push(at..at + end);
            (sentence, at) = (&sentence[end..], at + end);
        }
        found.push(at..at + sentence.len());
        at += sentence.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_end_with_paragraphs_and_hold_all_sentences() {
        let paragraph = format!("{}\n\n", "The ferry sails at nine today. ".repeat(40));
        let text = paragraph.repeat(3);
        let found = passages(&text);
        assert_eq!(found.len(), 3);
        for range in &found {
            // 40 sentences of 30 bytes, with a blank between two.
            assert_eq!(range.len(), 40 * 31 - 1);
            assert!(text[range.clone()].ends_with("today."));
        }
    }

    #[test]
    fn a_text_without_paragraphs_is_cut_between_sentences() {
        let text = "The ferry sails at nine today. ".repeat(500);
        let found = passages(&text);
        // 77 sentences fit into 2,400 bytes.
        assert_eq!(found.len(), 500_usize.div_ceil(77));
        for range in &found {
            assert!(text[range.clone()].ends_with('.') && range.len() <= MOST);
        }
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
        for unit in ["word ", "文", "สวัสดี", "привет ", "0a1b2c3d"] {
            let text = unit.repeat(300_000 / unit.len());
            let found = passages(&text);
            assert!(found.iter().all(|it| it.len() <= MOST), "{unit}");
            let all: usize = found.iter().map(ExactSizeIterator::len).sum();
            assert!(all + 2 * found.len() >= text.trim_end().len(), "{unit}");
        }
        assert_eq!(
            passages("渡し船は毎朝九時に島へ向けて出航します。").len(),
            1
        );
        assert!(passages(&"🛳".repeat(10_000)).is_empty());
    }

    #[test]
    fn a_document_of_five_megabytes_is_cut_at_once() {
        let text = "The ferry sails at nine today.\n\n".repeat(160_000);
        let found = passages(&text);
        // A passage ends with the first paragraph that makes it long enough: the 38th.
        assert_eq!(found.len(), 160_000_usize.div_ceil(38));
    }
}

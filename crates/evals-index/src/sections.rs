use std::ops::Range;

/// Most bytes of a section.
const SECTION_BYTES: usize = 64 * 1024;

/// Cuts `text` into consecutive sections of at most [`SECTION_BYTES`], each ending after the last blank line, else line, else
/// white space, else character that fits.
///
/// The splitter looks at all the rest of its text for each chunk, so one call over ten megabytes would take time quadratic in
/// the length.
pub(crate) fn sections(text: &str) -> Vec<Range<usize>> {
    let mut sections = Vec::new();
    let mut start = 0;
    while text.len() - start > SECTION_BYTES {
        let end = start + section_end(&text[start..]);
        sections.push(start..end);
        start = end;
    }
    sections.push(start..text.len());
    sections
}

/// Where the first section of `text`, which is longer than one, ends.
fn section_end(text: &str) -> usize {
    let window = &text[..text.floor_char_boundary(SECTION_BYTES)];
    let after = |at: usize, length: usize| at + length;
    window
        .rfind("\n\n")
        .map(|at| after(at, 2))
        .or_else(|| window.rfind('\n').map(|at| after(at, 1)))
        .or_else(|| after_last_white_space(window))
        .unwrap_or(window.len())
}

fn after_last_white_space(window: &str) -> Option<usize> {
    let (at, character) = window
        .char_indices()
        .rev()
        .find(|(_, character)| character.is_whitespace())?;
    Some(at + character.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_one_section() {
        for text in ["", "a\n\nb"] {
            assert_eq!(sections(text).len(), 1);
        }
    }

    #[test]
    fn sections_follow_each_other_and_end_at_paragraphs() {
        let paragraph = format!("{}\n{}\n\n", "x".repeat(700), "y".repeat(297));
        let text = paragraph.repeat(300);
        let sections = sections(&text);
        assert!(sections.len() > 1);
        assert_eq!(sections.last().unwrap().end, text.len());
        assert!(sections.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(
            sections
                .iter()
                .all(|section| section.len() <= SECTION_BYTES)
        );
        assert!(
            sections
                .iter()
                .all(|section| text[..section.end].ends_with("\n\n"))
        );
    }

    #[test]
    fn falls_back_to_white_space_and_then_to_characters() {
        let words = "wörter ".repeat(20_000);
        assert!(
            sections(&words)
                .iter()
                .all(|section| words[section.clone()].ends_with(' '))
        );
        let unbroken = "ö".repeat(100_000);
        let cut = sections(&unbroken);
        assert_eq!(cut.len(), 4);
        assert_eq!(cut.last().unwrap().end, unbroken.len());
    }
}

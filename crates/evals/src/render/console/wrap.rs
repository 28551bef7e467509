//! Fits text into the width of a terminal, where some characters take two columns.

use std::borrow::Cow;
use std::iter;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns before every line of wrapped text but the first.
const INDENT: &str = "  ";

/// The columns that a text takes. Most texts are ASCII, where no table of characters is needed.
pub(super) fn columns(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        text.len()
    } else {
        text.width()
    }
}

/// Breaks text at spaces and indents later lines. A word wider than a line stays whole.
pub(super) fn wrap(text: &str, width: usize) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(text.trim_start_matches(' '));
    let mut indent = "";
    iter::from_fn(move || {
        let (line, after) = first_line(rest?, indent.len(), width);
        let line = match indent {
            "" => Cow::Borrowed(line),
            _ => Cow::Owned(format!("{indent}{line}")),
        };
        rest = after;
        indent = INDENT;
        Some(line)
    })
}

/// Splits text at the space before the first word that does not fit into a line of which columns are `used` already.
fn first_line(text: &str, mut used: usize, width: usize) -> (&str, Option<&str>) {
    // No text takes more columns than bytes.
    if used + text.len() <= width {
        return (text, None);
    }
    let mut is_blank = true;
    let mut start = 0;
    for word in text.split(' ') {
        let wanted = columns(word) + usize::from(start > 0);
        if !is_blank && used + wanted > width {
            return (&text[..start - 1], Some(&text[start..]));
        }
        used += wanted;
        is_blank = is_blank && word.trim().is_empty();
        start += word.len() + 1;
    }
    (text, None)
}

/// Cuts text that is wider than a line and marks the cut.
pub(super) fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(columns(ellipsis));
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= room
        })
        .collect();
    format!("{}{ellipsis}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        wrap(text, width).map(Cow::into_owned).collect()
    }

    #[test]
    fn wrapping_breaks_at_spaces_and_indents() {
        assert_eq!(
            lines("one two three four", 9),
            ["one two", "  three", "  four"]
        );
        assert_eq!(lines("incomprehensibilities", 9), ["incomprehensibilities"]);
    }

    #[test]
    fn wrapping_keeps_spaces_between_words_and_drops_those_before_the_first() {
        assert_eq!(lines("", 9), [""]);
        assert_eq!(lines("   ", 9), [""]);
        assert_eq!(lines("  one  two", 9), ["one  two"]);
        assert_eq!(lines("one two ", 7), ["one two", "  "]);
        assert_eq!(lines("one two   three", 7), ["one two", "    three"]);
    }

    #[test]
    fn wrapping_counts_columns_not_bytes() {
        assert_eq!(lines("東京 都庁", 9), ["東京 都庁"]);
        assert_eq!(lines("東京 都庁", 8), ["東京", "  都庁"]);
        assert_eq!(lines("é é é é é", 9), ["é é é é é"]);
    }

    #[test]
    fn no_character_takes_more_columns_than_bytes() {
        for character in '\0'..=char::MAX {
            let emoji = format!("{character}\u{fe0f}");
            assert!(emoji.width() <= emoji.len());
            let alone = character.to_string();
            assert!(alone.width() <= alone.len());
            assert_eq!(columns(&alone), alone.width());
        }
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        assert_eq!(cut("東京都庁", 8, "…"), "東京都庁");
        assert_eq!(cut("東京都庁", 7, "…"), "東京都…");
        assert_eq!(cut("東京都庁", 6, "…"), "東京…");
        assert_eq!(cut("abc", 0, "…"), "…");
    }
}

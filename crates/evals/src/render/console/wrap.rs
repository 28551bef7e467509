//! Fits text into the width of a terminal, where some characters take two columns.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Breaks text at spaces and indents later lines. A word wider than a line stays whole.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let columns = word.width();
        if !line.trim().is_empty() && used + 1 + columns > width {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
            used = 1;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += columns;
    }
    lines.push(line);
    lines
}

/// Cuts text that is wider than a line and marks the cut.
pub(super) fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(ellipsis.width());
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

    #[test]
    fn wrapping_breaks_at_spaces_and_indents() {
        assert_eq!(
            wrap("one two three four", 9),
            ["one two", "  three", "  four"]
        );
        assert_eq!(wrap("incomprehensibilities", 9), ["incomprehensibilities"]);
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        assert_eq!(cut("東京都庁", 8, "…"), "東京都庁");
        assert_eq!(cut("東京都庁", 7, "…"), "東京都…");
        assert_eq!(cut("東京都庁", 6, "…"), "東京…");
        assert_eq!(cut("abc", 0, "…"), "…");
    }
}

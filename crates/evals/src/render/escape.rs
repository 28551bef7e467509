//! Escapes foreign text within markdown.

use evals_messages::visible::single_line;

/// Escapes all markdown and HTML markup, so any text is safe anywhere in a line.
pub(super) fn escape(text: &str) -> String {
    let text = single_line(text);
    let mut escaped = String::with_capacity(text.len());
    let start = block_marker(&text);
    for (position, character) in text.char_indices() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '~' | '#' | '[' | ']' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => {
                if start == Some(position) {
                    escaped.push('\\');
                }
                escaped.push(character);
            }
        }
    }
    escaped
}

/// The position of the punctuation if the text begins as a list item or an underline.
///
/// Other blocks begin with characters that are always escaped.
fn block_marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let markers: &[char] = if digits > 0 {
        &['.', ')']
    } else {
        &['-', '+', '=']
    };
    text[digits..].starts_with(markers).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_formulas_are_text() {
        assert_eq!(escape("[q1]: timeout"), r"\[q1\]: timeout");
        assert_eq!(escape("![a](b) $x$"), r"!\[a\](b) \$x\$");
    }

    #[test]
    fn block_markers_count_at_the_start_only() {
        let started = [
            "- a",
            "+ a",
            "=== a",
            "12. a",
            "3) a",
            "1.5 s",
            "a - b + c = 1. d",
        ];
        assert_eq!(
            started.map(escape),
            [
                r"\- a",
                r"\+ a",
                r"\=== a",
                r"12\. a",
                r"3\) a",
                r"1\.5 s",
                "a - b + c = 1. d"
            ]
        );
        assert_eq!(escape("> a\n# b"), r"&gt; a \# b");
    }

    #[test]
    fn bidirectional_controls_are_made_visible() {
        let hidden = "a\u{202e}b\u{2066}c\u{200f}d";
        assert_eq!(escape(hidden), r"a\\u{202e}b\\u{2066}c\\u{200f}d");
    }
}

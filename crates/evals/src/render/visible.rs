//! Foreign text that a terminal may be given.

/// Makes visible what could steer a terminal, or turn the direction of what follows: such characters are written as Rust
/// escapes. Line breaks and tabs stay.
///
/// ```
/// use evals::render::visible;
///
/// assert_eq!(visible("a\u{1b}[31mb\nc\rd"), "a\\u{1b}[31mb\nc\\rd");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) && !matches!(character, '\n' | '\t') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Whether a character is a control character, or one of those that Unicode's bidirectional algorithm calls marks, embeddings,
/// overrides and isolates.
pub(super) fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left() {
        let every: String = (0..0x300)
            .chain(0x2000..0x2100)
            .filter_map(char::from_u32)
            .collect();
        let shown = visible(&every);
        assert!(
            !shown
                .chars()
                .any(|character| steers(character) && !"\n\t".contains(character))
        );
        assert!(
            shown.contains("\\u{9b}") && shown.contains("\\u{7f}") && shown.contains("\\u{202e}")
        );
    }

    #[test]
    fn text_stays_as_it_is() {
        for text in [
            "",
            "plain",
            "two\n\tlines",
            "naïve 日本語 🙂",
            "back\\slash",
        ] {
            assert_eq!(visible(text), text);
        }
    }
}

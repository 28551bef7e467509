//! Makes foreign text safe to print: control characters become visible escapes.

/// Writes characters that control a terminal or change the direction of text as Rust escapes. Line breaks and tabs stay.
///
/// ```
/// use evals_messages::visible;
///
/// assert_eq!(visible::text("a\u{1b}[31mb\nc\rd"), "a\\u{1b}[31mb\nc\\rd");
/// ```
pub fn text(foreign: &str) -> String {
    if is_plain(foreign) {
        return foreign.to_owned();
    }
    let mut shown = String::with_capacity(foreign.len());
    for character in foreign.chars() {
        if steers(character) && !matches!(character, '\n' | '\t') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Like [`text`], but also escapes line breaks and tabs.
pub fn line(foreign: &str) -> String {
    text(foreign).replace('\n', "\\n").replace('\t', "\\t")
}

/// Like [`text`], but replaces each run of white space, line breaks included, with one space. Separators of lines and paragraphs
/// (U+0085, U+2028, U+2029) become escapes.
pub fn single_line(foreign: &str) -> String {
    let folded = folded(foreign);
    if is_plain(&folded) {
        return folded;
    }
    text(&folded)
}

/// The first `most` characters of a text, with `…` behind them if there are more.
///
/// ```
/// use evals_messages::visible::beginning;
///
/// assert_eq!(beginning("größer", 3), "grö…");
/// assert_eq!(beginning("größer", 6), "größer");
/// ```
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Replaces each run of white space with one space. Other control characters stay, and so do U+0085, U+2028 and U+2029.
pub fn folded(foreign: &str) -> String {
    let mut folded = String::with_capacity(foreign.len());
    for word in foreign.split(|it: char| it.is_whitespace() && !separates(it)) {
        if !folded.is_empty() && !word.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Whether [`text`] certainly returns a text as it is. A quick look at bytes that most texts pass.
fn is_plain(foreign: &str) -> bool {
    let mut bytes = foreign.bytes();
    bytes.all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Whether a character is a control character, a separator of lines or paragraphs, or one of those that Unicode's bidirectional
/// algorithm calls marks, embeddings, overrides and isolates.
fn steers(character: char) -> bool {
    character.is_control()
        || separates(character)
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Whether a character ends a line or a paragraph, though most programs show it as a blank.
fn separates(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_characters_are_left() {
        let every: String = (0..0x300)
            .chain(0x2000..0x2100)
            .filter_map(char::from_u32)
            .collect();
        let shown = text(&every);
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
        for plain in [
            "",
            "plain",
            "two\n\tlines",
            "naïve 日本語 🙂",
            "back\\slash",
        ] {
            assert_eq!(text(plain), plain);
        }
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(line("a\nb\tc\u{202e}d"), "a\\nb\\tc\\u{202e}d");
        assert_eq!(single_line(" a\n\tb \u{202e}c "), "a b \\u{202e}c");
    }

    #[test]
    fn separators_that_look_like_blanks_are_visible() {
        let separated = "a\u{85}b\u{2028}c \u{2029}\n d";
        assert_eq!(text("\u{2028}"), "\\u{2028}");
        assert_eq!(line(separated), "a\\u{85}b\\u{2028}c \\u{2029}\\n d");
        assert_eq!(single_line(separated), "a\\u{85}b\\u{2028}c \\u{2029} d");
        assert_eq!(folded(separated), "a\u{85}b\u{2028}c \u{2029} d");
    }
}

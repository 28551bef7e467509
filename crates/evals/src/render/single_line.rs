//! Foreign text in a place where it may take one line only.

/// Makes a single line of any text: runs of white space become one blank. Other control characters, which could steer a
/// terminal, and those that turn the direction of what follows are written as Rust escapes.
pub(super) fn single_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = String::with_capacity(words.len());
    for character in words.chars() {
        if character.is_control() || turns_direction(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The characters that Unicode's bidirectional algorithm calls marks, embeddings, overrides and isolates.
fn turns_direction(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

//! Foreign text in a place where it may take one line only.

use super::visible::steers;

/// Makes a single line of any text: runs of white space become one blank. Other control characters, which could steer a
/// terminal, and those that turn the direction of what follows are written as Rust escapes.
pub(super) fn single_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = String::with_capacity(words.len());
    for character in words.chars() {
        if steers(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

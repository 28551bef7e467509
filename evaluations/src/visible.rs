//! Text from elsewhere on its way to a terminal, which must not steer it.

use evals::render::visible;

/// What would steer a terminal, line breaks and tabs included, as Rust escapes.
pub(crate) fn line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one() {
        assert_eq!(line("a\nb\tc\u{202e}d"), "a\\nb\\tc\\u{202e}d");
    }
}

//! Paths and other words in the commands that messages suggest.

use std::borrow::Cow;

/// A path or another argument as a word of a shell's command line.
pub(crate) fn shell_word(path: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/\\.:_-+,@%=".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("'{}'", path.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_is_one_word_of_the_command() {
        assert_eq!(shell_word("out/dataset.yaml"), "out/dataset.yaml");
        assert_eq!(shell_word("my data/dataset.yaml"), "'my data/dataset.yaml'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's/dataset.yaml"), r"'it'\''s/dataset.yaml'");
    }
}

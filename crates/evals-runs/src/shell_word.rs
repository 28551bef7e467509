//! Paths and other words in the commands that messages suggest.

use std::borrow::Cow;

/// A path or another argument as a word of a shell's command line. Quotes the word if it is empty, or if a shell gives one of its characters a
/// special meaning.
pub fn shell_word(path: &str) -> Cow<'_, str> {
    // A backslash escapes the next letter, but separates folders on Windows. A home folder (`~`) and, in zsh, `=program` are expanded.
    let is_plain = |letter: char| {
        letter.is_alphanumeric()
            || "/.:_-+,@%=".contains(letter)
            || (cfg!(windows) && letter == '\\')
    };
    if !path.is_empty() && !path.starts_with('=') && path.chars().all(is_plain) {
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

    #[test]
    fn letters_that_a_shell_would_read_are_quoted() {
        for word in [
            "~/dataset.yaml",
            "~other",
            "=program",
            "a*b",
            "$HOME",
            "a`b",
        ] {
            assert_eq!(shell_word(word), format!("'{word}'"));
        }
        assert_eq!(shell_word("--set"), "--set");
        assert_eq!(shell_word("größe=1"), "größe=1");
    }

    #[test]
    fn a_backslash_is_plain_only_where_it_separates_folders() {
        let path = r"a\b";
        let expected = if cfg!(windows) { path } else { r"'a\b'" };
        assert_eq!(shell_word(path), expected);
    }
}

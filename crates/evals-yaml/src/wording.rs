//! Terms of YAML for the terms of the parser.

/// Replaces the names of Rust's types by terms that people know from files, such as `usize` by `a whole number`.
pub fn in_plain_words(message: &str) -> String {
    const WORDS: [(&str, &str); 9] = [
        ("a nonzero usize", "a whole number of at least 1"),
        ("a nonzero u32", "a whole number of at least 1"),
        ("usize", "a whole number"),
        ("f64", "a number"),
        ("invalid type: map", "invalid type: mapping"),
        ("a map", "a mapping"),
        ("invalid type: sequence", "invalid type: list"),
        ("a sequence", "a list"),
        (
            "mapping values are not allowed in this context",
            "`: ` cannot stand here; a text that holds it needs quotes",
        ),
    ];
    let plain = WORDS.iter().fold(message.to_owned(), |text, (from, to)| {
        replace_words(&text, from, to)
    });
    match unexpected_character(&plain) {
        Some(character) => {
            format!("unexpected character `{character}`; a text that holds it may need quotes")
        }
        None => plain,
    }
}

/// Replaces `from` unless it is the beginning of a longer word: `a map`, but not in `a mapping`.
fn replace_words(text: &str, from: &str, to: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(from) {
        let goes_on = after.starts_with(char::is_alphanumeric);
        replaced.push_str(before);
        replaced.push_str(if goes_on { from } else { to });
        rest = after;
    }
    replaced + rest
}

/// The character that the scanner rejects.
fn unexpected_character(message: &str) -> Option<&str> {
    message
        .strip_prefix("unexpected character: `")?
        .strip_suffix('\'')
}

/// The kind of value that the parser expects, translated from its own term.
pub(crate) fn kind(expected: &str) -> &str {
    match expected {
        "mapping start" => "a mapping",
        "sequence start" => "a list",
        "string scalar" | "scalar" => "a text",
        "boolean" | "bool" => "`true` or `false`",
        "floating point" => "a number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "i8" | "i16" | "i32" | "i64" | "i128" => {
            "a whole number"
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_as_they_are() {
        let plain = "invalid type: list, expected a mapping";
        assert_eq!(
            in_plain_words("invalid type: sequence, expected a map"),
            plain
        );
        assert_eq!(in_plain_words(plain), plain);
    }
}

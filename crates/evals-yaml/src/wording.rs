//! Terms of YAML for the terms of the parser.

use evals_messages::mismatch;

/// Replaces the terms of serde and of the parser by those that people know from files, such as `usize` by `a whole number`.
pub fn in_plain_words(message: &str) -> String {
    if message == "mapping values are not allowed in this context" {
        return "`: ` cannot stand here; a text that holds it needs quotes".to_owned();
    }
    match unexpected_character(message) {
        Some(character) => {
            format!("unexpected character `{character}`; a text that holds it may need quotes")
        }
        None => mismatch::in_yaml(message),
    }
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
        let plain = "expected a mapping, found a list";
        assert_eq!(
            in_plain_words("invalid type: sequence, expected a map"),
            plain
        );
        assert_eq!(in_plain_words(plain), plain);
    }
}

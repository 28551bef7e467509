//! Errors in YAML texts.

use evals_messages::mismatch;
use serde_saphyr::{Error, MessageFormatter as _, UserMessageFormatter};
use thiserror::Error as ThisError;

/// A problem of a YAML text, and its place. The message does not include the place.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[error("{message}")]
pub struct YamlError {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// The problem.
    pub message: String,
}

impl From<&Error> for YamlError {
    fn from(error: &Error) -> Self {
        let (line, column) = error.location().map_or((1, 1), |location| {
            (location.line().max(1), location.column().max(1))
        });
        Self {
            line,
            column,
            message: message(innermost(error)),
        }
    }
}

/// The error itself, without the excerpt or the alias around it.
pub fn innermost(error: &Error) -> &Error {
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => innermost(error),
        bare => bare,
    }
}

/// The message for common errors. The parser's own messages address programmers.
fn message(error: &Error) -> String {
    match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::DuplicateMappingKey { key: None, .. } => "duplicate key".to_owned(),
        Error::MultipleDocuments { .. } => {
            "more than one YAML document: only one is read, so nothing can follow `---`".to_owned()
        }
        Error::Eof { .. } => "the text ends where a value is expected".to_owned(),
        Error::Unexpected { expected, .. } => format!("expected {}", kind(expected)),
        Error::InvalidScalar { ty, .. } => format!("expected {}", kind(ty)),
        Error::NullIntoString { .. } => "a value is missing".to_owned(),
        Error::UnknownAnchor { .. } => "this `*` refers to a name that no `&` defines".to_owned(),
        Error::SerdeMissingField { field, .. } => format!("missing key `{field}`"),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "too large, or nested too deeply".to_owned()
        }
        other => in_plain_words(&UserMessageFormatter.format_message(other)),
    }
}

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
fn kind(expected: &str) -> &str {
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
    use serde_json::Value;

    use super::*;

    fn refused(text: &str) -> (u64, u64, String) {
        let error = serde_saphyr::from_str::<Value>(text).unwrap_err();
        let YamlError {
            line,
            column,
            message,
        } = YamlError::from(&error);
        (line, column, message)
    }

    #[test]
    fn errors_use_the_terms_of_yaml() {
        let cases = [
            ("a: 1\nb:\n  c: 1\n  c: 2\n", (4, 3), "duplicate key `c`"),
            (
                "a: 1\n---\na: 2\n",
                (3, 1),
                "more than one YAML document: only one is read, so nothing can follow `---`",
            ),
            (
                "a: 1\nb: *c\n",
                (2, 4),
                "this `*` refers to a name that no `&` defines",
            ),
            (
                "a: b: c\n",
                (1, 5),
                "`: ` cannot stand here; a text that holds it needs quotes",
            ),
            (
                "a: @b\n",
                (1, 4),
                "unexpected character `@`; a text that holds it may need quotes",
            ),
        ];
        for (text, (line, column), message) in cases {
            assert_eq!(
                refused(text),
                (line, column, message.to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn errors_do_not_mention_the_parsers_interface() {
        let deep = "[".repeat(5000);
        let bomb = (1..9).fold(
            "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(),
            |text, level| {
                let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
                format!("{text}a{level}: &a{level} [{aliases}]\n")
            },
        );
        for text in [
            &deep,
            &bomb,
            "a: 'x\n",
            "a: [1\n",
            "a: \"\\q\"\n",
            "a: .inf\n",
        ] {
            let (_, _, message) = refused(text);
            for word in ["Policy", "Options", "from_str", "_", "::", "="] {
                assert!(!message.contains(word), "{message}");
            }
        }
    }

    #[test]
    fn an_error_about_a_value_names_the_expected_kind() {
        #[derive(Debug, serde::Deserialize)]
        #[expect(dead_code, reason = "the test only reads errors")]
        struct Shape {
            text: String,
            count: Option<std::num::NonZeroUsize>,
            switch: Option<bool>,
        }
        for (text, wanted) in [
            ("- text\n", "expected a mapping"),
            ("text: [a]\n", "expected a text"),
            ("text:\n", "a value is missing"),
            ("text: a\ncount: many\n", "expected a whole number"),
            ("text: a\nswitch: perhaps\n", "expected `true` or `false`"),
            ("count: 1\n", "missing key `text`"),
            (
                "text: a\ncount: 0\n",
                "expected a whole number of at least 1, found `0`",
            ),
        ] {
            let error = serde_saphyr::from_str::<Shape>(text).unwrap_err();
            assert_eq!(YamlError::from(&error).message, wanted, "{text:?}");
        }
    }

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

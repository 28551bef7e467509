//! What a reader expected and what it found, in words that people know from files: a number, a list, a text.
//!
//! Serde words such errors for programmers: `invalid type: sequence, expected f64`. The functions here turn its messages into
//! `expected a number, found a list`. They leave every other message as it is, so a caller may pass any message.

/// Rewords serde's message about JSON. The place at its end stays.
///
/// ```
/// use evals_messages::mismatch;
///
/// assert_eq!(
///     mismatch::in_json("invalid type: map, expected f64 at line 1 column 9"),
///     "expected a number, found an object at line 1 column 9"
/// );
/// ```
pub fn in_json(message: &str) -> String {
    reworded(message, "an object")
}

/// The same for YAML, which calls an object a mapping.
pub fn in_yaml(message: &str) -> String {
    reworded(message, "a mapping")
}

/// The beginnings of messages, and the words for them.
const BEGINNINGS: [(&str, &str); 4] = [
    ("missing field ", "missing key "),
    ("duplicate field ", "duplicate key "),
    ("unknown field ", "unknown key "),
    ("unknown variant ", "unknown value "),
];

fn reworded(message: &str, object: &str) -> String {
    let place = message.rfind(" at line ").unwrap_or(message.len());
    let (what, place) = message.split_at(place);
    for (term, plain) in BEGINNINGS {
        if let Some(rest) = what.strip_prefix(term) {
            return format!("{plain}{rest}{place}");
        }
    }
    if what.starts_with("data did not match any variant of untagged enum ") {
        return format!("the value fits none of the forms that are possible here{place}");
    }
    let starts = ["invalid type: ", "invalid value: ", "invalid length "];
    let mismatch = starts.iter().find_map(|start| what.strip_prefix(start));
    match mismatch.and_then(|mismatch| mismatch.rsplit_once(", expected ")) {
        Some((found, expected)) => format!(
            "expected {}, found {}{place}",
            self::expected(expected, found, object),
            self::found(found, object)
        ),
        None => message.to_owned(),
    }
}

/// What serde found.
fn found(found: &str, object: &str) -> String {
    match found {
        "map" => object.to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit value" => "`null`".to_owned(),
        other => match (other.strip_prefix("string "), other.find('`')) {
            (Some(text), _) => format!("the text {text}"),
            // The value in backticks says by itself what it is.
            (None, Some(value)) => other[value..].to_owned(),
            (None, None) => other.to_owned(),
        },
    }
}

/// What serde expected: the kind of value that a name of Rust's or of serde's own stands for.
fn expected<'t>(expected: &'t str, found: &str, object: &'t str) -> &'t str {
    let whole = expected.strip_prefix("a nonzero ").unwrap_or(expected);
    match whole {
        "f32" | "f64" => "a number",
        "bool" | "a boolean" => "`true` or `false`",
        "a string" | "a borrowed string" | "string or map" => "a text",
        "a sequence" => "a list",
        "a map" => object,
        "unit" => "`null`",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" => match found.strip_prefix("integer `") {
            Some(number) if number.starts_with('-') && whole.starts_with('u') => {
                "a whole number of at least 0"
            }
            Some(number) if number != "0`" => "a whole number that is closer to 0",
            _ if whole != expected => "a whole number of at least 1",
            _ => "a whole number",
        },
        _ if whole.contains("struct ") || whole.contains(" enum ") => object,
        _ if whole.starts_with("enum ") => "one of the known names",
        _ => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_worded_for_people() {
        let cases = [
            (
                "invalid type: string \"x\", expected f64 at line 1 column 15",
                "expected a number, found the text \"x\" at line 1 column 15",
            ),
            (
                "invalid type: floating point `1.5`, expected i32",
                "expected a whole number, found `1.5`",
            ),
            (
                "invalid type: null, expected a sequence",
                "expected a list, found `null`",
            ),
            (
                "invalid type: map, expected a string",
                "expected a text, found an object",
            ),
            (
                "invalid type: boolean `true`, expected struct Price",
                "expected an object, found `true`",
            ),
            (
                "invalid length 3, expected a tuple of size 2 at line 2 column 1",
                "expected a tuple of size 2, found 3 at line 2 column 1",
            ),
            (
                "data did not match any variant of untagged enum Line at line 1 column 2",
                "the value fits none of the forms that are possible here at line 1 column 2",
            ),
            ("missing field `id`", "missing key `id`"),
            (
                "unknown field `x`, expected `a` or `b`",
                "unknown key `x`, expected `a` or `b`",
            ),
            (
                "unknown variant `x`, expected `a`",
                "unknown value `x`, expected `a`",
            ),
        ];
        for (message, plain) in cases {
            assert_eq!(in_json(message), plain);
        }
        assert_eq!(
            in_yaml("invalid type: sequence, expected a map"),
            "expected a mapping, found a list"
        );
    }

    #[test]
    fn a_number_out_of_range_says_so() {
        let cases = [
            (
                "integer `-1`, expected usize",
                "a whole number of at least 0, found `-1`",
            ),
            (
                "integer `0`, expected a nonzero u32",
                "a whole number of at least 1, found `0`",
            ),
            (
                "integer `300`, expected u8",
                "a whole number that is closer to 0, found `300`",
            ),
            (
                "string \"a\", expected a nonzero usize",
                "a whole number of at least 1, found the text \"a\"",
            ),
        ];
        for (message, plain) in cases {
            assert_eq!(
                in_json(&format!("invalid value: {message}")),
                format!("expected {plain}")
            );
        }
    }

    #[test]
    fn a_found_text_is_quoted_as_it_is() {
        assert_eq!(
            in_json(r#"invalid type: string "f64\", expected u8", expected a map"#),
            r#"expected an object, found the text "f64\", expected u8""#
        );
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in [
            "EOF while parsing a value at line 1 column 0",
            "`a map` is listed a second time",
            "invalid type: an unfinished message",
            "expected a number, found a list at line 3 column 1",
            "",
        ] {
            assert_eq!(in_json(message), message);
        }
    }
}

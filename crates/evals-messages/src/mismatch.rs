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

fn reworded(message: &str, object: &str) -> String {
    let (what, place) = match message.rsplit_once(" at line ") {
        Some((what, _)) => message.split_at(what.len()),
        None => (message, ""),
    };
    let plain = of_types(what, object).or_else(|| of_names(what));
    plain.map_or_else(|| message.to_owned(), |plain| plain + place)
}

/// A message about a value of the wrong type, or of the right type that cannot be used.
fn of_types(what: &str, object: &str) -> Option<String> {
    let mismatch = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| what.strip_prefix(start));
    if let Some((found, expected)) = mismatch.and_then(sides) {
        let found = self::found(found, object);
        return Some(format!(
            "expected {}, found {found}",
            self::expected(expected, &found, object)
        ));
    }
    let (length, expected) = what
        .strip_prefix("invalid length ")?
        .split_once(", expected ")?;
    Some(format!(
        "expected {}, found {length} of them",
        self::expected(expected, length, object)
    ))
}

/// The two sides of a mismatch. A text that was found is quoted and may contain anything.
fn sides(mismatch: &str) -> Option<(&str, &str)> {
    let text = mismatch.strip_prefix("string \"");
    let end = text.map_or(Some(0), |text| {
        Some(mismatch.len() - text.len() + end_of_text(text)?)
    })?;
    let comma = end + mismatch[end..].find(", expected ")?;
    let (found, expected) = mismatch.split_at(comma);
    Some((found, expected.strip_prefix(", expected ")?))
}

/// The place of the quote that ends a text.
fn end_of_text(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.find(|letter: char| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })
}

/// What serde found.
fn found(found: &str, object: &str) -> String {
    match found {
        "map" | "mapping" => object.to_owned(),
        "sequence" | "list" => "a list".to_owned(),
        "null" | "unit value" | "Option value" => "`null`".to_owned(),
        "byte array" => "bytes".to_owned(),
        other => match other.split_once(' ') {
            Some(("string", text)) => format!("the text {text}"),
            _ => match other.find('`') {
                Some(start) if is_scalar(&other[..start]) => other[start..].to_owned(),
                _ => other.to_owned(),
            },
        },
    }
}

/// Whether these words stand before a value in backticks that says by itself what it is.
fn is_scalar(words: &str) -> bool {
    matches!(
        words,
        "boolean " | "integer " | "floating point " | "character "
    )
}

/// What serde expected. `found` decides which limit of a number is worth mentioning.
fn expected(expected: &str, found: &str, object: &str) -> String {
    if let Some(number) = whole_number(expected, found) {
        return number;
    }
    let name = expected.rsplit(' ').next().unwrap_or_default();
    match expected {
        "f32" | "f64" | "floating point" => "a number".to_owned(),
        "bool" | "a boolean" => "`true` or `false`".to_owned(),
        "a string" | "a borrowed string" | "str" | "string" => "a text".to_owned(),
        "a character" => "a text of one letter".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => object.to_owned(),
        "unit" | "null" => "`null`".to_owned(),
        "a string key" => "a key in quotes".to_owned(),
        "string or map" => format!("a text or {object}"),
        "field identifier" | "variant identifier" => "a name".to_owned(),
        "any valid JSON value" => "a value".to_owned(),
        _ if expected.starts_with("a tuple of size ")
            || expected.starts_with("an array of length ") =>
        {
            format!("a list of {name} values")
        }
        _ if expected.ends_with(" elements") && expected.contains("struct ") => {
            let count = expected.rsplit(' ').nth(1).unwrap_or_default();
            format!("a list of {count} values")
        }
        _ if expected.starts_with("tuple struct ") => "a list".to_owned(),
        _ if expected.starts_with("struct ") || expected.contains(" tagged enum ") => {
            object.to_owned()
        }
        _ if expected.starts_with("enum ") => "one of the known names".to_owned(),
        other => other.to_owned(),
    }
}

/// A whole number, with the limit that the found one is beyond.
fn whole_number(expected: &str, found: &str) -> Option<String> {
    let (without_zero, name) = match expected.strip_prefix("a nonzero ") {
        Some(name) => (true, name),
        None => (false, expected),
    };
    let (least, most): (i128, i128) = match name {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        "u128" => (0, i128::MAX),
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "i128" => (i128::MIN, i128::MAX),
        _ => return None,
    };
    let least = least + i128::from(without_zero && least == 0);
    let number = found.trim_matches('`').parse::<i128>().ok();
    Some(match number {
        Some(number) if number > most => format!("a whole number of at most {most}"),
        Some(number) if number < least => format!("a whole number of at least {least}"),
        _ if least == 1 => "a whole number of at least 1".to_owned(),
        Some(0) if without_zero => "a whole number other than 0".to_owned(),
        _ => "a whole number".to_owned(),
    })
}

/// A message about the name of a key or of one of several values.
fn of_names(what: &str) -> Option<String> {
    if what.starts_with("data did not match any variant of untagged enum ") {
        return Some("the value has none of the forms that are possible here".to_owned());
    }
    let words = [
        ("missing field ", "missing key "),
        ("duplicate field ", "duplicate key "),
        ("unknown field ", "unknown key "),
        ("unknown variant ", "unknown value "),
    ];
    let (start, plain) = words.iter().find(|(start, _)| what.starts_with(start))?;
    let rest = &what[start.len()..];
    let rest = rest
        .replace(", there are no fields", "; no key is allowed here")
        .replace(", there are no variants", "; no value is allowed here");
    Some(format!("{plain}{rest}"))
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
                "expected a list of 2 values, found 3 of them at line 2 column 1",
            ),
            (
                "invalid length 1, expected struct Pair with 2 elements",
                "expected a list of 2 values, found 1 of them",
            ),
            (
                "data did not match any variant of untagged enum Line at line 1 column 2",
                "the value has none of the forms that are possible here at line 1 column 2",
            ),
            ("missing field `id`", "missing key `id`"),
            (
                "unknown field `x`, there are no fields at line 1 column 4",
                "unknown key `x`; no key is allowed here at line 1 column 4",
            ),
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
    fn a_number_names_the_limit_that_it_is_beyond() {
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
                "integer `0`, expected a nonzero i32",
                "a whole number other than 0, found `0`",
            ),
            (
                "integer `5000000000`, expected a nonzero u32",
                "a whole number of at most 4294967295, found `5000000000`",
            ),
            (
                "integer `300`, expected u8",
                "a whole number of at most 255, found `300`",
            ),
        ];
        for (message, plain) in cases {
            assert_eq!(
                in_json(&format!("invalid value: {message}")),
                format!("expected {plain}")
            );
        }
        assert_eq!(
            in_json("invalid type: string \"a\", expected a nonzero usize"),
            "expected a whole number of at least 1, found the text \"a\""
        );
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

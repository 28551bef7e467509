//! Python's `repr`, as reasons show values.

use serde_json::Value;

/// The value as Python's `repr` prints what `json.loads` makes of it.
pub(crate) fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => float_repr(float),
            _ => number.to_string(),
        },
        Value::String(text) => repr_text(text),
        Value::Array(values) => format!("[{}]", joined(values.iter().map(repr))),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
            format!("{{{}}}", joined(members))
        }
    }
}

/// The text as Python's `repr` prints it: in single quotes, unless it contains those and no double quotes.
pub(crate) fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut printed = String::with_capacity(text.len() + 2);
    printed.push(quote);
    for letter in text.chars() {
        let code = u32::from(letter);
        match letter {
            '\n' => printed.push_str("\\n"),
            '\r' => printed.push_str("\\r"),
            '\t' => printed.push_str("\\t"),
            '\\' => printed.push_str("\\\\"),
            _ if letter == quote => printed.extend(['\\', letter]),
            _ if is_printable(letter) => printed.push(letter),
            _ if code <= 0xff => printed.extend(format!("\\x{code:02x}").chars()),
            _ if code <= 0xffff => printed.extend(format!("\\u{code:04x}").chars()),
            _ => printed.extend(format!("\\U{code:08x}").chars()),
        }
    }
    printed.push(quote);
    printed
}

/// The texts as Python's `repr` prints a list of them.
pub(crate) fn repr_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    format!("[{}]", joined(texts.into_iter().map(repr_text)))
}

fn joined(printed: impl Iterator<Item = String>) -> String {
    printed.collect::<Vec<String>>().join(", ")
}

/// The value as Python's `str` prints it: a text as it is, everything else as `repr` does.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// Replaces the middle of a text longer than `limit` characters: half of the limit stays on each side.
pub(crate) fn truncated(text: String, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text;
    }
    let byte = |index| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let head = &text[..byte(limit / 2)];
    let tail = &text[byte(length - limit.div_ceil(2))..];
    format!("{head}...{tail}")
}

/// A finite float: the fewest digits that read back as it, with an exponent from 1e16 on and below 1e-4.
fn float_repr(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..16).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        // Prints all digits, and `.0` after an integer.
        _ => {
            let plain = float.to_string();
            let fraction = if plain.contains('.') { "" } else { ".0" };
            plain + fraction
        }
    }
}

/// Whether Python prints a letter as it is: all but the general categories `C*` and `Z*`, with the space.
fn is_printable(letter: char) -> bool {
    if letter.is_ascii() {
        return matches!(letter, ' '..='~');
    }
    // The standard library escapes the same categories. After another letter it does not escape combining marks.
    let pair = String::from_iter(['.', letter]);
    pair.escape_debug().nth(1) == Some(letter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_truncated_text_keeps_half_of_the_limit_on_each_side() {
        let printed = repr(&json!("é".repeat(200)));
        let expected = format!("'{0}...{0}'", "é".repeat(49));
        assert_eq!(truncated(printed, 100), expected);
        assert_eq!(truncated("12345".to_owned(), 5), "12345");
    }

    #[test]
    fn floats_print_as_in_python() {
        // From `repr` in Python 3.11.
        for (float, printed) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (123_456_789_012_345.6, "123456789012345.6"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(float_repr(float), printed);
        }
    }
}

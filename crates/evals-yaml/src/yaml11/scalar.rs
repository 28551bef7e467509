//! The meaning of a plain scalar in YAML 1.1, by the patterns that PyYAML resolves with.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Number;

/// The meaning of a plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plain {
    /// `~`, `null` or nothing.
    Null,
    /// `yes`, `Off`, `true` …
    Bool(bool),
    /// A number.
    Number(Number),
    /// An integer beyond 64 bits, as the nearest floating-point number.
    Rounded(Number),
    /// `.nan`, `.inf`, or a number too large for 64 bits of floating point.
    NotFinite,
    /// A date, or a date with a time.
    Timestamp,
    /// `<<`.
    Merge,
    /// A text.
    Text,
}

/// PyYAML's pattern of floating-point numbers. An exponent needs its sign, a fraction without an integer takes none.
static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[-+]? [0-9][0-9_]* \. [0-9_]* ([eE][-+][0-9]+)?
        | \. [0-9][0-9_]* ([eE][-+][0-9]+)?
        | [-+]? [0-9][0-9_]* (:[0-5]?[0-9])+ \. [0-9_]*
        | [-+]? \. (inf|Inf|INF)
        | \. (nan|NaN|NAN)",
    )
});

/// PyYAML's pattern of integers: binary, octal, decimal, hexadecimal and sexagesimal ones.
static INTEGER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[-+]? (0b[0-1_]+
        | 0[0-7_]+
        | (0|[1-9][0-9_]*)
        | 0x[0-9a-fA-F_]+
        | [1-9][0-9_]* (:[0-5]?[0-9])+)",
    )
});

/// PyYAML's pattern of dates and times. It does not look at calendars.
static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}
        | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} ([Tt]|[\x20\t]+)
          [0-9]{1,2}:[0-9]{2}:[0-9]{2} (\.[0-9]*)?
          ([\x20\t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?",
    )
});

fn pattern(alternatives: &str) -> Regex {
    Regex::new(&format!(r"(?x)\A(?:{alternatives})\z")).expect("a test resolves a scalar")
}

/// Resolves a plain scalar.
pub(crate) fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "<<" => return Plain::Merge,
        _ => {}
    }
    if let Some(value) = truth(text) {
        return Plain::Bool(value);
    }
    match text.as_bytes()[0] {
        b'-' | b'+' | b'.' | b'0'..=b'9' => {}
        _ => return Plain::Text,
    }
    if FLOAT.is_match(text) {
        return float(text).unwrap_or(Plain::Text);
    }
    if INTEGER.is_match(text) {
        return integer(text).unwrap_or(Plain::Text);
    }
    if TIMESTAMP.is_match(text) {
        return Plain::Timestamp;
    }
    Plain::Text
}

/// The truth value that a text spells, in the three cases that YAML 1.1 knows.
pub(crate) fn truth(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The value of a floating-point number as Python computes it; `None` for any other text.
pub(crate) fn float(text: &str) -> Option<Plain> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let digits = unsigned(&plain);
    let value = match digits {
        // The words without a dot are Python's own; only a tag can bring them here.
        ".inf" | ".nan" | "inf" | "infinity" | "nan" => return Some(Plain::NotFinite),
        _ if digits.contains(':') => {
            let mut base = 1.0;
            let mut value = 0.0;
            for part in digits.rsplit(':') {
                value += part.parse::<f64>().ok()? * base;
                base *= 60.0;
            }
            value
        }
        _ => digits.parse().ok()?,
    };
    let signed = if plain.starts_with('-') {
        -value
    } else {
        value
    };
    Some(Number::from_f64(signed).map_or(Plain::NotFinite, Plain::Number))
}

/// The value of an integer as Python computes it; `None` for any other text.
pub(crate) fn integer(text: &str) -> Option<Plain> {
    let plain = text.replace('_', "");
    let digits = unsigned(&plain);
    let (value, rounded) = if digits == "0" {
        (Some(0), 0.0)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        in_base(binary, 2)?
    } else if let Some(hexadecimal) = digits.strip_prefix("0x") {
        in_base(hexadecimal, 16)?
    } else if digits.starts_with('0') {
        in_base(digits, 8)?
    } else if digits.contains(':') {
        sexagesimal(digits)?
    } else if !digits.is_empty() && are_digits(digits) {
        (digits.parse().ok(), digits.parse().ok()?)
    } else {
        return None;
    };
    let is_negative = plain.starts_with('-');
    let exact = value
        .map(|value: i128| if is_negative { -value } else { value })
        .and_then(|value| {
            let small = i64::try_from(value).map(Number::from);
            small
                .or_else(|_| u64::try_from(value).map(Number::from))
                .ok()
        });
    Some(match exact {
        Some(number) => Plain::Number(number),
        None => Number::from_f64(if is_negative { -rounded } else { rounded })
            .map_or(Plain::NotFinite, Plain::Rounded),
    })
}

/// A whole number, exactly if it fits, and as the nearest floating-point number.
type Whole = (Option<i128>, f64);

fn in_base(digits: &str, base: u32) -> Option<Whole> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    let rounded = digits.chars().fold(0.0, |value, digit| {
        value * f64::from(base) + f64::from(digit.to_digit(base).unwrap_or(0))
    });
    Some((i128::from_str_radix(digits, base).ok(), rounded))
}

fn sexagesimal(digits: &str) -> Option<Whole> {
    let mut exact = Some(0_i128);
    let mut rounded = 0.0;
    for part in digits.split(':') {
        if part.is_empty() || !are_digits(part) {
            return None;
        }
        let part_exact: Option<i128> = part.parse().ok();
        exact = exact
            .and_then(|value| value.checked_mul(60))
            .zip(part_exact)
            .and_then(|(value, part)| value.checked_add(part));
        rounded = rounded * 60.0 + part.parse::<f64>().ok()?;
    }
    Some((exact, rounded))
}

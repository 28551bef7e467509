//! The meaning of a plain scalar in YAML 1.1, by the patterns that PyYAML resolves with.

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
    if is_float(text) {
        return float(text).unwrap_or(Plain::Text);
    }
    if is_integer(text) {
        return integer(text).unwrap_or(Plain::Text);
    }
    if is_timestamp(text) {
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

/// `[0-9][0-9_]*`
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit()) && is_fraction(text)
}

/// `[0-9_]*`
fn is_fraction(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// `(:[0-5]?[0-9])+`, without the first colon.
fn are_sixtieths(text: &str) -> bool {
    text.split(':').all(|part| match part.as_bytes() {
        [digit] | [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    })
}

/// Whether PyYAML's pattern of floating-point numbers matches. An exponent needs its sign, a fraction without an integer takes
/// none.
fn is_float(text: &str) -> bool {
    if matches!(
        text,
        ".nan"
            | ".NaN"
            | ".NAN"
            | ".inf"
            | ".Inf"
            | ".INF"
            | "-.inf"
            | "-.Inf"
            | "-.INF"
            | "+.inf"
            | "+.Inf"
            | "+.INF"
    ) {
        return true;
    }
    let Some((whole, rest)) = unsigned(text).split_once('.') else {
        return false;
    };
    if let Some((first, sixtieths)) = whole.split_once(':') {
        return is_number(first) && are_sixtieths(sixtieths) && is_fraction(rest);
    }
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (rest, None),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        exponent
            .strip_prefix(['-', '+'])
            .is_some_and(|digits| !digits.is_empty() && are_digits(digits))
    });
    let is_mantissa = if whole.is_empty() {
        text.starts_with('.') && is_number(fraction)
    } else {
        is_number(whole) && is_fraction(fraction)
    };
    is_exponent && is_mantissa
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

/// Whether PyYAML's pattern of integers matches.
fn is_integer(text: &str) -> bool {
    let digits = unsigned(text);
    if let Some(binary) = digits.strip_prefix("0b") {
        return !binary.is_empty()
            && binary
                .bytes()
                .all(|byte| matches!(byte, b'0' | b'1' | b'_'));
    }
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        return !hexadecimal.is_empty()
            && hexadecimal
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    }
    if let Some(octal) = digits.strip_prefix('0') {
        return octal.bytes().all(|byte| matches!(byte, b'0'..=b'7' | b'_'));
    }
    match digits.split_once(':') {
        Some((first, sixtieths)) => is_number(first) && are_sixtieths(sixtieths),
        None => is_number(digits),
    }
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

/// Whether PyYAML's pattern of dates and times matches. It does not look at calendars.
fn is_timestamp(text: &str) -> bool {
    let mut rest = Scan(text.as_bytes());
    if !(rest.digits(4, 4) && rest.byte(b'-')) {
        return false;
    }
    if matches!(rest.0, [a, b, b'-', c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()))
    {
        return true;
    }
    let is_date = rest.digits(1, 2) && rest.byte(b'-') && rest.digits(1, 2);
    if !is_date {
        return false;
    }
    let is_separated = rest.byte(b'T') || rest.byte(b't') || rest.blanks() > 0;
    let is_time = is_separated
        && rest.digits(1, 2)
        && rest.byte(b':')
        && rest.digits(2, 2)
        && rest.byte(b':')
        && rest.digits(2, 2);
    if !is_time {
        return false;
    }
    if rest.byte(b'.') {
        rest.digits(0, usize::MAX);
    }
    if rest.0.is_empty() {
        return true;
    }
    rest.blanks();
    if rest.byte(b'Z') {
        return rest.0.is_empty();
    }
    let is_zone = (rest.byte(b'-') || rest.byte(b'+')) && rest.digits(1, 2);
    if rest.byte(b':') && !rest.digits(2, 2) {
        return false;
    }
    is_zone && rest.0.is_empty()
}

/// The rest of a text.
struct Scan<'t>(&'t [u8]);

impl Scan<'_> {
    /// Takes this byte if it comes next.
    fn byte(&mut self, wanted: u8) -> bool {
        match self.0 {
            [first, rest @ ..] if *first == wanted => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Takes as many digits as there are, up to `most`; false if there are fewer than `least`.
    fn digits(&mut self, least: usize, most: usize) -> bool {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit());
        let length = digits.count().min(most);
        self.0 = &self.0[length..];
        length >= least
    }

    /// Takes blanks and tabs, and counts them.
    fn blanks(&mut self) -> usize {
        let blanks = self
            .0
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'));
        let length = blanks.count();
        self.0 = &self.0[length..];
        length
    }
}

//! Numbers in texts.

/// The accepted relative error of a number.
pub const TOLERANCE: f64 = 0.01;

/// Currency signs, before or after an amount.
const CURRENCIES: [char; 5] = ['$', '€', '£', '¥', '₹'];

const BLANKS: [char; 2] = [' ', '\u{a0}'];

/// Whether the answer has every number of the reference within [`TOLERANCE`]; `None` where the reference has none.
///
/// One number may match several of the reference, and extra numbers in the answer do not matter. [`numbers`] documents the
/// notations.
pub fn all_found(answer: &str, reference: &str) -> Option<bool> {
    let expected = numbers(reference);
    if expected.is_empty() {
        return None;
    }
    let mut given = numbers(answer);
    given.sort_unstable_by(f64::total_cmp);
    Some(expected.iter().all(|expected| is_among(&given, *expected)))
}

/// Whether one of the numbers, in ascending order, is close to the expected one. The two beside it are the closest.
fn is_among(given: &[f64], expected: f64) -> bool {
    let is_close = |given: &f64| (given - expected).abs() <= TOLERANCE * expected.abs();
    let (below, above) = given.split_at(given.partition_point(|given| *given < expected));
    below.last().is_some_and(is_close) || above.first().is_some_and(is_close)
}

/// The numbers written in digits, in English notation, in their order.
///
/// - `1,234,567.8`: commas part groups of three digits, a point comes before decimals.
/// - `-5` and `−$5`: a minus counts where it does not follow a letter, a digit, `%` or a closing bracket, so that
///   `1990-95` is 1990 and 95. Brackets do not make a number negative.
/// - `$1.2 million`, `3bn`, `3 mn`: the words thousand, million, billion and trillion multiply, and so do `mn`, `bn` and `tn`.
/// - `5k`, `2M`, `7B`: `k`, `K`, `M` and `B` multiply right after the digits. Next to a currency sign any of `k`, `m`, `b`
///   and `t` does in either case, and all but `t` after a space too: `$1.2B`, `$5m`, `2 M €`. Without a sign `5m` is a length.
/// - `12%` is 12, like `12 percent`; currency signs and units do not matter.
/// - `1.2.3` is 1, 2 and 3, as are the parts of a date. `3rd` is 3.
/// - Digits after a letter belong to a name (`Q3`, `B12`) and are not numbers; number words are not numbers either.
pub fn numbers(text: &str) -> Vec<f64> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_digit(text, at) {
        let written = WrittenNumber::at(text, start);
        at = written.end;
        if !in_a_name(text, start) {
            found.extend(written.value(text, start));
        }
    }
    found
}

fn next_digit(text: &str, from: usize) -> Option<usize> {
    text[from..]
        .find(|letter: char| letter.is_ascii_digit())
        .map(|offset| from + offset)
}

fn in_a_name(text: &str, start: usize) -> bool {
    let before = text[..start].chars().next_back();
    before.is_some_and(|letter| letter.is_alphabetic() || letter == '_')
}

/// A number in digits, as written.
struct WrittenNumber {
    digits: String,
    end: usize,
}

impl WrittenNumber {
    fn at(text: &str, start: usize) -> Self {
        let mut digits = String::new();
        let mut end = start;
        take_digits(text, &mut end, &mut digits);
        if digits.len() <= 3 {
            while is_group(&text[end..]) {
                end += 1;
                take_digits(text, &mut end, &mut digits);
            }
        }
        if is_decimals(&text[end..]) && !text[..start].ends_with('.') {
            end += 1;
            digits.push('.');
            take_digits(text, &mut end, &mut digits);
        }
        Self { digits, end }
    }

    fn value(&self, text: &str, start: usize) -> Option<f64> {
        let point = if follows_bare_point(&text[..start]) {
            "0."
        } else {
            ""
        };
        let number: f64 = format!("{point}{}", self.digits).parse().ok()?;
        let sign = if is_negative(&text[..start]) {
            -1.0
        } else {
            1.0
        };
        Some(sign * number * magnitude(&text[..start], &text[self.end..]))
    }
}

fn take_digits(text: &str, end: &mut usize, digits: &mut String) {
    let rest = &text[*end..];
    let length = leading_digits(rest);
    digits.push_str(&rest[..length]);
    *end += length;
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a comma and exactly three digits follow.
fn is_group(rest: &str) -> bool {
    rest.strip_prefix(',')
        .is_some_and(|rest| leading_digits(rest) == 3)
}

/// Whether a point and digits follow, and not another point with digits after those.
fn is_decimals(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|rest| {
        let digits = leading_digits(rest);
        let next = rest[digits..].strip_prefix('.');
        digits > 0 && next.is_none_or(|next| leading_digits(next) == 0)
    })
}

/// Whether a decimal point without digits before it precedes, as in `.5`.
fn follows_bare_point(before: &str) -> bool {
    let before = before.strip_suffix('.');
    before.is_some_and(|before| !before.ends_with(|letter: char| letter.is_alphanumeric()))
}

/// Whether a minus comes before the number, ignoring currency signs between them.
fn is_negative(before: &str) -> bool {
    let before = before.trim_end_matches(CURRENCIES);
    let Some(before) = before.strip_suffix(['-', '−']) else {
        return false;
    };
    let last = before.chars().next_back();
    !last.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, ')' | ']' | '%'))
}

/// The factor of a word or letter after the digits.
fn magnitude(before: &str, rest: &str) -> f64 {
    let attached = word(rest);
    let separated = rest.strip_prefix(BLANKS);
    let separate = word(separated.unwrap_or_default());
    let spelled = match attached {
        "" => word(rest.strip_prefix('-').or(separated).unwrap_or_default()),
        attached => attached,
    };
    if let Some(factor) = spelled_magnitude(&spelled.to_lowercase()) {
        return factor;
    }
    match attached {
        "k" | "K" => 1e3,
        "M" => 1e6,
        "B" => 1e9,
        "m" | "b" | "t" | "T" if is_money(before, &rest[attached.len()..]) => letter(attached),
        "" if separated.is_some_and(|rest| stands_alone(separate, rest, before)) => {
            letter(separate)
        }
        _ => 1.0,
    }
}

fn spelled_magnitude(word: &str) -> Option<f64> {
    match word {
        "thousand" => Some(1e3),
        "million" | "mn" => Some(1e6),
        "billion" | "bn" => Some(1e9),
        "trillion" | "tn" => Some(1e12),
        _ => None,
    }
}

/// The factor of a letter beside a currency sign.
fn letter(letter: &str) -> f64 {
    match letter {
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "b" | "B" => 1e9,
        "t" | "T" => 1e12,
        _ => 1.0,
    }
}

/// Whether a letter after a space belongs to an amount of money, rather than to a word such as `b-side`.
fn stands_alone(letter: &str, rest: &str, before: &str) -> bool {
    let after = &rest[letter.len()..];
    matches!(letter, "k" | "K" | "m" | "M" | "b" | "B")
        && !after.starts_with(['-', '\'', '’', '&', '/'])
        && is_money(before, after)
}

/// Whether a currency sign comes before the number or after its letter.
fn is_money(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['-', '−']);
    let before = before.strip_suffix(BLANKS).unwrap_or(before);
    let after = after.strip_prefix(BLANKS).unwrap_or(after);
    before.ends_with(CURRENCIES) || after.starts_with(CURRENCIES)
}

fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations() {
        let cases: [(&str, &[f64]); 16] = [
            ("none at all", &[]),
            ("1,234,567.8 people", &[1_234_567.8]),
            ("12,34 and 1,2345", &[12.0, 34.0, 1.0, 2345.0]),
            ("-5 °C, −7 °C, 3-4", &[-5.0, -7.0, 3.0, 4.0]),
            ("1990-95, x-1", &[1990.0, 95.0, 1.0]),
            ("-$20 ($20)", &[-20.0, 20.0]),
            ("$1.2 million", &[1_200_000.0]),
            ("3bn, 5k, 5 K, 2M and 7 m", &[3e9, 5e3, 5.0, 2e6, 7.0]),
            ("a 2-million-euro plan", &[2e6]),
            ("12% or 12.5 percent", &[12.0, 12.5]),
            ("version 1.2.3.", &[1.0, 2.0, 3.0]),
            ("on 2024-05-01", &[2024.0, 5.0, 1.0]),
            ("the 3rd, in 2.", &[3.0, 2.0]),
            ("Q3, B12 and x_1", &[]),
            ("0.5, .5, a.5", &[0.5, 0.5, 5.0]),
            ("12:30", &[12.0, 30.0]),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_multiply_amounts_of_money() {
        let cases: [(&str, &[f64]); 9] = [
            ("$1.2B, $5m and $-3b", &[1.2e9, 5e6, -3e9]),
            ("3mn, 4 mn, 2tn, 7B", &[3e6, 4e6, 2e12, 7e9]),
            ("$2 M, 2 M €, $2 k.", &[2e6, 2e6, 2e3]),
            ("5m€, ₹2T, £ 3m", &[5e6, 2e12, 3e6]),
            ("5m or 5 m, 3b, 2 M, 4 t", &[5.0, 5.0, 3.0, 2.0, 4.0]),
            ("$5 a month, $20 t-shirts, $3 b-sides", &[5.0, 20.0, 3.0]),
            ("$5 more, $5mile, $5 t", &[5.0, 5.0, 5.0]),
            ("$1.2B-a-year, a $3-million plan", &[1.2e9, 3e6]),
            ("$5, 6 m", &[5.0, 6.0]),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text), expected, "{text}");
        }
        assert_eq!(all_found("about $1.2B", "1.2 billion"), Some(true));
        assert_eq!(all_found("5m deep", "5 million"), Some(false));
    }

    #[test]
    fn every_number_of_the_reference_is_needed() {
        assert_eq!(all_found("42 of 100", "100 and 42"), Some(true));
        assert_eq!(all_found("42", "100 and 42"), Some(false));
        assert_eq!(all_found("forty-two", "42"), Some(false));
        assert_eq!(all_found("42", "forty-two"), None);
    }

    #[test]
    fn one_percent_off_is_close_enough() {
        assert_eq!(all_found("101", "100"), Some(true));
        assert_eq!(all_found("99", "100"), Some(true));
        assert_eq!(all_found("101.1", "100"), Some(false));
        assert_eq!(all_found("1.19 million", "1,200,000"), Some(true));
        assert_eq!(all_found("0.001", "0"), Some(false));
        assert_eq!(all_found("-0", "0"), Some(true));
        assert_eq!(all_found("5", "-5"), Some(false));
    }
}

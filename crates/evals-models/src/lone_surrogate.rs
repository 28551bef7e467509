//! JSON with escapes for half a character.

use std::borrow::Cow;

/// The escape of the replacement character. It is as long as the escape that it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// Replaces each escape for half a character, such as `\ud83d` alone, by `\ufffd`.
///
/// Servers that cut a text between two tokens write such halves, and a JSON parser refuses the whole text because of one.
///
/// ```
/// use evals_models::without_lone_surrogates;
///
/// assert_eq!(without_lone_surrogates(r#""\ud83d\ude00 \ud83d""#), r#""\ud83d\ude00 \ufffd""#);
/// ```
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match unit(json, escape) {
            Some(0xD800..0xDC00) if matches!(unit(json, escape + 6), Some(0xDC00..0xE000)) => {
                escape + 12
            }
            Some(0xD800..0xE000) => {
                repaired.push_str(&json[kept..escape]);
                repaired.push_str(REPLACEMENT);
                kept = escape + REPLACEMENT.len();
                kept
            }
            Some(_) => escape + 6,
            // The escaped character may be a backslash, or have several bytes.
            None => json.ceil_char_boundary(escape + 2),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    repaired.push_str(&json[kept..]);
    Cow::Owned(repaired)
}

/// The number in an escape such as `\u00e9`, if one starts here.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok()?;
    hexadecimal.then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        let cases = [
            (r"\ud800", r"\ufffd"),
            (r"\uDFFF\uD800", r"\ufffd\ufffd"),
            (r"\ud83d\ud83d\ude00\ude00", r"\ufffd\ud83d\ude00\ufffd"),
            (r"a\ud800b\ud800é", r"a\ufffdb\ufffdé"),
            (r"\\\ud800", r"\\\ufffd"),
        ];
        for (text, repaired) in cases {
            assert_eq!(without_lone_surrogates(text), repaired, "{text}");
        }
        for text in [
            "",
            "é",
            r"\\ud800",
            r"\u00e9\n\é\",
            r"\ud8",
            r"\u+800",
            r"\ud83d\ude00",
        ] {
            assert!(
                matches!(without_lone_surrogates(text), Cow::Borrowed(_)),
                "{text}"
            );
        }
    }
}

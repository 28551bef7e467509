use std::borrow::Cow;

/// The escape of the replacement character, as long as the one that it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// A JSON text whose escapes all stand for characters: one for half a character (`\ud83d` alone) becomes `\ufffd`.
///
/// Servers that cut texts between two tokens write such halves, and parsers of JSON refuse the whole text for one of them.
///
/// ```
/// use evals_models::without_lone_surrogates;
///
/// assert_eq!(without_lone_surrogates(r#""\ud83d\ude00 \ud83d""#), r#""\ud83d\ude00 \ufffd""#);
/// ```
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match unit(json, escape) {
            Some(0xD800..0xDC00) if matches!(unit(json, escape + 6), Some(0xDC00..0xE000)) => {
                escape + 12
            }
            Some(0xD800..0xE000) => {
                mended.push_str(&json[kept..escape]);
                mended.push_str(REPLACEMENT);
                kept = escape + REPLACEMENT.len();
                kept
            }
            Some(_) => escape + 6,
            // What is escaped may be a backslash, or begin a character of several bytes, which has none.
            None => json.ceil_char_boundary(escape + 2),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[kept..]);
    Cow::Owned(mended)
}

/// The number in an escape such as `\u00e9`, if there is one at this place.
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
        for (text, mended) in cases {
            assert_eq!(without_lone_surrogates(text), mended, "{text}");
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

//! The texts that a prompt shows to a model, and a search for possible copies from them.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// How many levels of escapes inside escapes are read. With deeper ones, any object counts as a possible copy.
const MOST_READINGS: usize = 16;

/// The texts that a prompt shows to a model, and the nonce of the delimiters around them.
///
/// They are kept as lower-case letters, digits and ASCII punctuation without white space, a form that does not depend on
/// spacing, quotes or escapes. There is one reading for each level of escapes. This finds JSON inside a string inside JSON
/// without parsing, at any depth of nesting.
#[derive(Debug)]
pub struct Shown {
    nonce: String,
    readings: Vec<String>,
    /// The same readings with words separated, to find whole words.
    words: Vec<String>,
    /// Whether all levels of escapes were read.
    legible: bool,
}

impl Shown {
    /// Reads the texts, and makes a nonce that none of them contains.
    pub fn new(texts: &[&str]) -> Self {
        let (mut readings, mut words) = (Vec::new(), Vec::new());
        let mut legible = true;
        for text in texts {
            legible &= read(text, |level| {
                readings.push(folded(level));
                words.push(spaced(level));
            });
        }
        Self {
            nonce: nonce(texts, &readings),
            readings,
            words,
            legible,
        }
    }

    /// The word of the delimiters, which no text contains in any spelling.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Whether all of the texts could be read: only then does a failed search prove absence.
    pub fn is_legible(&self) -> bool {
        self.legible
    }

    /// Whether the texts have `word`, by itself or as a name: `they pass`, `<pass>`, `&quot;pass&quot;`, `p a s s: 1`.
    pub fn mentions(&self, word: &str) -> bool {
        self.has_key(word) || self.words.iter().any(|text| has_word(text, word))
    }

    /// Whether the texts use `key` as a name, as in `"key": 1`, `key=1` and `{\"key\": …`.
    fn has_key(&self, key: &str) -> bool {
        self.after_key(key).next().is_some()
    }

    /// The numbers after `key` wherever the texts use it as a name, up to the next word.
    pub(crate) fn numbers_under<'a>(&'a self, key: &'a str) -> impl Iterator<Item = Vec<f64>> + 'a {
        self.after_key(key).map(numbers)
    }

    /// The text after `key` and its punctuation.
    fn after_key<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let found = move |reading: &'a String| {
            let places = reading.match_indices(key);
            places.filter_map(move |(at, _)| {
                let after = &reading[at + key.len()..];
                let value = after.trim_start_matches(|letter: char| !letter.is_alphanumeric());
                let between = &after[..after.len() - value.len()];
                between.contains([':', '=']).then_some(value)
            })
        };
        self.readings.iter().flat_map(found)
    }
}

/// Passes a text to `take` once for each level of escapes. Returns whether all levels were read.
fn read(text: &str, mut take: impl FnMut(&str)) -> bool {
    let mut level = text.to_owned();
    for _ in 0..MOST_READINGS {
        take(&level);
        if !level.contains('\\') {
            return true;
        }
        level = unescaped(&level);
    }
    false
}

/// A text without spacing and with equivalent characters made equal.
fn folded(text: &str) -> String {
    plain(text)
        .filter(|letter| letter.is_alphanumeric() || letter.is_ascii_punctuation())
        .collect()
}

/// The same with a space for everything that is not a letter.
fn spaced(text: &str) -> String {
    plain(text)
        .filter(|letter| !is_invisible(*letter))
        .map(|letter| if letter.is_alphabetic() { letter } else { ' ' })
        .collect()
}

/// The characters of a text, in lower case and compatibility form.
fn plain(text: &str) -> impl Iterator<Item = char> + '_ {
    let small = text.nfkd().flat_map(char::to_lowercase);
    small.filter(|letter| !is_filler(*letter))
}

/// Hangul fillers: letters that are invisible.
fn is_filler(letter: char) -> bool {
    matches!(letter, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

/// Combining marks and zero-width characters, which do not separate words.
fn is_invisible(letter: char) -> bool {
    is_combining_mark(letter)
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn has_word(spaced: &str, word: &str) -> bool {
    spaced.split(' ').any(|found| found == word)
}

/// Replaces all JSON escapes in `text`. An escape without a character is dropped.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut letters = rest.chars();
        match letters.next() {
            Some('u') => {
                let (letter, after) = unicode(letters.as_str());
                plain.extend(letter);
                rest = after;
            }
            Some('n' | 't' | 'r' | 'b' | 'f') => {
                plain.push(' ');
                rest = letters.as_str();
            }
            Some(letter) => {
                plain.push(letter);
                rest = letters.as_str();
            }
            None => {}
        }
    }
    plain.push_str(rest);
    plain
}

/// The character of a `\u` escape or of a surrogate pair, and the rest of the text.
fn unicode(text: &str) -> (Option<char>, &str) {
    let Some((first, rest)) = unit(text) else {
        return (Some('u'), text);
    };
    if let Some((second, after)) = rest.strip_prefix("\\u").and_then(unit)
        && let Some(Ok(letter)) = char::decode_utf16([first, second]).next()
        && letter.len_utf16() == 2
    {
        return (Some(letter), after);
    }
    (char::from_u32(u32::from(first)), rest)
}

fn unit(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok()?;
    hexadecimal.then_some((unit, rest))
}

/// The numbers at the start of a folded text, separated only by punctuation.
fn numbers(text: &str) -> Vec<f64> {
    let mut numbers = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_punctuation());
        let length = number(rest);
        let Ok(number) = rest[..length].parse() else {
            return numbers;
        };
        numbers.push(number);
        rest = &rest[length..];
    }
}

/// The length of the number that a text begins with.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        let digits = text[from..].bytes().take_while(u8::is_ascii_digit);
        from + digits.count()
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if end > 0 && text[end..].starts_with('e') {
        let signed = end + 1 + usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(signed);
        if exponent > signed {
            end = exponent;
        }
    }
    end
}

/// Hexadecimal digits of a nonce: 64 bits.
const DIGITS: usize = 16;

/// Returns a word for delimiters and replies that none of the `readings` of `texts` contains.
///
/// The nonce comes from the SHA-256 of the texts. The same texts therefore give the same prompt, and a stored reply is found
/// again, but a text cannot easily contain a nonce that depends on the text itself. If one does, by chance or by search, a
/// counter in the hash changes the nonce until it fits.
fn nonce(texts: &[&str], readings: &[String]) -> String {
    let content = texts_hash(texts);
    let candidates = (0_u64..).map(|counter| {
        let digest = content
            .clone()
            .chain_update(counter.to_le_bytes())
            .finalize();
        let mut nonce = hex::encode(digest);
        nonce.truncate(DIGITS);
        nonce
    });
    first_unused(candidates, readings)
}

/// The hash of texts. The length comes before each text, so moving a letter from one text to the next changes it.
pub(crate) fn texts_hash(texts: &[&str]) -> Sha256 {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash
}

fn first_unused(mut candidates: impl Iterator<Item = String>, readings: &[String]) -> String {
    candidates
        .find(|nonce| !readings.iter().any(|text| text.contains(nonce.as_str())))
        .expect("a text of finite length does not contain all nonces")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_any_spelling() {
        for text in [
            "They pass.",
            "PASS",
            r#"{"pass": true}"#,
            r#"{\"p\u0061ss\": 1}"#,
            "&quot;pass&quot;:true",
            "%22pass%22%3Atrue",
            r#""pass"/*c*/:true"#,
            "<pass>true</pass>",
            "| pass | true |",
            r"so\npass\ttrue",
            "p a s s: true",
            "pa\u{3164}ss true",
            "pa\u{200b}ss true",
            "pa\u{ad}ss",
            "ｐａｓｓ",
            "pass2",
        ] {
            assert!(Shown::new(&[text]).mentions("pass"), "{text}");
        }
        for text in [
            "a passage",
            "a bypass, by compass",
            "tapas salad",
            "pas",
            "",
        ] {
            assert!(!Shown::new(&[text]).mentions("pass"), "{text}");
        }
        assert!(!Shown::new(&["pa", "ss"]).mentions("pass"));
    }

    #[test]
    fn a_key_needs_a_value() {
        for text in [
            r#"{"pass": true}"#,
            r#"{\"pass\" : false}"#,
            "pass=1",
            "'PASS' => yes",
            r#"{"p\u0061ss": true}"#,
        ] {
            assert!(Shown::new(&[text]).has_key("pass"), "{text}");
        }
        for text in ["they pass true tests: all", "a passage: one", "pass"] {
            assert!(!Shown::new(&[text]).has_key("pass"), "{text}");
        }
    }

    #[test]
    fn numbers_are_read_in_any_spelling() {
        let under = |text: &str| -> Vec<Vec<f64>> {
            Shown::new(&[text]).numbers_under("ranking").collect()
        };
        assert_eq!(
            under(r#"{"ranking": [3, 1.0, 2e0, 1E+1]} or "ranking": no"#),
            [vec![3.0, 1.0, 2.0, 10.0], vec![]]
        );
        assert_eq!(
            under(r#""{\"ranking\":[\"3\"]}""#),
            [vec![3.0], vec![3.0]],
            "once for each level"
        );
        assert_eq!(under("a ranking of 3: 1"), Vec::<Vec<f64>>::new());
    }

    #[test]
    fn endless_escapes_are_not_followed() {
        let shown = Shown::new(&[&format!("{}x", "\\".repeat(1 << 20))]);
        assert!(!shown.is_legible());
        assert!(Shown::new(&[r"C:\\\\x \q \ud800 \"]).is_legible());
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(unescaped(r#"\"\\\u0041\ud83d\ude00\n\/"#), "\"\\A😀 /");
        assert_eq!(
            unescaped(r"\ud800\u0041 \udc00 \u00e \u+123 \"),
            "A  u00e u+123 "
        );
    }

    #[test]
    fn equal_texts_have_equal_nonces_and_different_texts_different_ones() {
        let of = |texts: &[&str]| nonce(texts, &[]);
        assert_eq!(of(&["why?", "so"]), of(&["why?", "so"]));
        assert_ne!(of(&["why?", "so"]), of(&["why?s", "o"]));
        assert_ne!(of(&["why?", "so"]), of(&["so", "why?"]));
        assert_eq!(of(&["why?"]).len(), 16);
    }

    #[test]
    fn a_nonce_that_occurs_in_the_text_is_not_used() {
        let candidates = ["aa", "bb", "cc"].map(str::to_owned).into_iter();
        let readings = ["xaax", "bb"].map(str::to_owned);
        assert_eq!(first_unused(candidates, &readings), "cc");
    }
}

//! Texts as matching compares them: normalised, and as runs of 8 words.

use evals_metrics::as_f64;
use unicode_normalization::UnicodeNormalization as _;

use crate::Document;

/// Words of a shingle.
pub(super) const SHINGLE: usize = 8;

/// The text in NFKC and lower case, with one blank in place of any white space and none at its ends.
pub(super) fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    let lower = text.nfkc().flat_map(char::to_lowercase);
    let mut gap = false;
    for character in lower {
        if character.is_whitespace() {
            gap = !normalized.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            normalized.push(' ');
        }
        normalized.push(character);
    }
    normalized
}

/// A document's normalised text with its title at the beginning, and where it goes on after the title.
pub(super) fn with_title(document: &Document) -> (String, usize) {
    let text = normalize(&document.text);
    let title = document.title.as_deref().map(normalize).unwrap_or_default();
    if title.is_empty() {
        return (text, 0);
    }
    match text.strip_prefix(&title) {
        Some(body) if body.starts_with(' ') => (text, title.len() + 1),
        Some(_) => (text, 0),
        None => (format!("{title} {text}"), title.len() + 1),
    }
}

/// Hashes of all runs of [`SHINGLE`] words of a normalised text, in order. Punctuation separates words and is not part of them.
pub(super) fn shingles(normalized: &str) -> Vec<u64> {
    let words: Vec<u64> = words(normalized).map(hash).collect();
    let runs = words.windows(SHINGLE);
    runs.map(|run| {
        let joined = run.iter().fold(0_u64, |joined, word| {
            joined
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(*word)
        });
        mix(joined)
    })
    .collect()
}

/// The share of a text's shingles that another text has.
pub(super) fn share(shared: usize, of: usize) -> f64 {
    as_f64(shared) / as_f64(of)
}

/// Whether a text has at least one word, but fewer than a shingle.
pub(super) fn is_short(text: &str) -> bool {
    let normalized = normalize(text);
    !normalized.is_empty() && words(&normalized).nth(SHINGLE - 1).is_none()
}

/// The words of a text. Scripts that write no blanks between words have one word for each character.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|character: char| !character.is_alphanumeric());
    runs.filter(|run| !run.is_empty()).flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = if stands_alone(first) {
                first.len_utf8()
            } else {
                rest.find(stands_alone).unwrap_or(rest.len())
            };
            let (word, others) = rest.split_at(end);
            rest = others;
            Some(word)
        })
    })
}

/// Whether a character is of a script without blanks between words: Han, Kana, Thai, Lao, Khmer and Burmese.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// FNV-1a.
fn hash(word: &str) -> u64 {
    let hash = word.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mix(hash)
}

/// The finalizer of `SplitMix64`, so that all bits depend on all words.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_ligatures_and_white_space_make_no_difference() {
        assert_eq!(
            normalize("  The\u{a0}ﬁrst\r\n\tＬＩＮＥ "),
            "the first line"
        );
        assert_eq!(normalize("\n "), "");
    }

    #[test]
    fn shingles_are_runs_of_eight_words_without_punctuation() {
        assert_eq!(shingles("one two three four five six seven").len(), 0);
        let plain = shingles("one two three four five six seven eight nine");
        assert_eq!(plain.len(), 2);
        assert_eq!(
            plain,
            shingles("one, two - three (four) five: six; seven. eight! nine?")
        );
        assert_ne!(
            plain,
            shingles("two one three four five six seven eight nine")
        );
    }

    #[test]
    fn a_script_without_blanks_has_one_word_for_each_character() {
        let text = normalize("検索エンジンの評価 v2 を行う");
        let words: Vec<&str> = words(&text).collect();
        assert_eq!(words.len(), "検索エンジンの評価を行う".chars().count() + 1);
        assert!(words.contains(&"v2"));
    }
}

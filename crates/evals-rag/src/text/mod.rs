//! Pure functions of texts: exact match, token F1, ROUGE-L, alignments, numbers, sentences, words.

pub mod alignment;
pub mod numbers;
pub mod rouge;
mod sentence;
pub mod squad;

use std::collections::BTreeSet;

pub use sentence::sentences;

/// Words of English that say little about what a sentence is about.
const STOP_WORDS: &str = "a about above after again all also and any are as at be been being below between both but by can \
    could did do does down each for from had has have he her here him his how i if in into is it its just many may me might \
    more most must my no not of off on only or other our out over own per same shall she should so some such than that the \
    their them then there these they this those to too under until up very was we were what when where which who whom whose \
    why will with would you your";

/// The harmonic mean of precision and recall; 0 if both are 0.
pub fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

/// The words of a text in order: runs of letters and digits in lower case.
pub fn words_in_order(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// The distinct words of a text.
pub fn words(text: &str) -> BTreeSet<String> {
    words_in_order(text).collect()
}

/// The words of a text without the most usual words of English; all words if it has no others, such as `No`.
pub fn content_words(text: &str) -> BTreeSet<String> {
    let all = words(text);
    let is_stop_word = |word: &str| STOP_WORDS.split_whitespace().any(|stop| stop == word);
    let content: BTreeSet<_> = all.iter().filter(|word| !is_stop_word(word)).collect();
    if content.is_empty() {
        all
    } else {
        content.into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_is_the_harmonic_mean() {
        // 2 · 0.5 · 0.25 / 0.75.
        assert!((f1(0.5, 0.25) - 1.0 / 3.0).abs() < 1e-15);
        assert!(f1(0.0, 0.0).abs() < 1e-15);
    }

    #[test]
    fn usual_words_are_left_out_unless_there_are_no_others() {
        let content = |text| Vec::from_iter(content_words(text)).join(" ");
        assert_eq!(content("It is in the Reed bed, at 9."), "9 bed reed");
        assert_eq!(content("Not at all"), "all at not");
        assert_eq!(content("…"), "");
    }
}

//! `SQuAD`'s measures: exact match and token F1.
//!
//! Source: Rajpurkar et al., the paper on `SQuAD` (2016, arXiv 1606.05250), and the evaluation
//! script of `SQuAD` 2.0, whose normalisation and rule for texts without words these functions share.

use std::collections::BTreeMap;

use super::f1;

/// Converts to lower case, removes ASCII punctuation and the articles `a`, `an` and `the`, and makes white space single
/// spaces.
pub fn normalize(text: &str) -> String {
    let letters = text.to_lowercase();
    let letters: String = letters
        .chars()
        .filter(|letter| !letter.is_ascii_punctuation())
        .collect();
    let words = without_articles(&letters);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces each article with a space.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let is_word = letter.is_alphanumeric();
        let end = rest
            .find(|letter: char| letter.is_alphanumeric() != is_word)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        kept.push_str(if matches!(run, "a" | "an" | "the") {
            " "
        } else {
            run
        });
        rest = after;
    }
    kept
}

/// Whether the two texts are equal once normalised.
pub fn exact_match(answer: &str, reference: &str) -> bool {
    normalize(answer) == normalize(reference)
}

/// The harmonic mean of precision and recall of the words, counted with repetitions.
///
/// ```text
/// F1 = 2 · common / (words of the answer + words of the reference)
/// ```
///
/// If either text has no words, it is 1 if both have none, else 0, as in `SQuAD` 2.0.
pub fn token_f1(answer: &str, reference: &str) -> f64 {
    let (answer, reference) = (normalize(answer), normalize(reference));
    let (answer_words, reference_words) = (counted(&answer), counted(&reference));
    let words = |counted: &BTreeMap<&str, u32>| counted.values().sum::<u32>();
    let (ours, theirs) = (words(&answer_words), words(&reference_words));
    if ours == 0 || theirs == 0 {
        return f64::from(u8::from(ours == theirs));
    }
    let common = answer_words
        .iter()
        .map(|(word, count)| (*count).min(reference_words.get(word).copied().unwrap_or(0)));
    let common: u32 = common.sum();
    // The script's own formula gives the same last bits.
    let [precision, recall] = [ours, theirs].map(|words| f64::from(common) / f64::from(words));
    f1(precision, recall)
}

fn counted(text: &str) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer, reference, the answer normalised, exact match, F1. From the normalisation and the F1 of the evaluation
    /// script of `SQuAD` 2.0, run with Python 3.
    const REFERENCE: [(&str, &str, &str, bool, f64); 10] = [
        (
            "The Eiffel Tower, in Paris.",
            "the eiffel tower",
            "eiffel tower in paris",
            false,
            0.666_666_666_666_666_6,
        ),
        (
            "It was built in 1889 by Gustave Eiffel's company.",
            "Gustave Eiffel built it between 1887 and 1889.",
            "it was built in 1889 by gustave eiffels company",
            false,
            0.470_588_235_294_117_64,
        ),
        (
            "A cat and the dog and an owl",
            "cat, dog and owl",
            "cat and dog and owl",
            false,
            0.888_888_888_888_889,
        ),
        ("the the the", "a an", "", true, 1.0),
        ("", "Paris", "", false, 0.0),
        (
            "Zürich’s café opened—again",
            "the Zürich café opened again",
            "zürich’s café opened—again",
            false,
            0.285_714_285_714_285_75,
        ),
        (
            "No. It costs $1,200.50 per year!",
            "costs 1200.50 a year",
            "no it costs 120050 per year",
            false,
            0.666_666_666_666_666_6,
        ),
        (
            "to be or not to be",
            "not to be or to be",
            "to be or not to be",
            false,
            1.0,
        ),
        (
            "state-of-the-art re-ranking",
            "state of the art reranking",
            "stateoftheart reranking",
            false,
            0.333_333_333_333_333_3,
        ),
        (
            "München liegt an der Isar",
            "Munich lies on the Isar",
            "münchen liegt der isar",
            false,
            0.25,
        ),
    ];

    #[test]
    fn values_equal_the_squad_script() {
        for (answer, reference, normalized, exact, f1) in REFERENCE {
            assert_eq!(normalize(answer), normalized);
            assert_eq!(exact_match(answer, reference), exact, "{answer}");
            assert_eq!(
                token_f1(answer, reference).to_bits(),
                f64::to_bits(f1),
                "{answer}"
            );
        }
    }

    #[test]
    fn the_measures_are_symmetric() {
        for (answer, reference, ..) in REFERENCE {
            let difference = token_f1(answer, reference) - token_f1(reference, answer);
            assert!(difference.abs() < 1e-15, "{answer}");
        }
    }
}

//! ROUGE-L.

use super::alignment::longest_common_subsequence;
use super::f1;
use crate::call::number;

/// ROUGE-L's F1: the share of both texts that their longest common subsequence of words covers.
///
/// ```text
/// F1 = 2PR / (P + R),  P = common / words of the answer,  R = common / words of the reference
/// ```
///
/// Equals `rougeL` of Google's `rouge_score` with `use_stemmer=False`: words are runs of ASCII letters and digits in lower
/// case. 0 if either text has none.
///
/// Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004).
pub fn rouge_l(answer: &str, reference: &str) -> f64 {
    let (answer, reference) = (answer.to_lowercase(), reference.to_lowercase());
    let (answer, reference) = (words(&answer), words(&reference));
    let common = longest_common_subsequence(&answer, &reference);
    if common == 0 {
        return 0.0;
    }
    let [common, answer, reference] = [common, answer.len(), reference.len()].map(number);
    f1(common / answer, common / reference)
}

/// Whether a text has words that [`rouge_l`] compares.
pub fn has_words(text: &str) -> bool {
    !words(&text.to_lowercase()).is_empty()
}

fn words(lower_case: &str) -> Vec<&str> {
    let words = lower_case.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_equal_rouge_score() {
        // `rouge_score` 0.1.2 with `use_stemmer=False`: answer, reference, F1.
        let cases = [
            (
                "The Eiffel Tower, in Paris.",
                "the eiffel tower",
                0.749_999_999_999_999_9,
            ),
            (
                "It was built in 1889 by Gustave Eiffel's company.",
                "Gustave Eiffel built it between 1887 and 1889.",
                0.222_222_222_222_222_24,
            ),
            (
                "A cat and the dog and an owl",
                "cat, dog and owl",
                0.666_666_666_666_666_6,
            ),
            ("the the the", "a an", 0.0),
            ("", "Paris", 0.0),
            (
                "Zürich’s café opened—again",
                "the Zürich café opened again",
                0.833_333_333_333_333_4,
            ),
            (
                "No. It costs $1,200.50 per year!",
                "costs 1200.50 a year",
                0.461_538_461_538_461_5,
            ),
            (
                "to be or not to be",
                "not to be or to be",
                0.833_333_333_333_333_4,
            ),
            (
                "state-of-the-art re-ranking",
                "state of the art reranking",
                0.727_272_727_272_727_2,
            ),
            (
                "München liegt an der Isar",
                "Munich lies on the Isar",
                0.181_818_181_818_181_8,
            ),
        ];
        for (answer, reference, f1) in cases {
            let difference: f64 = rouge_l(answer, reference) - f1;
            assert!(difference.abs() < 1e-15, "{answer}");
        }
    }

    #[test]
    fn only_ascii_letters_and_digits_are_compared() {
        assert!(has_words("(x)"));
        assert!(!has_words("東京, —"));
        assert!(rouge_l("東京", "東京").abs() < 1e-15);
    }
}

//! Weights of words by their inverse document frequency.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::number;
use crate::text::words;

/// Weights a word by the number of passages that contain it.
///
/// ```text
/// idf = ln(1 + (N − n + 0.5) / (n + 0.5)),  N = passages, n = passages with the word
/// ```
///
/// Source: the inverse document frequency of BM25, as Lucene computes it. It is positive for every word.
#[derive(Debug)]
pub(crate) struct Idf {
    passages: usize,
    with: BTreeMap<String, usize>,
}

impl Idf {
    pub(crate) fn of<'t>(passages: impl IntoIterator<Item = &'t str>) -> Self {
        let mut idf = Self {
            passages: 0,
            with: BTreeMap::new(),
        };
        for passage in passages {
            idf.passages += 1;
            for word in words(passage) {
                *idf.with.entry(word).or_default() += 1;
            }
        }
        idf
    }

    fn weight(&self, word: &str) -> f64 {
        let with = number(self.with.get(word).copied().unwrap_or(0));
        (1.0 + (number(self.passages) - with + 0.5) / (with + 0.5)).ln()
    }

    /// The weighted share of the question's words that occur in `text`, from 0 to 1.
    pub(crate) fn overlap(&self, question: &BTreeSet<String>, text: &str) -> f64 {
        let text = words(text);
        let weigh = |words: &mut dyn Iterator<Item = &String>| -> f64 {
            words.map(|word| self.weight(word)).sum()
        };
        let all = weigh(&mut question.iter());
        if all == 0.0 {
            return 0.0;
        }
        weigh(&mut question.intersection(&text)) / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_weigh_more() {
        let idf = Idf::of(["the cat", "the dog", "the owl"]);
        // ln(1 + 0.5 / 3.5), ln(1 + 2.5 / 1.5), ln(1 + 3.5 / 0.5)
        assert!((idf.weight("the") - 0.133_531_392_624_522_6).abs() < 1e-15);
        assert!((idf.weight("cat") - 0.980_829_253_011_726_2).abs() < 1e-15);
        assert!((idf.weight("eel") - 2.079_441_541_679_835_7).abs() < 1e-15);
        let overlap = idf.overlap(&words("The cat?"), "A CAT!");
        assert!((overlap - 0.980_829_253 / (0.980_829_253 + 0.133_531_393)).abs() < 1e-8);
    }

    #[test]
    fn all_words_overlap_fully_and_none_not_at_all() {
        let idf = Idf::of(["the cat", "the dog"]);
        let question = words("the dog");
        assert!((idf.overlap(&question, "Dog: the.") - 1.0).abs() < 1e-15);
        assert!(idf.overlap(&question, "owl").abs() < 1e-15);
        assert!(idf.overlap(&words("?"), "owl").abs() < 1e-15);
    }
}

//! How diverse the questions of a set are, beside questions of people.

use std::collections::{HashMap, HashSet};

use evals_metrics::{arithmetic_mean, as_f64, quantile};
use evals_rag::text::{content_words, words, words_in_order};
use serde::{Deserialize, Serialize};

use crate::Item;

/// Figures about the diversity of questions. A figure without a value could not be computed: too few questions, or no documents or vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diversity {
    /// The number of questions.
    pub questions: usize,
    /// The quartiles of the numbers of words.
    pub words: Option<[f64; 3]>,
    /// How many of the runs of three words are distinct, as a share. The more questions, the smaller it is, so compare sets of
    /// about the same size.
    pub distinct_trigrams: Option<f64>,
    /// The share of a question's content words that are in its relevant documents, on average.
    pub overlap: Option<f64>,
    /// The mean cosine distance of two questions, from 0 to 2.
    pub spread: Option<f64>,
}

/// The 10 questions of people in the sample of `RepliQA`: `ServiceNow/repliqa` at bc880adc948f. Measured, as those of [`wixqa`], by
/// `cargo test -p evals-data --test it -- questions_of_people --nocapture`; the spread, of the vectors of the embedded model, by the tests of
/// `evals-pipeline`.
pub fn repliqa() -> Diversity {
    Diversity {
        questions: 10,
        words: Some([13.0, 13.5, 14.0]),
        distinct_trigrams: Some(0.9917),
        overlap: Some(0.7605),
        spread: Some(0.6543),
    }
}

/// The 160 questions in the sample of `WixQA` that customers asked and experts answered: `Wix/WixQA` at d662dc42479c.
pub fn wixqa() -> Diversity {
    Diversity {
        questions: 160,
        words: Some([13.0, 18.0, 23.0]),
        distinct_trigrams: Some(0.8362),
        overlap: Some(0.5536),
        spread: Some(0.4192),
    }
}

impl Diversity {
    /// The figures of `items`. `text` gives the text of a document by its id, if there is one; `vectors` are the embeddings of the
    /// questions in their order, or none.
    pub fn of<'t>(
        items: &[Item],
        text: impl Fn(&str) -> Option<&'t str>,
        vectors: &[Vec<f32>],
    ) -> Self {
        let texts = items
            .iter()
            .map(|item| words_in_order(&item.question).collect());
        let texts: Vec<Vec<String>> = texts.collect();
        let mut document_words = HashMap::new();
        let overlaps = items.iter().filter_map(|item| {
            for id in &item.relevant {
                let known = document_words.entry(id.as_str());
                known.or_insert_with(|| text(id).map(words).unwrap_or_default());
            }
            overlap(item, |id, word| document_words[id].contains(word))
        });
        let overlaps: Vec<f64> = overlaps.collect();
        Self {
            questions: items.len(),
            words: quartiles(&texts),
            distinct_trigrams: distinct_trigrams(&texts),
            overlap: arithmetic_mean(&overlaps),
            spread: spread(vectors),
        }
    }

    /// The figures by name; those that could not be computed are `None`.
    pub fn figures(&self) -> [(&'static str, Option<String>); 5] {
        let decimals = |value: Option<f64>| value.map(|value| format!("{value:.2}"));
        let words = self
            .words
            .map(|words| words.map(|it| it.to_string()).join(" / "));
        [
            ("questions", Some(self.questions.to_string())),
            ("words (quartiles)", words),
            (
                "distinct runs of three words",
                decimals(self.distinct_trigrams),
            ),
            ("words that are in the documents", decimals(self.overlap)),
            ("mean cosine distance of two", decimals(self.spread)),
        ]
    }
}

fn quartiles(texts: &[Vec<String>]) -> Option<[f64; 3]> {
    let mut lengths: Vec<f64> = texts.iter().map(|words| as_f64(words.len())).collect();
    lengths.sort_by(f64::total_cmp);
    let of = |q| quantile(&lengths, q);
    Some([of(0.25)?, of(0.5)?, of(0.75)?])
}

fn distinct_trigrams(texts: &[Vec<String>]) -> Option<f64> {
    let all = || texts.iter().flat_map(|words| words.windows(3));
    let distinct = all().collect::<HashSet<_>>().len();
    let count = all().count();
    (count > 0).then(|| as_f64(distinct) / as_f64(count))
}

/// The share of a question's content words that a relevant document holds; `None` for a question without one.
fn overlap(item: &Item, holds: impl Fn(&str, &str) -> bool) -> Option<f64> {
    let content = content_words(&item.question);
    if item.relevant.is_empty() || content.is_empty() {
        return None;
    }
    let is_held = |word: &&String| item.relevant.iter().any(|id| holds(id, word));
    Some(as_f64(content.iter().filter(is_held).count()) / as_f64(content.len()))
}

/// The mean of 1 - cos over all pairs, in time proportional to the number of vectors: the sum of all cosines is the squared length of the sum
/// of the unit vectors. `None` for fewer than two vectors, and if one has no direction or a different dimension.
fn spread(vectors: &[Vec<f32>]) -> Option<f64> {
    let count = as_f64(vectors.len());
    let mut sum = vec![0.0; vectors.first()?.len()];
    for vector in vectors {
        let squares = vector.iter().map(|it| f64::from(*it) * f64::from(*it));
        let length = squares.sum::<f64>().sqrt();
        if vector.len() != sum.len() || !length.is_normal() {
            return None;
        }
        for (sum, value) in sum.iter_mut().zip(vector) {
            *sum += f64::from(*value) / length;
        }
    }
    let cosines = sum.iter().map(|it| it * it).sum::<f64>() - count;
    (vectors.len() > 1).then(|| 1.0 - cosines / (count * (count - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn item(id: &str, question: &str, kind: Kind) -> Item {
        Item {
            relevant: vec!["d".to_owned()],
            ..Item::new(id, question, kind)
        }
    }

    #[test]
    fn figures_worked_by_hand() {
        let items = [
            item("1", "How do I open the harbour gate?", Kind::Procedure),
            item("2", "How do I open the ferry door?", Kind::Procedure),
            item("3", "Ferry times in winter", Kind::Keywords),
            item("4", "Who opens it?", Kind::SingleFact),
        ];
        let vectors = [vec![1.0, 0.0], vec![0.0, 2.0], vec![-3.0, 0.0]];
        let text = |id: &str| (id == "d").then_some("The ferry opens the harbour.");
        let found = Diversity::of(&items, text, &vectors);
        // 3, 4, 7 and 7 words.
        assert_eq!(found.words, Some([3.75, 5.5, 7.0]));
        // 5 + 5 + 2 + 1 trigrams, of which "how do i", "do i open" and "i open the" come twice.
        assert_eq!(found.distinct_trigrams, Some(10.0 / 13.0));
        // open harbour gate: 1 of 3; open ferry door: 1 of 3; ferry times winter: 1 of 3; opens: 1 of 1.
        assert!((found.overlap.unwrap() - 0.5).abs() < 1e-12);
        // Distances 1, 1 and 2.
        assert!((found.spread.unwrap() - 4.0 / 3.0).abs() < 1e-12);
        let figures = found.figures();
        assert_eq!(figures[1].1.as_deref(), Some("3.75 / 5.5 / 7"));
    }

    #[test]
    fn nothing_is_not_zero() {
        let nothing = Diversity::of(&[], |_| None, &[]);
        assert_eq!(
            (nothing.words, nothing.overlap, nothing.spread),
            (None, None, None)
        );
        assert_eq!(nothing.distinct_trigrams, None);
        assert_eq!(spread(&[vec![1.0], vec![0.0]]), None);
        assert_eq!(spread(&[vec![1.0], vec![1.0, 0.0]]), None);
    }
}

//! Nearly the same questions.

use std::collections::{BTreeSet, HashMap, HashSet};

use evals_metrics::as_f64;
use evals_rag::text::{content_words, words};

/// The Jaccard index of content words from which two questions are the same. Of 12,720 pairs of `WixQA`'s expert questions three reach it,
/// at 0.67 to 0.85: two ask the same in other words, and one exchanges "business" for "individual". All other pairs have at most 0.44.
const LEAST: f64 = 0.6;

/// Words that make a difference although they carry no content: "when was it founded" is not "who founded it".
const ASKING: [&str; 9] = [
    "who", "whom", "whose", "when", "where", "why", "how", "not", "without",
];

/// The questions so far, found by their words.
#[derive(Debug, Default)]
pub(super) struct Questions {
    kept: Vec<Question>,
    numbers: HashMap<String, usize>,
    /// The questions that hold a word, by the word's number.
    holding: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Question {
    id: String,
    text: String,
    /// The numbers of its content words.
    content: HashSet<usize>,
    telling: BTreeSet<String>,
}

impl Questions {
    /// Adds a question.
    pub(super) fn add(&mut self, id: &str, text: &str) {
        let mut content = HashSet::new();
        for word in content_words(text) {
            let next = self.holding.len();
            let number = *self.numbers.entry(word).or_insert(next);
            if number == next {
                self.holding.push(Vec::new());
            }
            self.holding[number].push(self.kept.len());
            content.insert(number);
        }
        self.kept.push(Question {
            id: id.to_owned(),
            text: text.to_owned(),
            content,
            telling: telling(text),
        });
    }

    /// The id and the text of the question that is nearest to `text`, if it is nearly the same; of equally near ones the first.
    pub(super) fn similar(&self, text: &str) -> Option<(&str, &str)> {
        let telling = telling(text);
        let content = content_words(text);
        let length = content.len();
        let known = content.iter().filter_map(|word| self.numbers.get(word));
        let known: Vec<usize> = known.copied().collect();
        let mut nearest: Option<(f64, &Question)> = None;
        for place in self.candidates(&known, length) {
            let question = &self.kept[place];
            if question.telling != telling {
                continue;
            }
            let is_shared = |number: &&usize| question.content.contains(number);
            let shared = known.iter().filter(is_shared).count();
            let index = as_f64(shared) / as_f64(question.content.len() + length - shared);
            if index >= LEAST && nearest.is_none_or(|(best, _)| index > best) {
                nearest = Some((index, question));
            }
        }
        nearest.map(|(_, question)| (question.id.as_str(), question.text.as_str()))
    }

    /// The questions that can reach the least index with a text of `length` words of which these are `known`, in order. Such a question shares
    /// a share of [`LEAST`] of the words, so it holds one of the rarest few, whose lists are short: the prefix filter of Bayardo, Ma and
    /// Srikant, "Scaling up all pairs similarity search" (2007).
    fn candidates(&self, known: &[usize], length: usize) -> BTreeSet<usize> {
        let lists = known.iter().map(|number| &self.holding[*number]);
        let mut lists: Vec<&Vec<usize>> = lists.collect();
        lists.sort_by_key(|list| list.len());
        let too_few = (1..=length)
            .filter(|shared| as_f64(*shared) < LEAST * as_f64(length))
            .count();
        // Without any of these words, too few are left to share. Words that no question holds are the rarest.
        let rarest = lists.len().saturating_sub(too_few);
        lists.into_iter().take(rarest).flatten().copied().collect()
    }
}

/// The words that two duplicates share exactly: numbers, question words such as `when`, and negations.
fn telling(question: &str) -> BTreeSet<String> {
    let is_telling =
        |word: &String| word.contains(char::is_numeric) || ASKING.contains(&word.as_str());
    words(question).into_iter().filter(is_telling).collect()
}

//! Filters that need no model: they drop a question that copies its passage, that repeats an earlier question, or that cannot be understood
//! alone.
//!
//! Their limits were measured on questions of people: the 160 questions of the sample of `WixQA` that experts wrote, and the 10 of the sample
//! of `RepliQA`. `cargo test -p evals-data --test it -- questions_of_people --nocapture` prints the figures.

mod deictic;

use std::collections::{BTreeSet, HashSet};

use evals_metrics::as_f64;
use evals_rag::text::{content_words, words, words_in_order};

use crate::{DropReason, Item};

/// The share of copied words from which a question is a copy. Of 170 questions of people none reaches it: at most 0.57 of one by an expert
/// of `WixQA` and 0.64 of one of `RepliQA`. Sentences of the documents that are made questions, also without their last words or with a word
/// replaced, begin at 0.67.
const COPIED: f64 = 0.65;

/// The length of a run of words that counts as copied.
const RUN: usize = 3;

/// A question of fewer words is a name or a few keywords, and leaves no choice of words.
const FEWEST_WORDS: usize = 6;

/// The Jaccard index of content words from which two questions are the same. Of 12,720 pairs of `WixQA`'s expert questions three reach it,
/// at 0.67 to 0.85: two ask the same in other words, and one exchanges "business" for "individual". All other pairs have at most 0.44.
const SAME: f64 = 0.6;

/// Words that make a difference although they carry no content: "when was it founded" is not "who founded it".
const ASKING: &str = "who whom whose when where why how not without";

/// The filters that need no model, with the questions that they compare others with.
#[derive(Debug, Default)]
pub struct PlainFilters {
    kept: Vec<Question>,
}

#[derive(Debug)]
struct Question {
    id: String,
    text: String,
    content: BTreeSet<String>,
    /// The words that two duplicates share exactly: numbers, question words such as `when`, and negations.
    telling: BTreeSet<String>,
}

impl PlainFilters {
    /// Filters that have kept `items`.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i Item>) -> Self {
        Self {
            kept: items.into_iter().map(Question::of).collect(),
        }
    }

    /// Why `item` has to go, and the reason in words; `None` if it stays, and later questions are then compared with it. `passages` are those
    /// that it was written from.
    pub fn check(&mut self, item: &Item, passages: &[&str]) -> Option<(DropReason, String)> {
        if let Some(phrase) = deictic::found(&item.question) {
            let detail = format!("`{phrase}` points to a text that a reader does not see");
            return Some((DropReason::NotAlone, detail));
        }
        let shares = passages.iter().filter_map(|it| copied(&item.question, it));
        if let Some(share) = shares.max_by(f64::total_cmp).filter(|it| *it >= COPIED) {
            let percent = (share * 100.0).round();
            let detail = format!("{percent} % of its words stand in the same order in the passage");
            return Some((DropReason::Copied, detail));
        }
        let question = Question::of(item);
        let mut kept = self.kept.iter();
        if let Some(Question { id, text, .. }) = kept.find(|it| it.is_nearly(&question)) {
            let detail = format!("nearly the same as question `{id}`: {text}");
            return Some((DropReason::Duplicate, detail));
        }
        self.kept.push(question);
        None
    }
}

/// The share of the question's words that stand in runs of at least three words of the passage; `None` for a question of fewer than six
/// words. In writing systems without spaces a sentence is one word, so copies are not found there.
fn copied(question: &str, passage: &str) -> Option<f64> {
    let question: Vec<String> = words_in_order(question).collect();
    if question.len() < FEWEST_WORDS {
        return None;
    }
    let passage: Vec<String> = words_in_order(passage).collect();
    let runs: HashSet<&[String]> = passage.windows(RUN).collect();
    let mut is_copied = vec![false; question.len()];
    for (at, run) in question.windows(RUN).enumerate() {
        if runs.contains(run) {
            is_copied[at..at + RUN].fill(true);
        }
    }
    let copied = is_copied.iter().filter(|it| **it).count();
    Some(as_f64(copied) / as_f64(question.len()))
}

impl Question {
    fn of(item: &Item) -> Self {
        let is_asking = |word: &str| ASKING.split(' ').any(|it| it == word);
        let mut telling = words(&item.question);
        telling.retain(|word| word.contains(char::is_numeric) || is_asking(word));
        Self {
            id: item.id.clone(),
            text: item.question.clone(),
            content: content_words(&item.question),
            telling,
        }
    }

    fn is_nearly(&self, other: &Self) -> bool {
        if self.telling != other.telling {
            return false;
        }
        let shared = self.content.intersection(&other.content).count();
        let all = self.content.len() + other.content.len() - shared;
        as_f64(shared) >= SAME * as_f64(all)
    }
}

#[cfg(test)]
mod tests;

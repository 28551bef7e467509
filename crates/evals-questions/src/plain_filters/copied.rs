//! How much of a question is copied from a passage.

use std::collections::HashSet;

use evals_rag::text::words_in_order;

/// The length of a run of words that counts as copied.
const RUN: usize = 3;

/// The share of copied words from which a question is a copy. Of 170 questions of people none reaches it: at most 0.57 of one by an expert
/// of `WixQA` and 0.64 of one of `RepliQA`. Sentences of the documents that are made questions, also without their last words or with a word
/// replaced, begin at 0.67.
pub(super) const MOST: f64 = 0.65;

/// A question of fewer words is a name or a few keywords, and leaves no choice of words.
const FEWEST_WORDS: usize = 6;

/// The share of the question's words that stand in runs of at least three words of the passage; `None` for a question of fewer than six
/// words. In writing systems without spaces a sentence is one word, so copies are not found there.
pub(super) fn share(question: &str, passage: &str) -> Option<f64> {
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
    Some(evals_metrics::as_f64(copied) / evals_metrics::as_f64(question.len()))
}

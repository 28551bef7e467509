//! Phrases of English that point to a text which a reader of the question does not see.
//!
//! Other languages are left to the model, as are pronouns in longer questions.

use evals_rag::text::{content_words, words_in_order};

/// What a passage is called.
const TEXTS: [&str; 16] = [
    "passage",
    "passages",
    "excerpt",
    "excerpts",
    "snippet",
    "extract",
    "article",
    "articles",
    "text",
    "texts",
    "document",
    "documents",
    "context",
    "paragraph",
    "report",
    "story",
];

/// Who wrote it.
const WRITERS: [&str; 3] = ["author", "authors", "narrator"];

/// Words before the name of a text that point to it, whatever stands around.
const POINTING: [&str; 8] = [
    "this",
    "these",
    "that",
    "above",
    "following",
    "given",
    "provided",
    "preceding",
];

/// Words before `the passage` that make it the place of something.
const PLACING: [&str; 9] = [
    "in", "of", "by", "from", "to", "within", "per", "does", "did",
];

/// What a text or its author does, or what is done in it.
const SAYING: [&str; 32] = [
    "say",
    "says",
    "said",
    "mention",
    "mentions",
    "mentioned",
    "describe",
    "describes",
    "described",
    "state",
    "states",
    "stated",
    "discuss",
    "discusses",
    "discussed",
    "argue",
    "argues",
    "argued",
    "suggest",
    "suggests",
    "suggested",
    "explain",
    "explains",
    "explained",
    "give",
    "gives",
    "given",
    "provide",
    "provides",
    "provided",
    "listed",
    "shown",
];

/// Words that stand for something named before.
const PRONOUNS: [&str; 14] = [
    "he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "this",
    "these", "those",
];

/// The phrase of a question that points to a text, or that stands for something which the question does not name.
pub(super) fn found(question: &str) -> Option<String> {
    let words: Vec<String> = words_in_order(question).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let pointing = (0..words.len()).find_map(|at| phrase(&words, at));
    pointing.or_else(|| unnamed(question, &words))
}

/// The phrase that ends with the name of a text, or of its author, at `at`.
fn phrase(words: &[&str], at: usize) -> Option<String> {
    let before = |back: usize| at.checked_sub(back).map(|place| words[place]);
    let is_one_of =
        |word: Option<&str>, list: &[&str]| word.is_some_and(|word| list.contains(&word));
    let after = words.get(at + 1).copied();
    let from = |back: usize, to: usize| Some(words[at - back..to].join(" "));

    let is_reference = is_one_of(before(1), &SAYING) || before(1) == Some("the");
    if matches!(words[at], "above" | "below")
        && is_reference
        && !is_one_of(after, &["the", "a", "an", "average"])
    {
        return from(1, at + 1);
    }
    let (is_text, is_writer) = (TEXTS.contains(&words[at]), WRITERS.contains(&words[at]));
    if !is_text && !is_writer {
        return None;
    }
    if is_one_of(before(1), &POINTING) {
        return from(1, at + 1);
    }
    // `the short passage` points as `the passage` does.
    let article = [1, 2]
        .into_iter()
        .find(|back| before(*back) == Some("the"))?;
    // `The author of the novel` and `the text of the button` say which one they mean.
    if is_one_of(after, &["of", "for", "on", "about"]) {
        return None;
    }
    if is_one_of(after, &SAYING) && is_one_of(before(1), &["the", "short", "whole"]) {
        return from(article, at + 1);
    }
    // `In the document` may be one that the question is about, `in the passage` is not.
    let is_named = matches!(words[at], "document" | "documents" | "report" | "story");
    let is_source =
        is_one_of(before(article + 1), &["to"]) && before(article + 2) == Some("according");
    let is_placed = is_one_of(before(article + 1), &PLACING)
        && (!is_named
            || is_one_of(before(article + 2), &SAYING)
            || is_one_of(before(article + 1), &["does", "did"]));
    (is_source || is_placed).then(|| from(article + 1, at + 1))?
}

/// The pronoun of a question that names at most one thing, such as `When was it founded?`
fn unnamed(question: &str, words: &[&str]) -> Option<String> {
    let pronoun = words.iter().find(|word| PRONOUNS.contains(word))?;
    let named = content_words(question);
    let named = named
        .iter()
        .filter(|word| !PRONOUNS.contains(&word.as_str()));
    (named.count() <= 1).then(|| (*pronoun).to_owned())
}

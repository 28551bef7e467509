//! The parts of cases of both benchmarks, as people read them.

use std::cmp::Reverse;
use std::fmt::Write as _;

use evals_metrics::{Judgements, Ranking};

use crate::Passage;

/// Judged documents, the best first: `a (2), b (0)`. Where all have grade 1, only their ids.
pub(crate) fn judged(judgements: &Judgements) -> Option<String> {
    let mut judged: Vec<(&str, i32)> = judgements.iter().collect();
    judged.sort_by_key(|(_, grade)| Reverse(*grade));
    let is_plain = judged.iter().all(|(_, grade)| *grade == 1);
    let names = judged.iter().map(|(id, grade)| {
        if is_plain {
            (*id).to_owned()
        } else {
            format!("{id} ({grade})")
        }
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The ids of a ranking, best first.
pub(crate) fn ranked(ranking: &Ranking) -> Option<String> {
    let ids = ranking.iter().map(|document| document.id.as_str());
    let ids: Vec<&str> = ids.collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

/// Passages with their numbers, documents and texts.
pub(crate) fn passages(passages: &[Passage]) -> Option<String> {
    let mut text = String::new();
    for (passage, number) in passages.iter().zip(1_usize..) {
        let title = passage.title.as_ref();
        let title = title.map_or_else(String::new, |title| format!(", {title}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "[{number}] {}{title}\n{}",
            passage.document,
            passage.text.trim()
        );
    }
    (!text.is_empty()).then_some(text)
}

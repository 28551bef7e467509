//! The parts of cases of both benchmarks, as people read them.

use std::cmp::Reverse;
use std::fmt::Write as _;

use evals::FirstRelevant;
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

/// The most documents of a ranking that a case in short names.
const NAMED: usize = 5;

/// The first ids of a ranking, with a star behind those of relevant documents: `a, b*, c …`.
pub(crate) fn marked(ranking: &Ranking, relevant: &Judgements) -> Option<String> {
    let ids = ranking.iter().take(NAMED).map(|document| {
        let star = if is_relevant(relevant, &document.id) {
            "*"
        } else {
            ""
        };
        format!("{}{star}", document.id)
    });
    let ids: Vec<String> = ids.collect();
    let more = if ranking.len() > NAMED { " …" } else { "" };
    (!ids.is_empty()).then(|| ids.join(", ") + more)
}

/// The place of the first relevant document in a ranking; `None` if no document is relevant.
pub(crate) fn first_relevant(ranking: &Ranking, relevant: &Judgements) -> Option<FirstRelevant> {
    relevant.relevant().next()?;
    let mut ids = ranking.iter().map(|document| &document.id);
    let place = ids.position(|id| is_relevant(relevant, id));
    Some(place.map_or(FirstRelevant::NotFound, |place| {
        FirstRelevant::Rank(place + 1)
    }))
}

fn is_relevant(judgements: &Judgements, id: &str) -> bool {
    judgements.grade(id).is_some_and(|grade| grade > 0)
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

//! Filters that need no model: they drop a question whose evidence is not in its document, that copies its passage, that repeats an
//! earlier question, or that cannot be understood alone.
//!
//! Their limits were measured on questions of people: the 160 questions of the sample of `WixQA` that experts wrote, and the 10 of the sample
//! of `RepliQA`. `cargo test -p evals-data --test it -- questions_of_people --nocapture` prints the figures.

mod copied;
mod deictic;
mod duplicates;

use evals_rag::{EvidenceSpan, FoldedText};

use crate::{DropReason, Item};
use duplicates::Questions;

/// How many bytes before and after a quote belong to the passage that a question may copy: about a page, so that a long document does not
/// hold every phrase.
const AROUND: usize = 2_000;

/// The filters that need no model, with the questions that they have kept.
#[derive(Debug, Default)]
pub struct PlainFilters {
    kept: Questions,
}

impl PlainFilters {
    /// Filters that have seen no question yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Why `item` has to go, and the reason in words; `None` if it stays, and later questions are then compared with it. `texts` are the ids
    /// and texts of the documents of its evidence; for an unanswerable question those that it was written from.
    pub fn check(&mut self, item: &Item, texts: &[(&str, &str)]) -> Option<(DropReason, String)> {
        let dropped = match passages(item, texts) {
            Err(missing) => Some((DropReason::NoEvidence, missing)),
            Ok(passages) => deictic::found(&item.question)
                .map(|phrase| {
                    let detail = format!("`{phrase}` points to a text that a reader does not see");
                    (DropReason::NotAlone, detail)
                })
                .or_else(|| copied(item, &passages))
                .or_else(|| self.duplicate(item)),
        };
        if dropped.is_none() {
            self.kept.add(&item.id, &item.question);
        }
        dropped
    }

    fn duplicate(&self, item: &Item) -> Option<(DropReason, String)> {
        let (id, question) = self.kept.similar(&item.question)?;
        let detail = format!("nearly the same as question `{id}`: {question}");
        Some((DropReason::Duplicate, detail))
    }
}

/// The passages of an item's evidence.
///
/// # Errors
///
/// Says which quote is in no document.
fn passages<'t>(item: &Item, texts: &[(&'t str, &'t str)]) -> Result<Vec<&'t str>, String> {
    if !item.is_answerable() {
        return Ok(texts.iter().map(|(_, text)| *text).collect());
    }
    if item.evidence.is_empty() {
        return Err("no quote shows where the answer stands".to_owned());
    }
    let mut prepared: Vec<(&str, FoldedText<'t>)> = Vec::new();
    item.evidence
        .iter()
        .map(|span| passage(span, texts, &mut prepared))
        .collect()
}

fn passage<'t>(
    span: &EvidenceSpan,
    texts: &[(&'t str, &'t str)],
    prepared: &mut Vec<(&'t str, FoldedText<'t>)>,
) -> Result<&'t str, String> {
    let document = &span.document;
    let found = texts.iter().find(|(id, _)| id == document);
    let &(id, text) = found.ok_or_else(|| format!("there is no document `{document}`"))?;
    let at = prepared.iter().position(|(other, _)| *other == id);
    let at = at.unwrap_or_else(|| {
        prepared.push((id, FoldedText::new(text)));
        prepared.len() - 1
    });
    let quoted = prepared[at].1.anchor(span).ok_or_else(|| {
        let quote = evals_messages::visible::beginning(&span.quote, 80);
        format!("document `{document}` does not hold the quote `{quote}`")
    })?;
    let start = text.floor_char_boundary(quoted.start.saturating_sub(AROUND));
    let end = text.ceil_char_boundary(quoted.end.saturating_add(AROUND).min(text.len()));
    Ok(&text[start..end])
}

fn copied(item: &Item, passages: &[&str]) -> Option<(DropReason, String)> {
    let shares = passages
        .iter()
        .filter_map(|passage| copied::share(&item.question, passage));
    let share = shares.max_by(f64::total_cmp)?;
    (share >= copied::MOST).then(|| {
        let percent = (share * 100.0).round();
        let detail = format!("{percent} % of its words stand in the same order in the passage");
        (DropReason::Copied, detail)
    })
}

#[cfg(test)]
mod tests;

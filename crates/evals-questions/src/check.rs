//! What changed documents make of the evidence of a set.

use std::collections::{BTreeSet, HashMap};

use evals_messages::visible;
use evals_metrics::as_f64;
use evals_rag::text::{sentences, words};
use evals_rag::{EvidenceSpan, FoldedText};
use serde::{Deserialize, Serialize};

use crate::review::{Review, ReviewVerdict, current};
use crate::{DropReason, Dropped, Item};

/// How many bytes a quote needs, without white space, to have a twin: some four or five words. Shorter ones, such as `450 passengers`, stand
/// in many documents that say something else with them.
const TWIN_BYTES: usize = 24;

/// The share of a quote's words that has to stand together in the document for the quote to have been changed; with fewer it has vanished.
const CHANGED: f64 = 0.5;

/// The questions of a set beside the documents as they are now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    /// The ids of the questions of which a quote stands elsewhere in its document.
    pub moved: Vec<String>,
    /// The questions that have to be looked at.
    pub stale: Vec<Dropped>,
    /// The set without the stale questions, with the positions of today. A check cannot say anything about questions without evidence.
    pub updated: Vec<Item>,
}

/// A line of `history.jsonl`: a set that was rewritten, after its documents changed or with the facts of its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// When, in RFC 3339.
    pub time: String,
    /// The digest of the set before.
    pub from: String,
    /// The digest of the set after.
    pub to: String,
    /// The questions whose evidence was anchored again.
    pub moved: Vec<String>,
    /// What was left out, with the whole question, so that nothing is lost.
    pub stale: Vec<Dropped>,
}

impl Check {
    /// Compares questions with all documents of today, by id and text, in one pass over them. Keeps no document.
    ///
    /// A question that people dropped in a review is never stale: no run asks it, so nobody has to mend it, and it still counts as defective.
    ///
    /// # Errors
    ///
    /// The first one of `documents`.
    pub fn of<E>(
        items: &[Item],
        reviews: &[Review],
        documents: impl IntoIterator<Item = Result<(String, String), E>>,
    ) -> Result<Self, E> {
        let mut questions: Vec<Question<'_>> = items.iter().map(Question::of).collect();
        let mut naming: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut beginning: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (place, item) in items.iter().enumerate() {
            for id in item.documents().collect::<BTreeSet<_>>() {
                naming.entry(id).or_default().push(place);
            }
            for quote in item.evidence.iter().filter_map(|span| start(&span.quote)) {
                beginning.entry(quote).or_default().push(place);
            }
        }
        for document in documents {
            let (id, text) = document?;
            let folded = FoldedText::new(&text);
            for place in naming.get(&*id).into_iter().flatten() {
                questions[*place].anchor(&id, &text, &folded);
            }
            let windows = folded.folded().as_bytes().windows(TWIN_BYTES);
            let hits = windows.filter_map(|window| beginning.get(window)).flatten();
            for place in hits.collect::<BTreeSet<_>>() {
                questions[*place].find_twin(&id, &folded);
            }
        }
        let mut check = Self::default();
        let current = current(reviews);
        for question in questions {
            let item = question.before;
            let review = current.get(item.id.as_str());
            let is_asked = review.is_none_or(|it| it.verdict != ReviewVerdict::Drop);
            if let Some((reason, detail)) = question.fault().filter(|_| is_asked) {
                let item = item.clone();
                check.stale.push(Dropped {
                    reason,
                    detail,
                    item,
                });
                continue;
            }
            if question.is_moved {
                check.moved.push(question.now.id.clone());
            }
            check.updated.push(question.now);
        }
        Ok(check)
    }
}

/// The first bytes of a quote that is long enough to have a twin.
fn start(quote: &str) -> Option<Vec<u8>> {
    let folded = FoldedText::new(quote);
    folded
        .folded()
        .as_bytes()
        .get(..TWIN_BYTES)
        .map(<[u8]>::to_vec)
}

/// A question with what the documents so far say about it.
struct Question<'i> {
    before: &'i Item,
    now: Item,
    is_moved: bool,
    /// The documents that it names and that have not come yet.
    missing: BTreeSet<&'i str>,
    lost: Option<(DropReason, String)>,
    /// The documents that hold a quote and are not relevant.
    twins: Vec<String>,
}

impl<'i> Question<'i> {
    fn of(item: &'i Item) -> Self {
        Self {
            before: item,
            now: item.clone(),
            is_moved: false,
            missing: item.documents().collect(),
            lost: None,
            twins: Vec::new(),
        }
    }

    /// Looks for the quotes of a document that the question names.
    fn anchor(&mut self, id: &str, text: &str, folded: &FoldedText<'_>) {
        self.missing.remove(id);
        for span in self.now.evidence.iter_mut().filter(|it| it.document == id) {
            let Some(range) = folded.anchor(span) else {
                self.lost.get_or_insert_with(|| lost(text, span));
                continue;
            };
            let start = text[..range.start].chars().count();
            let end = start + text[range].chars().count();
            self.is_moved |= span.start.is_some_and(|before| before != start);
            (span.start, span.end) = (Some(start), Some(end));
        }
    }

    /// Looks for a quote in a document that may be none of the question's.
    fn find_twin(&mut self, id: &str, folded: &FoldedText<'_>) {
        let quotes = self.before.evidence.iter().map(|span| &span.quote);
        let mut quotes = quotes.filter(|quote| start(quote).is_some());
        let is_named = self.before.documents().any(|it| it == id);
        if !is_named && quotes.any(|quote| !folded.find(quote).is_empty()) {
            self.twins.push(id.to_owned());
        }
    }

    /// Why the question is stale.
    fn fault(&self) -> Option<(DropReason, String)> {
        let twins = (!self.twins.is_empty()).then(|| self.twins.join("`, `"));
        if let Some(gone) = self.missing.first() {
            let renamed =
                twins.map(|ids| format!("; its quote stands in `{ids}`: was it renamed?"));
            let renamed = renamed.unwrap_or_default();
            let detail = format!("there is no document `{gone}`{renamed}");
            return Some((DropReason::DocumentGone, detail));
        }
        self.lost.clone().or_else(|| {
            let detail = format!(
                "its quote also stands in `{}`, which may answer the question",
                twins?
            );
            Some((DropReason::Twin, detail))
        })
    }
}

/// What became of a quote that is not in its document any more: the sentences, as many as it has, that share most words with it tell.
fn lost(text: &str, span: &EvidenceSpan) -> (DropReason, String) {
    let (wanted, found) = (words(&span.quote), sentences(text));
    let length = sentences(&span.quote).len().min(found.len()).max(1);
    let windows = found.windows(length).map(|window| {
        let window = window.join(" ");
        (words(&window).intersection(&wanted).count(), window)
    });
    // Of equally near ones the first.
    let nearest = windows.rev().max_by_key(|(shared, _)| *shared);
    let (document, quote) = (&span.document, visible::beginning(&span.quote, 120));
    let detail = format!("document `{document}` does not hold the quote `{quote}`");
    let (shared, nearest) = nearest.unwrap_or_default();
    let share = as_f64(shared) / as_f64(wanted.len().max(1));
    if share < CHANGED {
        return (DropReason::Vanished, detail);
    }
    let (percent, nearest) = ((share * 100.0).round(), visible::beginning(&nearest, 120));
    let detail = format!("{detail}; {percent} % of its words stand in `{nearest}`");
    (DropReason::Changed, detail)
}

#[cfg(test)]
mod tests;

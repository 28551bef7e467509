//! What changed documents make of the evidence of a set.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use evals_messages::visible;
use evals_metrics::as_f64;
use evals_rag::{EvidenceSpan, FoldedText};
use serde::{Deserialize, Serialize};

use crate::Item;
use crate::set_folder::digest;

/// How many bytes a quote needs, without white space, to have a twin: some four or five words. Shorter ones, such as `450 passengers`, stand
/// in many documents that say something else with them.
const TWIN_BYTES: usize = 24;

/// The share of a quote's words that has to stand together in the document for the quote to have been changed; with fewer it has vanished.
const CHANGED: f64 = 0.5;

/// The questions of a set beside the documents as they are now.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The ids of the questions whose evidence stands where it stood, and of those without evidence, about which a check cannot say anything.
    pub fresh: Vec<String>,
    /// The questions of which a quote stands elsewhere in its document.
    pub moved: Vec<Moved>,
    /// The questions that have to be looked at.
    pub stale: Vec<Stale>,
    /// The set without the stale questions, with the positions of today.
    pub updated: Vec<Item>,
}

/// A question whose evidence was found elsewhere in the same document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The question.
    pub id: String,
    /// The document.
    pub document: String,
    /// The position of the quote before, in characters; `None` if it was not known.
    pub from: Option<usize>,
    /// Its position now.
    pub to: usize,
}

/// A question whose evidence does not hold any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stale {
    /// Why, as a name that can be counted.
    pub reason: StaleReason,
    /// Why, in words about this question.
    pub detail: String,
    /// The question as it was.
    pub item: Item,
}

/// Why a question is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StaleReason {
    /// A document that the set calls relevant is not there.
    DocumentGone,
    /// The document says something similar in other words.
    Changed,
    /// The document says nothing similar.
    Vanished,
    /// A document that the set does not call relevant has the same quote, so it may also answer the question.
    Twin,
}

impl fmt::Display for StaleReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DocumentGone => "document gone",
            Self::Changed => "changed",
            Self::Vanished => "vanished",
            Self::Twin => "twin",
        })
    }
}

/// A line of `history.jsonl`: a set that was rewritten after its documents changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// When, in RFC 3339.
    pub time: String,
    /// The digest of the set before.
    pub from: String,
    /// The digest of the set after.
    pub to: String,
    /// What was anchored again.
    pub moved: Vec<Moved>,
    /// What was left out, with the whole question, so that nothing is lost.
    pub stale: Vec<Stale>,
}

impl Check {
    /// Compares questions with all documents of today, by id and text, in one pass over them. Keeps no document.
    ///
    /// # Errors
    ///
    /// The first one of `documents`.
    pub fn of<E>(
        items: &[Item],
        documents: impl IntoIterator<Item = Result<(String, String), E>>,
    ) -> Result<Self, E> {
        let mut anchors = Anchors::new(items);
        for document in documents {
            let (id, text) = document?;
            anchors.read(&id, &text);
        }
        Ok(anchors.check())
    }

    /// The line of the history for a set that was `before`.
    pub fn update(&self, before: &[Item], time: &str) -> Update {
        Update {
            time: time.to_owned(),
            from: digest(before),
            to: digest(&self.updated),
            moved: self.moved.clone(),
            stale: self.stale.clone(),
        }
    }
}

/// A quote: the places of its question and of the span within it.
type Place = (usize, usize);

/// Where the quote of a span stands now.
enum Anchored {
    At { start: usize, end: usize },
    Lost { nearest: Option<Nearest> },
}

struct Nearest {
    share: f64,
    text: String,
}

struct Anchors<'i> {
    items: &'i [Item],
    /// The spans of each document.
    by_document: HashMap<&'i str, Vec<Place>>,
    /// The spans by the first bytes of their folded quotes.
    by_beginning: HashMap<Vec<u8>, Vec<Place>>,
    seen: BTreeSet<&'i str>,
    /// The documents that the set names.
    named: BTreeSet<&'i str>,
    anchored: HashMap<Place, Anchored>,
    /// The documents that hold a quote and are not relevant, by question.
    twins: BTreeMap<usize, BTreeSet<String>>,
}

impl<'i> Anchors<'i> {
    fn new(items: &'i [Item]) -> Self {
        let mut anchors = Self {
            items,
            by_document: HashMap::new(),
            by_beginning: HashMap::new(),
            seen: BTreeSet::new(),
            named: BTreeSet::new(),
            anchored: HashMap::new(),
            twins: BTreeMap::new(),
        };
        for (place, item) in items.iter().enumerate() {
            anchors.named.extend(named(item));
            for (number, span) in item.evidence.iter().enumerate() {
                let of = anchors.by_document.entry(&span.document).or_default();
                of.push((place, number));
                let quote = FoldedText::new(&span.quote);
                if let Some(beginning) = quote.folded().as_bytes().get(..TWIN_BYTES) {
                    let of = anchors.by_beginning.entry(beginning.to_vec()).or_default();
                    of.push((place, number));
                }
            }
        }
        anchors
    }

    fn span(&self, (item, span): Place) -> &'i EvidenceSpan {
        &self.items[item].evidence[span]
    }

    fn read(&mut self, id: &str, text: &str) {
        let folded = FoldedText::new(text);
        if let Some(named) = self.named.get(id) {
            self.seen.insert(named);
        }
        for place in self.by_document.get(id).cloned().unwrap_or_default() {
            let anchored = anchor(&folded, text, self.span(place));
            self.anchored.insert(place, anchored);
        }
        let windows = folded.folded().as_bytes().windows(TWIN_BYTES);
        let hits: BTreeSet<Place> = windows
            .filter_map(|window| self.by_beginning.get(window))
            .flatten()
            .copied()
            .collect();
        for place in hits {
            let is_named = named(&self.items[place.0]).any(|it| it == id);
            if !is_named && !folded.find(&self.span(place).quote).is_empty() {
                self.twins.entry(place.0).or_default().insert(id.to_owned());
            }
        }
    }

    fn check(&self) -> Check {
        let mut check = Check {
            fresh: Vec::new(),
            moved: Vec::new(),
            stale: Vec::new(),
            updated: Vec::new(),
        };
        for (place, item) in self.items.iter().enumerate() {
            if let Some((reason, detail)) = self.stale(place) {
                check.stale.push(Stale {
                    reason,
                    detail,
                    item: item.clone(),
                });
                continue;
            }
            let (updated, moved) = self.moved(place);
            if moved.is_empty() {
                check.fresh.push(item.id.clone());
            }
            check.moved.extend(moved);
            check.updated.push(updated);
        }
        check
    }

    fn stale(&self, place: usize) -> Option<(StaleReason, String)> {
        let item = &self.items[place];
        let twins = self.twins.get(&place);
        let twins = twins.map(|ids| {
            ids.iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("`, `")
        });
        if let Some(gone) = named(item).find(|id| !self.seen.contains(id)) {
            let renamed =
                twins.map(|ids| format!("; its quote stands in `{ids}`: was it renamed?"));
            let detail = format!(
                "there is no document `{gone}`{}",
                renamed.unwrap_or_default()
            );
            return Some((StaleReason::DocumentGone, detail));
        }
        let lost = (0..item.evidence.len()).find_map(|span| self.lost((place, span)));
        lost.or_else(|| {
            let detail = format!(
                "its quote also stands in `{}`, which may answer the question",
                twins?
            );
            Some((StaleReason::Twin, detail))
        })
    }

    fn lost(&self, place: Place) -> Option<(StaleReason, String)> {
        let Some(Anchored::Lost { nearest }) = self.anchored.get(&place) else {
            return None;
        };
        let EvidenceSpan {
            document, quote, ..
        } = self.span(place);
        let quote = visible::beginning(quote, 120);
        let lost = format!("document `{document}` does not hold the quote `{quote}`");
        Some(match nearest {
            Some(Nearest { share, text }) => {
                let percent = (share * 100.0).round();
                let detail = format!("{lost}; {percent} % of its words stand in `{text}`");
                (StaleReason::Changed, detail)
            }
            None => (StaleReason::Vanished, lost),
        })
    }

    /// The question with the positions of today, and what they were.
    fn moved(&self, place: usize) -> (Item, Vec<Moved>) {
        let mut item = self.items[place].clone();
        let mut moved = Vec::new();
        for (number, span) in item.evidence.iter_mut().enumerate() {
            let Some(&Anchored::At { start, end }) = self.anchored.get(&(place, number)) else {
                continue;
            };
            if span.start.is_some_and(|from| from != start) {
                moved.push(Moved {
                    id: item.id.clone(),
                    document: span.document.clone(),
                    from: span.start,
                    to: start,
                });
            }
            (span.start, span.end) = (Some(start), Some(end));
        }
        (item, moved)
    }
}

/// The documents that a question names.
fn named(item: &Item) -> impl Iterator<Item = &str> {
    let evidence = item.evidence.iter().map(|span| span.document.as_str());
    item.relevant.iter().map(String::as_str).chain(evidence)
}

fn anchor(folded: &FoldedText<'_>, text: &str, span: &EvidenceSpan) -> Anchored {
    match folded.anchor(span) {
        Some(range) => {
            let start = text[..range.start].chars().count();
            let end = start + text[range].chars().count();
            Anchored::At { start, end }
        }
        None => Anchored::Lost {
            nearest: nearest(text, &span.quote),
        },
    }
}

/// The part of `text`, as many words long as `quote`, that shares most words with it.
fn nearest(text: &str, quote: &str) -> Option<Nearest> {
    let lowered = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        word.to_lowercase()
    };
    let mut wanted: HashMap<String, isize> = HashMap::new();
    let length = quote.split_whitespace().count();
    for word in quote.split_whitespace() {
        *wanted.entry(lowered(word)).or_default() += 1;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let keys: Vec<String> = words.iter().map(|word| lowered(word)).collect();
    let (mut shared, mut best) = (0_usize, (0_usize, 0_usize));
    for at in 0..words.len() {
        // What is left to find of a word is negative if the window holds more of it than the quote.
        if let Some(left) = wanted.get_mut(&keys[at]) {
            shared += usize::from(*left > 0);
            *left -= 1;
        }
        let gone = at
            .checked_sub(length)
            .and_then(|gone| wanted.get_mut(&keys[gone]));
        if let Some(left) = gone {
            *left += 1;
            shared -= usize::from(*left > 0);
        }
        if shared > best.0 {
            best = (shared, at);
        }
    }
    let (shared, last) = best;
    let share = as_f64(shared) / as_f64(length.max(1));
    let window = &words.get((last + 1).saturating_sub(length)..=last)?;
    (share >= CHANGED).then(|| Nearest {
        share,
        text: visible::beginning(&window.join(" "), 120),
    })
}

#[cfg(test)]
mod tests;

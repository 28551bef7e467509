//! Finds the document that a passage was cut from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use memchr::memmem::Finder;

use super::CorpusError;
use super::normalized::{normalize, share, shingles, with_title};
use crate::Document;

/// Shingles of a run in a row of which at least one is in the index: the one with the smallest hash. Any text of this many
/// shingles and more that stands in a document is found there.
const WINDOW: usize = 4;

/// Documents that are compared with a passage in full. They share the most shingles with it.
const COMPARED: usize = 64;

/// Entries of the index that are read for one passage, the rarest shingles first, so that sentences of every document cost no
/// more than others.
const READ: usize = 100_000;

/// The largest corpus, in bytes of normalised text.
const LARGEST: usize = 4 << 30;

/// The texts of a corpus, and where their shingles are.
///
/// It takes about 1.6 times the memory of the corpus's text: the text itself, and 8 bytes for two of five words. 100,000 abstracts
/// of 200 words take 0.2 GB, 100,000 articles of 1,000 words 1 GB.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    ids: Vec<Box<str>>,
    /// Normalised, with the title.
    texts: Vec<Box<str>>,
    /// Where each text begins after its title.
    bodies: Vec<u32>,
    bytes: usize,
    /// The upper half of a shingle's hash, and the place of a document that contains it; sorted.
    entries: Vec<(u32, u32)>,
}

/// The document of a passage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MatchedDocument<'i> {
    pub(super) id: &'i str,
    /// Whether it contains the passage as it is, normalised.
    pub(super) contained: bool,
    /// Whether other documents fit as well.
    pub(super) ambiguous: bool,
}

impl TextIndex {
    /// Adds a document. A title that its text does not begin with stands before it, because systems show both.
    pub(super) fn add(&mut self, document: &Document) -> Result<(), CorpusError> {
        let (text, body) = with_title(document);
        self.bytes += text.len();
        let place = u32::try_from(self.texts.len()).ok();
        let places = place.zip(u32::try_from(body).ok());
        let Some((place, body)) = places.filter(|_| self.bytes <= LARGEST) else {
            let most = LARGEST >> 30;
            return Err(format!(
                "the corpus has more than {most} GB of text, too much to match by text; match by id, with `match: {{by: id}}` or a rule"
            )
            .into());
        };
        let hashes = shingles(&text);
        let entries = selected(&hashes).map(|hash| (upper(hash), place));
        self.entries.extend(entries);
        self.ids.push(document.uri.as_str().into());
        self.texts.push(text.into());
        self.bodies.push(body);
        Ok(())
    }

    /// Ends the adding of documents.
    pub(super) fn finish(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup();
        self.entries.shrink_to_fit();
    }

    /// The document that contains `passage`, or else the one that contains the largest share of its shingles, if that is at least
    /// `threshold`. Of several, the one that equals the passage, else the first in `trec_eval`'s order of ids.
    ///
    /// A short passage, of fewer words than a shingle, stands in documents that it was not cut from, so only a document that equals it counts.
    pub(super) fn find(&self, passage: &str, threshold: f64) -> Option<MatchedDocument<'_>> {
        let passage = normalize(passage);
        if passage.is_empty() {
            return None;
        }
        let hashes = shingles(&passage);
        if hashes.is_empty() {
            let places = 0..self.texts.len();
            let equal: Vec<usize> = places.filter(|it| self.is_whole(*it, &passage)).collect();
            return self.choose(&equal, &passage);
        }
        let candidates = self.candidates(&hashes);
        let containing = self.containing(&passage, candidates.iter().copied());
        if let Some(found) = self.choose(&containing, &passage) {
            return Some(found);
        }
        // Words at the ends may be cut, which leaves this many shingles less.
        let cut = 2;
        if hashes.len() < WINDOW + cut {
            let containing = self.containing(&passage, 0..self.texts.len());
            if let Some(found) = self.choose(&containing, &passage) {
                return Some(found);
            }
        }
        self.largest_share(&hashes, &candidates, threshold)
    }

    /// The documents that share the most shingles with a passage, by the entries of its rarest ones.
    fn candidates(&self, hashes: &[u64]) -> Vec<usize> {
        let distinct: HashSet<u32> = hashes.iter().map(|hash| upper(*hash)).collect();
        let mut lists: Vec<&[(u32, u32)]> = distinct.into_iter().map(|it| self.list(it)).collect();
        lists.retain(|list| !list.is_empty());
        lists.sort_unstable_by_key(|list| (list.len(), list[0]));
        let mut shared: BTreeMap<u32, u32> = BTreeMap::new();
        let mut read = 0;
        for list in lists {
            if read > 0 && read + list.len() > READ {
                break;
            }
            read += list.len();
            for (_, place) in list {
                *shared.entry(*place).or_default() += 1;
            }
        }
        let mut counted: Vec<(u32, u32)> = shared.into_iter().collect();
        counted.sort_unstable_by_key(|(place, count)| {
            (Reverse(*count), Reverse(&self.ids[*place as usize]))
        });
        counted.truncate(COMPARED);
        counted
            .into_iter()
            .map(|(place, _)| place as usize)
            .collect()
    }

    /// The entries of a shingle.
    fn list(&self, shingle: u32) -> &[(u32, u32)] {
        let start = self.entries.partition_point(|(it, _)| *it < shingle);
        let length = self.entries[start..].partition_point(|(it, _)| *it == shingle);
        &self.entries[start..start + length]
    }

    fn containing(&self, passage: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
        let finder = Finder::new(passage);
        let contains = |place: &usize| finder.find(self.texts[*place].as_bytes()).is_some();
        places.filter(contains).collect()
    }

    /// The best of the documents that contain a passage.
    fn choose(&self, containing: &[usize], passage: &str) -> Option<MatchedDocument<'_>> {
        let places = containing.iter().copied();
        let best = places.max_by_key(|it| (self.is_whole(*it, passage), &self.ids[*it]))?;
        Some(MatchedDocument {
            id: &self.ids[best],
            contained: true,
            ambiguous: containing.len() > 1,
        })
    }

    /// Whether a passage is a whole document, with or without its title.
    fn is_whole(&self, place: usize, passage: &str) -> bool {
        let text = &*self.texts[place];
        text == passage || &text[self.bodies[place] as usize..] == passage
    }

    fn largest_share(
        &self,
        hashes: &[u64],
        candidates: &[usize],
        threshold: f64,
    ) -> Option<MatchedDocument<'_>> {
        let wanted: HashSet<u64> = hashes.iter().copied().collect();
        let shares = candidates.iter().map(|place| {
            let mut own = shingles(&self.texts[*place]);
            own.sort_unstable();
            own.dedup();
            let shared = own.iter().filter(|hash| wanted.contains(hash)).count();
            (shared, &self.ids[*place])
        });
        let shares: Vec<_> = shares.collect();
        let (shared, id) = shares.iter().max()?;
        let best = shares.iter().filter(|(count, _)| count == shared).count();
        (share(*shared, wanted.len()) >= threshold).then_some(MatchedDocument {
            id,
            contained: false,
            ambiguous: best > 1,
        })
    }
}

/// Of each [`WINDOW`] hashes in a row the smallest; of fewer than that, all.
fn selected(hashes: &[u64]) -> impl Iterator<Item = u64> {
    let all: &[u64] = if hashes.len() < WINDOW { hashes } else { &[] };
    let windows = hashes.windows(WINDOW);
    let smallest = windows.map(|window| *window.iter().min().expect("a window is not empty"));
    // Neighbouring windows mostly select the same one.
    let mut last = None;
    let distinct = smallest.filter(move |hash| last.replace(*hash) != Some(*hash));
    all.iter().copied().chain(distinct)
}

fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: f64 = 0.6;

    fn document(uri: &str, title: Option<&str>, text: &str) -> Document {
        Document {
            uri: uri.to_owned(),
            title: title.map(str::to_owned),
            text: text.to_owned(),
            metadata: serde_json::Map::new(),
        }
    }

    /// A text of different words: `a0 a1 a2 …`.
    fn words(name: &str, numbers: std::ops::Range<u32>) -> String {
        let words: Vec<String> = numbers.map(|number| format!("{name}{number}")).collect();
        words.join(" ")
    }

    fn index(documents: &[(&str, &str)]) -> TextIndex {
        let mut index = TextIndex::default();
        for (id, text) in documents {
            index.add(&document(id, None, text)).unwrap();
        }
        index.finish();
        index
    }

    #[test]
    fn a_passage_is_found_wherever_it_was_cut() {
        let (first, second) = (words("a", 0..300), words("b", 0..300));
        let index = index(&[("first", &first), ("second", &second)]);
        for start in (0..first.len() - 60).step_by(7) {
            for length in [45, 60, 400] {
                let end = (start + length).min(first.len());
                let passage = first[start..end].to_uppercase().replace(' ', " \n ");
                let found = index.find(&passage, THRESHOLD);
                let found = found.unwrap_or_else(|| panic!("{start}..{end}"));
                assert_eq!((found.id, found.contained), ("first", true));
            }
        }
    }

    #[test]
    fn otherwise_the_share_of_shingles_decides() {
        let text = words("a", 0..100);
        let index = index(&[("doc", &text)]);
        // A passage of n words has n - 7 shingles. With 20 words of its own before the 40 that the document has, 33 of 53 are
        // the document's; with 22, 33 of 55, which is 0.6; with 23, 33 of 56.
        for (own, is_found) in [(20, true), (22, true), (23, false)] {
            let passage = format!("{} {}", words("own", 0..own), words("a", 10..50));
            let found = index.find(&passage, THRESHOLD);
            assert_eq!(found.is_some(), is_found, "{own}");
            assert!(found.is_none_or(|found| !found.contained));
        }
        assert_eq!(index.find(&words("other", 0..60), THRESHOLD), None);
    }

    #[test]
    fn one_changed_word_in_the_middle_is_bridged() {
        let text = words("a", 0..100);
        let index = index(&[("doc", &text)]);
        let passage = words("a", 20..60).replace("a40", "changed");
        assert_eq!(index.find(&passage, THRESHOLD).unwrap().id, "doc");
    }

    #[test]
    fn of_equal_documents_the_first_in_trec_evals_order_counts() {
        let text = words("a", 0..50);
        let longer = format!("{text} {}", words("b", 0..50));
        let index = index(&[("d2", &text), ("d10", &text), ("d9", &longer)]);
        let found = index.find(&words("a", 5..40), THRESHOLD).unwrap();
        assert_eq!((found.id, found.ambiguous), ("d9", true));
        let whole = index.find(&text, THRESHOLD).unwrap();
        assert_eq!((whole.id, whole.ambiguous), ("d2", true));
        let own = index.find(&words("b", 5..40), THRESHOLD).unwrap();
        assert_eq!((own.id, own.ambiguous), ("d9", false));
    }

    #[test]
    fn a_title_may_stand_before_the_text() {
        let mut index = TextIndex::default();
        let text = words("a", 0..20);
        index
            .add(&document("titled", Some("The Title"), &text))
            .unwrap();
        index.finish();
        let found = |passage: &str| index.find(passage, THRESHOLD).map(|found| found.contained);
        assert_eq!(found(&format!("The title\n\n{text}")), Some(true));
        assert_eq!(found(&text), Some(true));
    }

    #[test]
    fn a_short_passage_matches_only_a_document_that_equals_it() {
        let mut index = TextIndex::default();
        let long = "Rome is a city that was not built in a day.";
        for (id, title, text) in [
            ("short", Some("Capital"), "Paris."),
            ("joined", Some("Capital"), "Capital Oslo."),
            ("letter", None, "t"),
            ("long", None, long),
            ("kanji", None, "検索エンジンの評価を行う"),
        ] {
            index.add(&document(id, title, text)).unwrap();
        }
        index.finish();
        let found = |passage: &str| index.find(passage, THRESHOLD).map(|found| found.id);
        assert_eq!(found("paris."), Some("short"));
        assert_eq!(found("CAPITAL\nParis."), Some("short"));
        assert_eq!(found("oslo."), Some("joined"));
        assert_eq!(found("Capital Oslo."), Some("joined"));
        assert_eq!(found("T"), Some("letter"));
        assert_eq!(found("a"), None);
        assert_eq!(found("a city that was not built in"), None, "7 words");
        assert_eq!(found("a city that was not built in a"), Some("long"));
        assert_eq!(found("エンジンの評価"), None, "7 characters");
        assert_eq!(found("エンジンの評価を"), Some("kanji"));
        assert_eq!(found("Berlin"), None);
        assert_eq!(found(" \n"), None);
        assert_eq!(TextIndex::default().find("x", THRESHOLD), None);
    }

    #[test]
    fn of_each_window_one_shingle_is_selected() {
        let hashes = [9, 3, 7, 5, 8, 6, 4, 9];
        assert_eq!(selected(&hashes).collect::<Vec<_>>(), [3, 5, 4]);
        assert_eq!(selected(&hashes[..3]).collect::<Vec<_>>(), [9, 3, 7]);
    }
}

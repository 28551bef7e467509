//! Compares the texts of documents that were matched by id with the corpus, because ids may be equal by chance.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::normalized::{is_short, normalize, share, shingles, with_title};
use super::{Corpus, CorpusError};
use crate::Document;

/// Most documents that are compared.
const COMPARED: usize = 200;

/// Characters of a text that are compared, so that the sample stays small.
const CHARACTERS: usize = 10_000;

/// How many documents that were matched by id have the text of that document.
///
/// A system that numbers its documents has ids that a corpus of numbers has, too, for other documents. Documents whose text the
/// system has rewritten, translated or summarised differ as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct IdCheck {
    /// Documents that were compared, at most 200.
    pub compared: usize,
    /// How many of them have another text than the document with their id.
    pub differ: usize,
}

/// Some of the documents that were matched by id: those with the smallest digests, so that the order in which replies arrive does
/// not decide. Each document counts once.
#[derive(Debug, Clone, Default)]
pub(super) struct IdSample {
    /// Ids and texts by digest.
    documents: BTreeMap<[u8; 32], (String, String)>,
}

impl IdCheck {
    /// Whether more than half of the documents have another text.
    pub fn mostly_differ(&self) -> bool {
        self.differ > self.compared / 2
    }
}

impl IdSample {
    /// Adds a document, unless its text is too short to compare.
    pub(super) fn add(&mut self, id: &str, text: &str) {
        let end = text.char_indices().nth(CHARACTERS);
        let text = &text[..end.map_or(text.len(), |(end, _)| end)];
        if is_short(text) || text.trim().is_empty() {
            return;
        }
        let digest = Sha256::new_with_prefix(id).chain_update([0]);
        let digest = digest.chain_update(text).finalize();
        let document = (id.to_owned(), text.to_owned());
        self.documents.insert(digest.into(), document);
        if self.documents.len() > COMPARED {
            self.documents.pop_last();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Compares the documents with those of the corpus, which is read up to the last of them.
    pub(super) fn check(
        &self,
        corpus: &dyn Corpus,
        threshold: f64,
    ) -> Result<IdCheck, CorpusError> {
        let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (id, text) in self.documents.values() {
            wanted.entry(id).or_default().push(text);
        }
        let mut check = IdCheck::default();
        let read = corpus.read(&mut |document| {
            let texts = wanted.remove(document.uri.as_str());
            if !is_short(&document.text) {
                for text in texts.into_iter().flatten() {
                    check.compared += 1;
                    check.differ += usize::from(!agree(&document, text, threshold));
                }
            }
            if wanted.is_empty() {
                return Err("all documents are compared".into());
            }
            Ok(())
        });
        if !wanted.is_empty() {
            read?;
        }
        Ok(check)
    }
}

/// Whether a passage is from a document, or the document in it.
fn agree(document: &Document, passage: &str, threshold: f64) -> bool {
    let (text, body) = with_title(document);
    let passage = normalize(passage);
    if text.contains(&passage) || passage.contains(&text[body..]) {
        return true;
    }
    let of_text: HashSet<u64> = shingles(&text).into_iter().collect();
    let of_passage: HashSet<u64> = shingles(&passage).into_iter().collect();
    let shared = of_text.intersection(&of_passage).count();
    let fewer = of_text.len().min(of_passage.len());
    shared > 0 && share(shared, fewer) >= threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 documents with the ids 0 to 299.
    #[derive(Debug)]
    struct Numbered;

    fn text(number: usize) -> String {
        format!("Document {number} says that the {number}th of all these documents is its own.")
    }

    impl Corpus for Numbered {
        fn read(
            &self,
            each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
        ) -> Result<(), CorpusError> {
            for number in 0..300 {
                each(Document {
                    uri: number.to_string(),
                    title: Some("A title".to_owned()),
                    text: text(number),
                    metadata: serde_json::Map::new(),
                })?;
            }
            Ok(())
        }
    }

    fn check(documents: &[(usize, String)]) -> IdCheck {
        let mut sample = IdSample::default();
        for (id, text) in documents {
            sample.add(&id.to_string(), text);
        }
        sample.check(&Numbered, 0.6).unwrap()
    }

    #[test]
    fn a_text_of_another_document_differs() {
        let own: Vec<_> = (0..20).map(|id| (id, text(id))).collect();
        let equal = IdCheck {
            compared: 20,
            differ: 0,
        };
        assert_eq!(check(&own), equal);
        let shifted: Vec<_> = (0..20).map(|id| (id, text(id + 1))).collect();
        let other = check(&shifted);
        assert_eq!((other.compared, other.differ), (20, 20));
        assert!(other.mostly_differ() && !equal.mostly_differ());
        let half: Vec<_> = (0..20).map(|id| (id, text(id + id % 2))).collect();
        assert!(!check(&half).mostly_differ());
    }

    #[test]
    fn a_part_of_a_document_and_a_document_with_a_header_agree() {
        let part = text(7).split_once(' ').unwrap().1.to_uppercase();
        let with_header = format!("Source: wiki, of the 4th of May, in 3 parts\n\n{}", text(8));
        let changed = text(9).replace("its own.", "its own document.");
        let found = check(&[(7, part), (8, with_header), (9, changed)]);
        assert_eq!((found.compared, found.differ), (3, 0));
    }

    #[test]
    fn at_most_200_documents_are_compared_whatever_their_order_and_short_ones_are_not() {
        let mut documents: Vec<_> = (0..300).map(|id| (id, text(id + id % 3 / 2))).collect();
        let first = check(&documents);
        assert_eq!(first.compared, COMPARED);
        assert!(first.differ > 40 && first.differ < 100, "{first:?}");
        documents.reverse();
        documents.push((3, "a short text".to_owned()));
        documents.push((4, " ".to_owned()));
        assert_eq!(check(&documents), first);
        assert_eq!(check(&[(3, "a short text".to_owned())]).compared, 0);
    }
}

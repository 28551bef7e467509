//! Draws the passages that questions are about, spread over the corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use evals_rag::{Document, Passage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mix::MixError;
use crate::passages::passages;
use crate::{GenerateError, QuestionSettings};

/// A passage to ask about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) passage: Passage,
    /// How often every document had its turn, with this one.
    pub(crate) turn: u32,
}

/// How much of one part of the corpus a set is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The folder or the value of the metadata field.
    pub part: String,
    /// Its documents that have a passage to ask about.
    pub documents: usize,
    /// How many of them have a question that was written from them.
    pub covered: usize,
}

/// A document that has a passage.
#[derive(Debug)]
struct Known<'c> {
    document: &'c Document,
    part: String,
    /// How many documents of its part come before.
    turn: usize,
    /// In the order in which they are drawn.
    passages: Vec<Range<usize>>,
}

/// The passages of a corpus in an order that only the seed, the ids and the texts decide.
///
/// The parts of the corpus take turns, and so do the documents of each: no document is drawn twice before all were drawn once.
#[derive(Debug)]
pub(crate) struct Drawing<'c> {
    /// The documents in the order in which they are drawn.
    known: Vec<Known<'c>>,
}

/// The part of documents outside any folder, or without the metadata field.
const NO_PART: &str = "(none)";

impl<'c> Drawing<'c> {
    /// Cuts the documents into passages.
    ///
    /// # Errors
    ///
    /// None has a passage.
    pub(crate) fn of(
        corpus: &'c [Document],
        spread_over: Option<&str>,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        let fields = || corpus.iter().flat_map(|it| it.metadata.keys());
        if let Some(field) = spread_over.filter(|it| fields().all(|known| known != it)) {
            let fields: BTreeSet<&str> = fields().map(String::as_str).collect();
            let fields: Vec<&str> = fields.into_iter().collect();
            let fault = format!(
                "names `{field}`, and no document has that metadata field; their fields are: {}",
                if fields.is_empty() {
                    "none".to_owned()
                } else {
                    fields.join(", ")
                }
            );
            return Err(MixError::new("spread_over", fault).into());
        }
        let known = corpus.iter().map(|document| {
            let mut passages: Vec<_> = passages(&document.text).into_iter().enumerate().collect();
            passages.sort_by_cached_key(|(number, _)| {
                (permanent_number(seed, &document.uri, number + 2), *number)
            });
            Known {
                document,
                part: part(document, spread_over),
                turn: 0,
                passages: passages.into_iter().map(|(_, range)| range).collect(),
            }
        });
        let mut known: Vec<Known<'_>> = known.filter(|it| !it.passages.is_empty()).collect();
        if known.is_empty() {
            return Err(GenerateError::EmptyCorpus);
        }
        // The order of equal random numbers must not depend on that of the source.
        known.sort_by_cached_key(|it| {
            let id = &it.document.uri;
            (permanent_number(seed, id, 0), id.clone())
        });
        known.dedup_by(|one, other| one.document.uri == other.document.uri);
        let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
        for it in &mut known {
            let size = sizes.entry(it.part.clone()).or_default();
            it.turn = *size;
            *size += 1;
        }
        known.sort_by_cached_key(|it| {
            (
                it.turn,
                permanent_number(seed, &it.part, 1),
                it.part.clone(),
            )
        });
        Ok(Self { known })
    }

    /// How many documents have a passage.
    pub(crate) fn documents(&self) -> usize {
        self.known.len()
    }

    /// How much of each part has a question, if these documents have one.
    pub(crate) fn coverage(&self, asked_about: &BTreeSet<String>) -> Vec<Coverage> {
        let mut parts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for known in &self.known {
            let (documents, covered) = parts.entry(&known.part).or_default();
            *documents += 1;
            *covered += usize::from(asked_about.contains(&known.document.uri));
        }
        let parts = parts.into_iter();
        let coverage = parts.map(|(part, (documents, covered))| Coverage {
            part: part.to_owned(),
            documents,
            covered,
        });
        coverage.collect()
    }

    /// The passages in their order, without an end. A document whose passages are used up waits until all are, and then begins again.
    pub(crate) fn passages(&self) -> impl Iterator<Item = Drawn> {
        let lengths = self.known.iter().map(|it| it.passages.len());
        let most = lengths.max().unwrap_or(1);
        let turns = (1..).zip((0..most).cycle());
        turns.flat_map(move |(turn, number)| {
            let having = self.known.iter();
            let having = having.filter_map(move |it| Some((it.document, it.passages.get(number)?)));
            having.map(move |(document, range)| Drawn {
                passage: Passage {
                    document: document.uri.clone(),
                    title: document.title.clone(),
                    ordinal: 0,
                    text: document.text[range.clone()].to_owned(),
                    score: 0.0,
                },
                turn,
            })
        })
    }
}

/// The texts of the passages that a set of `count` questions begins with, as an estimate needs them.
///
/// # Errors
///
/// No document has a passage.
pub fn first_passages(
    corpus: &[Document],
    settings: &QuestionSettings,
    count: usize,
    seed: u64,
) -> Result<Vec<String>, GenerateError> {
    let drawing = Drawing::of(corpus, settings.spread_over.as_deref(), seed)?;
    let drawn = drawing.passages().take(count);
    Ok(drawn.map(|it| it.passage.text).collect())
}

/// The folder of the document's id, or the value of a metadata field.
fn part(document: &Document, field: Option<&str>) -> String {
    let part = if let Some(field) = field {
        match document.metadata.get(field) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    } else {
        let folder = document.uri.rsplit_once('/');
        folder.map_or("", |(folder, _)| folder).to_owned()
    };
    if part.is_empty() {
        NO_PART.to_owned()
    } else {
        part
    }
}

/// A random number that a name and a number always have: documents that are added or removed do not change the order of the others.
pub(crate) fn permanent_number(seed: u64, name: &str, number: usize) -> u64 {
    evals_metrics::permanent_number(&format!("{name}\0{number}"), seed).to_bits()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SENTENCE: &str = "The small ferry to the island sails at nine today. ";

    fn document(id: &str, sentences: usize) -> Document {
        Document {
            uri: id.to_owned(),
            title: None,
            text: SENTENCE.repeat(sentences),
            metadata: serde_json::Map::new(),
        }
    }

    fn drawn(corpus: &[Document], seed: u64, count: usize) -> Vec<Drawn> {
        let drawing = Drawing::of(corpus, None, seed).unwrap();
        drawing.passages().take(count).collect()
    }

    /// 30 documents in a folder, 3 in another and 1 in none.
    fn folders() -> Vec<Document> {
        let many = (0..30).map(|number| document(&format!("many/{number}.md"), 1));
        let few = (0..3).map(|number| document(&format!("few/{number}.md"), 1));
        many.chain(few).chain([document("alone.md", 1)]).collect()
    }

    #[test]
    fn parts_take_turns_until_each_is_used_up() {
        let corpus = folders();
        let first: BTreeSet<String> = drawn(&corpus, 1, 7)
            .into_iter()
            .map(|it| it.passage.document)
            .collect();
        let in_folder = |folder: &str| first.iter().filter(|it| it.starts_with(folder)).count();
        assert_eq!(
            (in_folder("many"), in_folder("few"), in_folder("alone")),
            (3, 3, 1)
        );
        let all = drawn(&corpus, 1, 34);
        let distinct: BTreeSet<_> = all.iter().map(|it| &it.passage.document).collect();
        assert_eq!(distinct.len(), 34);
        assert!(all.iter().all(|it| it.turn == 1));
        let drawing = Drawing::of(&corpus, None, 1).unwrap();
        let coverage = drawing.coverage(&first).into_iter();
        let coverage: Vec<_> = coverage
            .map(|it| (it.part, it.documents, it.covered))
            .collect();
        let of = |part: &str, documents, drawn| (part.to_owned(), documents, drawn);
        assert_eq!(
            coverage,
            [of("(none)", 1, 1), of("few", 3, 3), of("many", 30, 3)]
        );
    }

    #[test]
    fn the_seed_decides_and_not_the_order_of_documents() {
        let corpus = folders();
        let reversed: Vec<Document> = corpus.iter().rev().cloned().collect();
        assert_eq!(drawn(&corpus, 1, 20), drawn(&reversed, 1, 20));
        assert_ne!(drawn(&corpus, 1, 20), drawn(&corpus, 2, 20));
        // Another document moves the others, but leaves their order.
        let mut more = corpus.clone();
        more.push(document("many/new.md", 1));
        let without: Vec<_> = drawn(&more, 1, 35)
            .into_iter()
            .filter(|it| {
                it.passage.document.starts_with("many") && it.passage.document != "many/new.md"
            })
            .collect();
        let before: Vec<_> = drawn(&corpus, 1, 34)
            .into_iter()
            .filter(|it| it.passage.document.starts_with("many"))
            .collect();
        assert_eq!(without, before);
    }

    #[test]
    fn one_document_gives_each_passage_and_then_begins_again() {
        let corpus = vec![document("one", 100)];
        let drawn = drawn(&corpus, 3, 6);
        let lengths: usize = drawn[..3].iter().map(|it| it.passage.text.len()).sum();
        // All of its sentences, without the blanks between passages and at the end.
        assert_eq!(lengths, SENTENCE.len() * 100 - 3);
        assert_eq!(
            drawn.iter().map(|it| it.turn).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6]
        );
        assert_eq!(drawn[0].passage, drawn[3].passage);
        let short = [document("a", 0)];
        let empty = Drawing::of(&short, None, 1);
        assert!(matches!(empty, Err(GenerateError::EmptyCorpus)));
    }

    #[test]
    fn passages_are_spread_over_a_metadata_field() {
        let mut corpus = folders();
        for (number, document) in corpus.iter_mut().enumerate() {
            let topic = json!({"topic": number % 2, "other": null});
            document.metadata = topic.as_object().unwrap().clone();
        }
        let parts = |field| {
            let drawing = Drawing::of(&corpus, Some(field), 1).unwrap();
            let coverage = drawing.coverage(&BTreeSet::new()).into_iter();
            coverage.map(|it| it.part).collect::<Vec<_>>()
        };
        assert_eq!(parts("topic"), ["0", "1"]);
        assert_eq!(parts("other"), ["(none)"]);
    }

    #[test]
    fn many_documents_are_drawn_from_at_once() {
        let corpus: Vec<Document> = (0..20_000)
            .map(|number| document(&format!("{}/{number}", number % 40), 1))
            .collect();
        let drawn = drawn(&corpus, 1, 400);
        let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
        for it in &drawn {
            *parts
                .entry(it.passage.document.split_once('/').unwrap().0)
                .or_default() += 1;
        }
        assert!(parts.len() == 40 && parts.values().all(|count| *count == 10));
    }
}

//! Matches the documents of replies to those of a corpus.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use evals_targets::ReplyDocument;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::sync::OnceCell;

use super::id_check::{IdCheck, IdSample};
use super::normalized::is_short;
use super::settings::{MatchBy, Matching};
use super::text_index::TextIndex;
use super::{Corpus, CorpusError};

/// Matches the documents of replies to those of a corpus.
///
/// It holds the ids of all documents. Their texts are read when the first document has to be matched by its text, and are kept
/// then, in about 1.6 times their size.
pub struct Matcher {
    matching: Matching,
    ids: HashSet<String>,
    corpus: Arc<dyn Corpus>,
    texts: OnceCell<Arc<TextIndex>>,
    /// Some of the documents that were matched by id.
    by_id: Mutex<IdSample>,
    checked: OnceCell<IdCheck>,
}

/// A document of a reply, as a document of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// The id of the document in the corpus. Without a match, a name that the corpus has not.
    pub id: String,
    /// How it was matched.
    pub how: How,
    /// Whether other documents of the corpus fit its text as well. The first of them in `trec_eval`'s order of ids was taken.
    pub is_ambiguous: bool,
}

/// How a document was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The corpus has its id.
    Id,
    /// The rule gave an id that the corpus has.
    Rule,
    /// A document of the corpus contains its text.
    Text,
    /// A document of the corpus contains enough of its shingles.
    Shingles,
    /// Not at all, and its text has fewer than 8 words, which no document equals.
    TooShort,
    /// Not at all.
    Unmatched,
}

/// Why the corpus could not be read for matching by text.
#[derive(Debug, Clone, Error)]
#[error("cannot read the texts of the corpus, which documents are compared with")]
pub struct MatchError {
    #[source]
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl Matcher {
    /// Matches to the documents with these ids. `corpus` is read once, if a text has to be matched.
    pub fn new(matching: Matching, ids: HashSet<String>, corpus: Arc<dyn Corpus>) -> Self {
        Self {
            matching,
            ids,
            corpus,
            texts: OnceCell::new(),
            by_id: Mutex::default(),
            checked: OnceCell::new(),
        }
    }

    /// Matches documents, each on its own.
    pub async fn documents(&self, documents: &[ReplyDocument]) -> Result<Vec<Matched>, MatchError> {
        let mut matched = Vec::with_capacity(documents.len());
        for (position, document) in documents.iter().enumerate() {
            matched.push(self.document(document, position).await?);
        }
        Ok(matched)
    }

    /// Matches an id alone, such as that of a citation; `None` if the corpus has no such document.
    pub fn id(&self, id: &str) -> Option<Matched> {
        let by = self.matching.by;
        if matches!(by, MatchBy::Auto | MatchBy::Id) && self.ids.contains(id) {
            return Some(Matched {
                id: id.to_owned(),
                how: How::Id,
                is_ambiguous: false,
            });
        }
        let rule = self.matching.rule.as_ref();
        let rule = rule.filter(|_| matches!(by, MatchBy::Auto | MatchBy::Rule))?;
        let found = rule
            .apply(id)
            .into_iter()
            .find(|it| self.ids.contains(*it))?;
        Some(Matched {
            id: found.to_owned(),
            how: How::Rule,
            is_ambiguous: false,
        })
    }

    /// Compares the texts of up to 200 documents that were matched by id with those of the corpus. It is done once; without such
    /// documents, and unless matching is [automatic](MatchBy::Auto), there is nothing to compare.
    pub async fn check_ids(&self) -> Result<IdCheck, MatchError> {
        // Nothing panics while the lock is held.
        let sample = self.by_id.lock();
        let sample = sample.unwrap_or_else(PoisonError::into_inner).clone();
        if sample.is_empty() {
            return Ok(IdCheck::default());
        }
        let threshold = self.matching.threshold;
        let check = self
            .checked
            .get_or_try_init(|| self.reading(move |corpus| sample.check(corpus, threshold)));
        check.await.copied()
    }

    async fn document(
        &self,
        document: &ReplyDocument,
        position: usize,
    ) -> Result<Matched, MatchError> {
        if let Some(matched) = document.id.as_deref().and_then(|id| self.id(id)) {
            if let Some(text) = &document.text
                && matched.how == How::Id
                && self.matching.by == MatchBy::Auto
            {
                let mut sample = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
                sample.add(&matched.id, text);
            }
            return Ok(matched);
        }
        let text = document
            .text
            .as_deref()
            .filter(|text| !text.trim().is_empty());
        let by_text = matches!(self.matching.by, MatchBy::Auto | MatchBy::Text);
        let compared = text.filter(|_| by_text);
        if let Some(text) = compared
            && let Some(found) = self.texts().await?.find(text, self.matching.threshold)
        {
            return Ok(Matched {
                id: found.id.to_owned(),
                how: if found.contained {
                    How::Text
                } else {
                    How::Shingles
                },
                is_ambiguous: found.ambiguous,
            });
        }
        let name = match (document.id.as_deref(), text) {
            (Some(id), _) => id.to_owned(),
            (None, Some(text)) => hex::encode(&Sha256::digest(text)[..8]),
            (None, None) => format!("position {}", position + 1),
        };
        Ok(Matched {
            id: self.unmatched(&name),
            how: if compared.is_some_and(is_short) {
                How::TooShort
            } else {
                How::Unmatched
            },
            is_ambiguous: false,
        })
    }

    /// A name that no document of the corpus has.
    fn unmatched(&self, name: &str) -> String {
        let mut id = format!("unmatched:{name}");
        while self.ids.contains(&id) {
            id.insert_str(0, "unmatched:");
        }
        id
    }

    /// The texts of the corpus.
    async fn texts(&self) -> Result<&TextIndex, MatchError> {
        let texts = self
            .texts
            .get_or_try_init(|| self.reading(|corpus| read(corpus).map(Arc::new)));
        texts.await.map(|texts| &**texts)
    }

    /// Reads the corpus on another thread, because that takes long, and this one serves the other questions.
    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Corpus) -> Result<T, CorpusError> + Send + 'static,
    ) -> Result<T, MatchError> {
        let corpus = Arc::clone(&self.corpus);
        let read = tokio::task::spawn_blocking(move || read(&*corpus)).await;
        let read = read.map_err(|error| CorpusError::from(error.to_string()));
        read.flatten().map_err(|error| MatchError {
            source: Arc::from(error),
        })
    }
}

fn read(corpus: &dyn Corpus) -> Result<TextIndex, CorpusError> {
    let mut texts = TextIndex::default();
    corpus.read(&mut |document| texts.add(&document))?;
    texts.finish();
    Ok(texts)
}

/// Without the corpus.
impl fmt::Debug for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Matcher")
            .field("matching", &self.matching)
            .field("ids", &self.ids.len())
            .finish_non_exhaustive()
    }
}
